"""Markdown files with a YAML header as a decision corpus."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from framework.contracts.importer import Importer
from framework.errors import DataError
from framework.registry import register
from plugins.domains.corpus.assemble import (
    Described,
    Document,
    assemble,
    dated,
    described,
    links_in,
    names_of,
    written,
)
from plugins.domains.corpus.markdown import (
    SUFFIXES,
    field_of,
    header_of,
    summary_of,
    titled,
    without_fate,
)
from plugins.domains.corpus.schema import Corpus, Node
from plugins.domains.corpus.sources import text_files
from plugins.domains.data_file import BadRecordError, Faults

DATES: Final = ("date", "created", "created at", "created_at", "published", "decided")
_SUMMARIES: Final = ("summary", "abstract", "description")
_KINDS: Final = ("type", "kind", "category")
READ: Final = ("id", "title", "status", *DATES, *_SUMMARIES, *_KINDS)


@register("importer", "front_matter")
class FrontMatter(Importer):
    """Markdown files with a YAML header between `---` lines, from a folder or tar archive.

    Headers: `title` (or the first heading), `date` or `created`, `summary`, `status`, `id` (else
    the file's name), and links such as `supersedes`, `superseded_by`, `requires`, `relates_to`.
    """

    def write(self, path: Path, target: Path, revision: str) -> str:
        about = described(path, revision)
        return written(convert_front_matter(path, about), target, about)


def convert_front_matter(path: Path, about: Described) -> Corpus:
    """The corpus below `path`. Raises DataError with the first ten of all faults."""
    faults = Faults(path)
    corpus = assemble(list(_documents(path, about, faults)), about, path, faults)
    return corpus


def node_of(
    place: str, fields: dict[str, object], body: str, *, name: str = "", text: str | None = None
) -> Node:
    """A document from its header and what follows. Raises BadRecordError.

    name : its id where the header gives none; else the file's name.
    """
    date = field_of(fields, *DATES)
    if not date:
        raise BadRecordError(f"no date: one of {', '.join(DATES[:3])} expected in its header")
    heading, rest = titled(body)
    title = field_of(fields, "title") or heading or PurePosixPath(place).stem
    plain = without_fate(rest) if text is None else text
    said = field_of(fields, "id") or name or PurePosixPath(place).stem
    return Node(
        id=re.sub(r"[\s#]+", "-", said),
        title=title,
        text=plain or title,
        date=dated(date),
        summary=field_of(fields, *_SUMMARIES) or summary_of(plain),
        kind=re.sub(r"\W+", "_", field_of(fields, *_KINDS).casefold()).strip("_") or "decision",
        status=field_of(fields, "status").casefold(),
    )


def _documents(path: Path, about: Described, faults: Faults) -> Iterator[Document]:
    found = 0
    for place, text in text_files(path, SUFFIXES, faults):
        found += 1
        with faults.of(place):
            split = header_of(text)
            if split is None:
                about.no_document += 1
                continue
            fields, body = split
            node = node_of(place, fields, body)
            yield Document(
                place=place,
                node=node,
                names=(*names_of(place), node.title),
                links=tuple(links_in(fields, about, READ)),
            )
    faults.check()
    if not found or found == about.no_document:
        held = f"{found} Markdown files, none with a header" if found else "no Markdown files"
        raise DataError(path, None, f"{held}: YAML between two lines --- expected at their start")
