"""Markdown documents: header, title, summary, and the lines that tell what became of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from plugins.domains.corpus.assemble import read_yaml, values_of
from plugins.domains.data_file import BadRecordError

SUFFIXES: Final = (".md", ".markdown", ".mdx")
_MOST_HEADER: Final = 64_000
_HEADING: Final = re.compile(r"^(#{1,6})[ \t]+(\S.*)$", re.MULTILINE)
_SUMMARIES: Final = (
    "abstract", "summary", "simple summary", "context and problem statement", "context",
    "introduction", "overview", "motivation",
)  # fmt: skip
_FATE: Final = re.compile(
    r"(?:status|state)\s*:|(?:(?:status|state)\s*:?\s*)?"
    r"(?:super[sc]eded|replaced|obsoleted|deprecated|withdrawn|rejected)\b",
    re.IGNORECASE,
)
_MARKS: Final = " \t>*_-+!|[("


def header_of(text: str) -> tuple[dict[str, object], str] | None:
    """The YAML between `---` lines at the beginning, and what follows; None without such lines.

    Raises BadRecordError.
    """
    text = text.lstrip("\n")
    if not re.match(r"---[ \t]*\n", text):
        if text.startswith("+++\n"):
            raise BadRecordError("a TOML header (+++): YAML between --- lines is read")
        return None
    ended = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE).search(text, text.index("\n"))
    if ended is None:
        raise BadRecordError("its header has no end: a second line --- expected")
    header = text[text.index("\n") : ended.start()]
    if len(header) > _MOST_HEADER:
        raise BadRecordError(f"its header is longer than {_MOST_HEADER:,} characters")
    found = read_yaml(header)
    if not isinstance(found, dict):
        raise BadRecordError("its header is no mapping: `key: value` lines expected")
    return {str(key): value for key, value in found.items()}, text[ended.end() :]


def field_of(fields: Mapping[str, object], *keys: str) -> str:
    """The text of the first of these headers that is not empty, on one line; else empty."""
    named = {key.strip().casefold(): value for key, value in fields.items()}
    for key in keys:
        try:
            said = " ".join(", ".join(values_of(named.get(key))).split())
        except BadRecordError as error:
            raise BadRecordError(f"{key}: {error}") from None
        if said:
            return said
    return ""


def titled(body: str) -> tuple[str, str]:
    """The first heading where nothing comes before it, and the rest; the title may be empty."""
    body = body.strip()
    first = _HEADING.match(body)
    return (_bare(first[2]), body[first.end() :].strip()) if first else ("", body)


def sections_of(body: str) -> list[tuple[str, str]]:
    """Headings, each with the text up to the next; what comes before the first under ''."""
    found = list(_HEADING.finditer(body))
    starts = [("", 0), *((_bare(heading[2]), heading.end()) for heading in found)]
    ends = [*(heading.start() for heading in found), len(body)]
    return [
        (title, body[start:end].strip())
        for (title, start), end in zip(starts, ends, strict=True)
        if title or body[start:end].strip()
    ]


def summary_of(body: str) -> str:
    """The abstract, or the section that takes its place; else the first paragraph with words."""
    sections = [(title, text) for title, text in sections_of(body) if text]
    named = {title.casefold(): text for title, text in reversed(sections)}
    for wanted in _SUMMARIES:
        if wanted in named:
            return named[wanted]
    return sections[0][1].partition("\n\n")[0].strip() if sections else ""


def without_fate(text: str) -> str:
    """Without the lines that begin by telling its status, or what has replaced it.

    They were added when that was known, and would give away what a task asks for.
    """
    lines = (line for line in text.split("\n") if not _FATE.match(line.lstrip(_MARKS)))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _bare(heading: str) -> str:
    return heading.strip().rstrip("#").strip()
