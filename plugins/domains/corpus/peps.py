"""Python Enhancement Proposals as a decision corpus.

Edges come from the headers alone: `Replaces` and `Superseded-By` give `supersedes`, `Requires`
gives `requires`. Headers, and the banners that say what became of a document, are then left out:
they would give away what a task asks for.
"""

from __future__ import annotations

import lzma
import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

from framework.contracts.importer import Importer
from framework.errors import DataError
from framework.registry import register
from plugins.domains.corpus.schema import Corpus, Edge, Node, write_corpus

_NAME: Final = re.compile(r"pep-(\d{4})\.rst")
_FIELD: Final = re.compile(r"^([A-Z][A-Za-z-]*):[ \t]*(.*(?:\n[ \t]+.*)*)", re.MULTILINE)
_NUMBER: Final = re.compile(r"\d+")
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
    (re.compile(r":[a-z:+-]+:`~?([^`<]+?)\s*(?:<[^`>]*>)?`"), r"\1"),
    (re.compile(r"``([^`]*)``"), r"\1"),
    (re.compile(r"`([^`<]+?)\s*(?:<[^`>]*>)?`__?"), r"\1"),
    (re.compile(r"^\.\. _[^\n]*\n", re.MULTILINE), ""),
    (re.compile(r"\[#?[\w-]+\]_"), ""),
)


@register("importer", "peps")
class Peps(Importer):
    """Python Enhancement Proposals (github.com/python/peps) as a decision corpus.

    From a directory or tar archive of pep-NNNN.rst files to JSON lines.
    """

    def write(self, path: Path, target: Path, revision: str) -> str:
        corpus = convert_peps(path, revision)
        write_corpus(corpus, target)
        counts = Counter(edge.relation for edge in corpus.edges)
        edges = ", ".join(f"{n} {relation}" for relation, n in sorted(counts.items()))
        return f"{len(corpus.nodes)} documents, {edges}"


def convert_peps(path: Path, revision: str = "") -> Corpus:
    """The PEPs below a directory, or in a tar archive, of `pep-NNNN.rst` files.

    revision : of the repository they come from, for the record.

    Raises DataError when there are none, one has no usable header, or a header names a PEP that is
    not there.
    """
    nodes: dict[str, Node] = {}
    edges: dict[Edge, None] = {}
    for name, text in sorted(_files(path)):
        node, its = _document(name, text, path)
        nodes[node.id] = node
        edges.update(dict.fromkeys(its))
    if not nodes:
        raise DataError(path, None, "no pep-NNNN.rst files")
    for edge in edges:
        for end in (edge.source, edge.target):
            if end not in nodes:
                raise DataError(
                    path, None, f"{edge.source} {edge.relation} {edge.target}: no document {end}"
                )
    return Corpus(
        name="peps",
        source="https://github.com/python/peps",
        revision=revision or "not stated",
        licence="public domain, CC0-1.0 or Open Publication, as each document's end states",
        citation="Python Enhancement Proposals, https://peps.python.org",
        nodes=nodes,
        edges=tuple(sorted(edges, key=lambda e: (e.relation, e.source, e.target))),
    )


def _files(path: Path) -> Iterator[tuple[str, str]]:
    """File name and text of every PEP; a directory may hold the archive instead."""
    if path.is_dir():
        found = [file for file in sorted(path.rglob("pep-*.rst")) if _NAME.fullmatch(file.name)]
        for file in found:
            yield file.name, file.read_text(encoding="utf-8")
        archives = [] if found else sorted(path.glob("*.tar*"))
    elif path.exists():
        archives = [path]
    else:
        raise DataError(path, None, "no such file or directory")
    for archive in archives:
        try:
            with tarfile.open(archive) as tar:
                for member in tar:
                    name = Path(member.name).name
                    content = tar.extractfile(member) if _NAME.fullmatch(name) else None
                    if content is not None:
                        yield name, content.read().decode("utf-8")
        except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
            raise DataError(archive, None, f"no tar archive: {error}") from None


def _document(name: str, text: str, path: Path) -> tuple[Node, list[Edge]]:
    """A document without its header, and the edges that its header states."""
    header, _, body = text.replace("\r\n", "\n").lstrip("\n").partition("\n\n")
    fields = {key: " ".join(value.split()) for key, value in _FIELD.findall(header)}
    missing = [key for key in ("PEP", "Title", "Status", "Type", "Created") if not fields.get(key)]
    if missing:
        raise DataError(path / name, None, f"the header lacks {missing[0]}")
    try:
        created = datetime.strptime(fields["Created"], "%d-%b-%Y").date().isoformat()
    except ValueError:
        raise DataError(path / name, None, f"Created: {fields['Created']!r} is no date") from None
    me = _id(fields["PEP"])
    edges = [
        *(Edge(source=me, relation="supersedes", target=old) for old in _ids(fields, "Replaces")),
        *(Edge(source=new, relation="supersedes", target=me)
          for new in _ids(fields, "Superseded-By")),
        *(Edge(source=me, relation="requires", target=other) for other in _ids(fields, "Requires")),
    ]  # fmt: skip
    body = _OVERLINE.sub("", _BANNER.sub("", body + "\n"))
    node = Node(
        id=me,
        title=fields["Title"],
        text=_plain(body) or fields["Title"],
        date=created,
        summary=_summary(body),
        kind=fields["Type"].lower().replace(" ", "_"),
        status=fields["Status"].lower(),
    )
    return node, edges


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
