"""Python Enhancement Proposals as a decision corpus.

Edges come from the headers alone: `Replaces` and `Superseded-By` give `supersedes`, `Requires`
gives `requires`. Headers, and the banners that say what became of a document, are then left out:
they would give away what a task asks for.
"""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Final

from framework.contracts.importer import Importer
from framework.errors import DataError
from framework.registry import register
from plugins.domains.corpus.assemble import Described, Document, Link, assemble, written
from plugins.domains.corpus.schema import Corpus, Node
from plugins.domains.corpus.sources import text_files
from plugins.domains.data_file import BadRecordError, Faults

_NAME: Final = re.compile(r"pep-(\d{4})\.rst")
_FIELD: Final = re.compile(r"^([A-Z][A-Za-z-]*):[ \t]*(.*(?:\n[ \t]+.*)*)", re.MULTILINE)
_NUMBER: Final = re.compile(r"\d{1,9}")
_LINKS: Final = (
    ("Replaces", "supersedes", False),
    ("Superseded-By", "supersedes", True),
    ("Requires", "requires", False),
)
_BANNER: Final = re.compile(
    r"^\.\. (?:superseded|withdrawn|rejected|canonical-[a-z-]+|highlight)::.*\n"
    r"(?:[ \t]+.*\n|[ \t]*\n)*",
    re.MULTILINE,
)
_HEADING: Final = re.compile(r"^(\S.*)\n([=\-~#*^\"'+:`])\2{2,}[ \t]*$", re.MULTILINE)
_OVERLINE: Final = re.compile(
    r"^([=\-~#*^\"'+:`])\1{2,}[ \t]*\n(?=\S.*\n\1{3,}[ \t]*$)", re.MULTILINE
)
_NOTICE: Final = re.compile(
    r"\b(?:notice|note|withdrawal|rejection|deferral|status|update|warning\w*|copyright)\b",
    re.IGNORECASE,
)
_SUMMARIES: Final = ("abstract", "introduction", "overview", "motivation", "rationale")
_MARKUP: Final = (
    (re.compile(r":pep:`[^`<]*<(\d+)[^`>]*>`|:pep:`(\d+)[^`]*`"), r"PEP \1\2"),
    (re.compile(r":[a-z:+-]{1,40}:`~?([^`<]*[^`<\s])\s*(?:<[^`>]*>)?`"), r"\1"),
    (re.compile(r"``([^`]*)``"), r"\1"),
    (re.compile(r"`([^`<]*[^`<\s])\s*(?:<[^`>]*>)?`__?"), r"\1"),
    (re.compile(r"^\.\. _[^\n]*\n", re.MULTILINE), ""),
    (re.compile(r"\[#?[\w-]+\]_"), ""),
)


@register("importer", "peps")
class Peps(Importer):
    """Python Enhancement Proposals (github.com/python/peps) as a decision corpus.

    From a directory or tar archive of pep-NNNN.rst files to JSON lines.
    """

    def write(self, path: Path, target: Path, revision: str) -> str:
        return written(convert_peps(path, revision), target)


def convert_peps(path: Path, revision: str = "") -> Corpus:
    """The PEPs below a directory, or in a tar archive, of `pep-NNNN.rst` files.

    revision : of the repository they come from, for the record.

    Raises DataError with the first ten faults: there are no such files, one has no usable header,
    or a header names a PEP that is not there.
    """
    about = Described(
        name="peps",
        source="https://github.com/python/peps",
        revision=revision or "not stated",
        licence="public domain, CC0-1.0 or Open Publication, as each document's end states",
        citation="Python Enhancement Proposals, https://peps.python.org",
    )
    faults = Faults(path)
    documents = []
    for place, text in text_files(path, (".rst",), faults):
        if _NAME.fullmatch(PurePosixPath(place).name):
            with faults.of(place):
                documents.append(_document(place, text))
    faults.check()
    if not documents:
        raise DataError(path, None, "no pep-NNNN.rst files")
    return assemble(documents, about, path, faults)


def _document(place: str, text: str) -> Document:
    """A document without its header, and the links that its header states."""
    header, _, body = text.lstrip("\n").partition("\n\n")
    fields = {key: " ".join(value.split()) for key, value in _FIELD.findall(header)}
    missing = [key for key in ("PEP", "Title", "Status", "Type", "Created") if not fields.get(key)]
    if missing:
        raise BadRecordError(f"the header lacks {missing[0]}")
    if not _NUMBER.fullmatch(fields["PEP"]):
        raise BadRecordError(f"PEP: {fields['PEP'][:40]!r} is no number")
    try:
        created = datetime.strptime(fields["Created"], "%d-%b-%Y").date().isoformat()
    except ValueError:
        raise BadRecordError(f"Created: {fields['Created'][:40]!r} is no date") from None
    links = [
        Link(relation=relation, other=other, inverse=inverse)
        for key, relation, inverse in _LINKS
        for other in _ids(fields, key)
    ]
    body = _OVERLINE.sub("", _BANNER.sub("", body + "\n"))
    node = Node(
        id=_id(fields["PEP"]),
        title=fields["Title"],
        text=_plain(body) or fields["Title"],
        date=created,
        summary=_summary(body),
        kind=fields["Type"].lower().replace(" ", "_"),
        status=fields["Status"].lower(),
    )
    return Document(place=place, node=node, links=links)


def _id(number: str) -> str:
    return f"pep-{int(number)}"


def _ids(fields: dict[str, str], key: str) -> list[str]:
    return [_id(number) for number in _NUMBER.findall(fields.get(key, ""))]


def _summary(body: str) -> str:
    """The abstract; without one, the first section that introduces, or the first that is no notice.

    Notices are added when a document's fate is known, and tell it. Of a document without sections
    it is the first paragraph.
    """
    headings = list(_HEADING.finditer(body))
    if not headings:
        return _plain(body).partition("\n")[0]
    ends = [heading.start() for heading in headings[1:]] + [len(body)]
    sections = [
        (heading[1].strip().casefold(), _plain(body[heading.end() : end]))
        for heading, end in zip(headings, ends, strict=True)
    ]
    filled = [(title, text) for title, text in sections if text]
    for wanted in _SUMMARIES:
        for title, text in filled:
            if title == wanted:
                return text
    return next((text for title, text in filled if not _NOTICE.search(title)), "")


def _plain(text: str) -> str:
    """Text without the markup that names other documents in an own way; paragraphs on one line."""
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    paragraphs = (" ".join(part.split()) for part in re.split(r"\n[ \t]*\n", text))
    return "\n".join(part for part in paragraphs if part)
