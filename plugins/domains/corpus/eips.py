"""Ethereum Improvement Proposals as a decision corpus."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from framework.contracts.importer import Importer
from framework.errors import DataError
from framework.registry import register
from plugins.domains.corpus.assemble import Described, Document, Link, assemble, written
from plugins.domains.corpus.front_matter import node_of
from plugins.domains.corpus.markdown import SUFFIXES, summary_of, without_fate
from plugins.domains.corpus.schema import Corpus
from plugins.domains.corpus.sources import text_files
from plugins.domains.data_file import BadRecordError, Faults

_NAME: Final = re.compile(r"(?:eip|erc)-?\d+\.(?:md|markdown|mdx)", re.IGNORECASE)
_FIELD: Final = re.compile(r"^([A-Za-z][A-Za-z-]*):[ \t]*(.*)$", re.MULTILINE)
_NUMBER: Final = re.compile(r"\d{1,9}")
_LINKS: Final = (
    ("requires", "requires", False),
    ("replaces", "supersedes", False),
    ("superseded-by", "supersedes", True),
)


@register("importer", "eips")
class Eips(Importer):
    """Ethereum Improvement Proposals (github.com/ethereum/EIPs) as a decision corpus.

    From a folder or tar archive of eip-N.md or erc-N.md files. Edges come from the headers
    `requires`, `replaces` and `superseded-by`; the summary is the abstract.
    """

    def write(self, path: Path, target: Path, revision: str) -> str:
        return written(convert_eips(path, revision), target)


def convert_eips(path: Path, revision: str = "") -> Corpus:
    """The EIPs below `path`. Raises DataError with the first ten of all faults."""
    about = Described(
        name="eips",
        source="https://github.com/ethereum/EIPs",
        revision=revision or "not stated",
        licence="CC0-1.0, as each document's end states",
        citation="Ethereum Improvement Proposals, https://eips.ethereum.org",
    )
    faults = Faults(path)
    documents = list(_documents(path, faults))
    faults.check()
    if not documents:
        raise DataError(path, None, "no eip-N.md files")
    return assemble(documents, about, path, faults)


def _documents(path: Path, faults: Faults) -> Iterator[Document]:
    for place, text in text_files(path, SUFFIXES, faults):
        if not _NAME.fullmatch(PurePosixPath(place).name):
            continue
        with faults.of(place):
            opened = re.match(r"\s*---[ \t]*\n(.*?)^---[ \t]*$", text, re.DOTALL | re.MULTILINE)
            if opened is None:
                raise BadRecordError("no header between two lines ---")
            # Not read as YAML: titles with a colon stand there unquoted.
            fields: dict[str, object] = {
                key.casefold(): value.strip() for key, value in _FIELD.findall(opened[1])
            }
            for key in ("eip", "title", "status", "type", "created"):
                if not fields.get(key):
                    raise BadRecordError(f"the header lacks {key}")
            number = str(fields["eip"])
            if not _NUMBER.fullmatch(number):
                raise BadRecordError(f"eip: {number[:40]!r} is no number")
            body = without_fate(text[opened.end() :])
            # The one line of `description` is shorter than the abstract, which a task asks with.
            own = {key: value for key, value in fields.items() if key != "description"}
            node = node_of(place, own, body, name=_id(number), text=body)
            if not summary_of(body) and fields.get("description"):
                node = node_of(place, fields, body, name=_id(number), text=body)
            yield Document(place=place, node=node, links=tuple(_links(fields)))


def _links(fields: dict[str, object]) -> Iterator[Link]:
    for key, relation, inverse in _LINKS:
        for number in _NUMBER.findall(str(fields.get(key, ""))):
            yield Link(relation=relation, other=_id(number), inverse=inverse)


def _id(number: str) -> str:
    return f"eip-{int(number)}"
