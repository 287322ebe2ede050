"""Architecture decision records as a decision corpus."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from framework.contracts.importer import Importer
from framework.errors import DataError
from framework.registry import register
from plugins.domains.corpus.assemble import (
    MEANINGS,
    Described,
    Document,
    Link,
    assemble,
    described,
    links_in,
    links_of,
    names_of,
    words,
    written,
)
from plugins.domains.corpus.front_matter import READ, node_of
from plugins.domains.corpus.markdown import (
    SUFFIXES,
    field_of,
    header_of,
    sections_of,
    titled,
    without_fate,
)
from plugins.domains.corpus.schema import Corpus
from plugins.domains.corpus.sources import text_files
from plugins.domains.data_file import Faults

_NAME: Final = re.compile(r"(?:adr)?[-_ ]?(\d{1,6})\b.*", re.IGNORECASE)
_NUMBERED: Final = re.compile(r"(?:adr[- #]*)?\d{1,6}\s*[.:)\-–—]\s*(\S.*)", re.IGNORECASE)
_SAID: Final = re.compile(r"(status|date|decided|created)\b[*_\s]*:[*_\s]*(\S.*)", re.IGNORECASE)
_PHRASE: Final = re.compile(
    rf"({'|'.join(sorted((re.escape(p) for p in MEANINGS), key=len, reverse=True))})\b(.*)",
    re.IGNORECASE,
)
_MARKS: Final = " \t>*_-+[("
_LINKING: Final = frozenset({"status", "links", "related decisions", "related", "relations"})


@register("importer", "adr")
class Adr(Importer):
    """Architecture decision records (Nygard's form of adr-tools, or MADR), header optional.

    From a folder or tar archive of files that begin with a number (0007-use-a-queue.md). Edges
    come from the header, the sections Status and Links, and lines such as `Superseded by ...`.
    """

    def write(self, path: Path, target: Path, revision: str) -> str:
        about = described(path, revision)
        return written(convert_adr(path, about), target, about)


def convert_adr(path: Path, about: Described) -> Corpus:
    """The records below `path`. Raises DataError with the first ten of all faults."""
    faults = Faults(path)
    documents = list(_documents(path, about, faults))
    faults.check()
    if not documents:
        raise DataError(path, None, "no records: files such as 0007-use-a-queue.md expected")
    return assemble(documents, about, path, faults)


def _documents(path: Path, about: Described, faults: Faults) -> Iterator[Document]:
    for place, text in text_files(path, SUFFIXES, faults):
        numbered = _NAME.fullmatch(PurePosixPath(place).stem)
        if numbered is None:
            about.no_document += 1
            continue
        with faults.of(place):
            fields, body = header_of(text) or ({}, text)
            links = list(links_in(fields, about, READ))
            heading, rest = titled(body)
            status = field_of(fields, "status")
            links += _links(status)
            kept: list[str] = []
            for title, section in sections_of(rest):
                lines = section.split("\n")
                if words(title) in _LINKING:
                    status = status or (lines[0].strip() if words(title) == "status" else "")
                    links += (link for line in lines for link in _links(line))
                    continue
                own = [line for line in lines if not _told(line, fields, links)]
                shown = "\n".join(own).strip()
                kept += [f"## {title}\n\n{shown}" if title else shown] if shown else []
            own_title = field_of(fields, "title") or heading
            named = _NUMBERED.fullmatch(own_title)
            fields = {**fields, "title": named[1] if named else own_title, "status": status
                      or field_of(fields, "status")}  # fmt: skip
            number = f"adr-{int(numbered[1])}"
            node = node_of(place, fields, "", name=number, text=without_fate("\n\n".join(kept)))
            names = (*names_of(place), number, numbered[1], node.title, own_title)
            yield Document(place=place, node=node, names=names, links=tuple(links))


def _told(line: str, fields: dict[str, object], links: list[Link]) -> bool:
    """Whether a line is a header in another form: its value is then among fields or links."""
    said = _SAID.match(line.lstrip(_MARKS))
    if said:
        fields.setdefault(said[1].casefold(), said[2].strip().rstrip("*_"))
        links += _links(said[2]) if said[1].casefold() == "status" else []
        return True
    found = list(_links(line)) if "](" in line else []
    links += found
    return bool(found)


def _links(line: str) -> Iterator[Link]:
    """The links of a line that begins with what they mean, as `Superseded by [9](0009-x.md)`."""
    for part in re.split(r"(?<=\))[,;.]?\s+(?=[A-Za-z])|\s*,\s*(?=super)", line):
        found = _PHRASE.match(part.lstrip(_MARKS))
        if found:
            rest = found[2].lstrip(" \t:])*_")
            yield from links_of(rest.rstrip("*_. "), MEANINGS[words(found[1])])
