"""Candidates and the stack of those that are installed: immutable, ordered, named by content."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from framework.contracts import Patch, Query
from framework.contracts.improve import Seam
from framework.pipeline.seams import Seams
from framework.records import Item
from framework.text.canonical import CanonicalError, digest
from framework.text.reading import read_json
from plugins.protocols.improve import code, operators, seams

MAX_TEXT = 20_000
"""Characters of a draft that are read at all."""


class Rejected(Exception):
    """The static gate refuses a draft; the message says why.

    candidate : what was refused, where the draft was a candidate at all.
    """

    def __init__(self, reason: str, candidate: Candidate | None = None) -> None:
        super().__init__(reason)
        self.candidate = candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One edit at one seam. Two of the same content are one."""

    seam: Seam
    payload: Mapping[str, Any]
    why: str = ""

    @property
    def digest(self) -> str:
        """Of seam and payload; the author's words on it do not count."""
        return digest({"seam": self.seam, "payload": self.payload})

    @property
    def code(self) -> str | None:
        """Its source, where it is code."""
        return self.payload.get("code")

    @property
    def added(self) -> int:
        """Characters that it adds to the reader's prompt."""
        if self.seam != "reader_prompt":
            return 0
        return sum(map(len, self.payload["fragments"].values()))

    def plain(self) -> dict[str, Any]:
        """As an event holds it."""
        return {"candidate": self.digest, "seam": self.seam, "payload": dict(self.payload)}


def library_digest(library: Iterable[Patch]) -> str:
    """Of what the patches of a library are, in their order; the notes on them do not count."""
    return digest([[patch.id, patch.seam, patch.payload] for patch in library])


def read_candidate(
    text: str | None,
    allowed: Sequence[Seam],
    fragments: Mapping[str, str],
    *,
    takes_code: bool = False,
    installs: Sequence[str] = (),
) -> Candidate:
    """The candidate that a draft is. Raises Rejected for a draft that is none.

    takes_code : whether `{"code": SOURCE}` may stand for a seam's payload (see `code`).
    installs : the operators that may be installed (see `operators`).
    """
    if not text or not text.strip():
        raise Rejected("empty")
    if len(text) > MAX_TEXT:
        raise Rejected(f"{len(text)} characters, at most {MAX_TEXT} are read")
    start, end = text.find("{"), text.rfind("}")
    try:
        data = read_json(text[start : end + 1])
        json.dumps(data, ensure_ascii=False).encode()  # half of a surrogate pair is no text
    except ValueError:
        raise Rejected("not one JSON object") from None
    if not isinstance(data, dict):
        raise Rejected("not one JSON object")
    seam, why = data.pop("seam", None), data.pop("why", "")
    if seam not in allowed:
        raise Rejected(f"seam: one of {', '.join(allowed)} expected")
    try:
        if takes_code and set(data) == {"code"}:
            code.check_code(seam, data["code"])
        elif seam == operators.SEAM:
            operators.check_operator(data, installs)
        else:
            seams.check_payload(seam, data, tuple(fragments))
        candidate = Candidate(seam=seam, payload=data, why=why if isinstance(why, str) else "")
        _ = candidate.digest
    except (ValueError, CanonicalError, RecursionError) as error:
        raise Rejected(str(error)[:300]) from None
    return candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """What is installed, oldest first. Every change makes another stack."""

    entries: tuple[Candidate, ...] = ()

    @property
    def digest(self) -> str:
        """Of the entries' digests in their order."""
        return digest([entry.digest for entry in self.entries])

    @property
    def added(self) -> int:
        """Characters that all entries add to the reader's prompt."""
        return sum(entry.added for entry in self.entries)

    def plus(self, candidate: Candidate) -> Stack:
        """This stack with one more entry on top."""
        return Stack(entries=(*self.entries, candidate))

    def without(self, candidate: Candidate) -> Stack:
        """This stack without that one entry; all others stay, in their order."""
        return Stack(entries=tuple(e for e in self.entries if e.digest != candidate.digest))

    def holds(self, candidate: Candidate) -> bool:
        """Whether the candidate is installed."""
        return any(entry.digest == candidate.digest for entry in self.entries)

    def fragments(self, base: Mapping[str, str]) -> dict[str, str]:
        """The reader's fragments with everything added."""
        texts = dict(base)
        for entry in self.entries:
            if entry.seam == "reader_prompt":
                for name, added in entry.payload["fragments"].items():
                    texts[name] = f"{texts[name]}\n{added}".strip()
        return texts

    def seams(self, base: Mapping[str, str]) -> Seams:
        """What the pipeline is to be edited with."""
        return Seams(
            score=_chain([_edit(e) for e in self.entries if e.seam == "score"]),
            assembly=_chain([_edit(e) for e in self.entries if e.seam == "assembly"]),
            reader_prompt={n: text for n, text in self.fragments(base).items() if text},
            answer=operators.installed(
                [e.payload for e in self.entries if e.seam == operators.SEAM]
            ),
        )

    def plain(self) -> list[dict[str, Any]]:
        """As an event holds it."""
        return [entry.plain() for entry in self.entries]


def _edit(candidate: Candidate) -> seams.Edit:
    """What an edit of the score or the assembly does to items."""
    if candidate.code is not None:
        return code.CODE[candidate.seam](candidate.code)
    if candidate.seam == "score":
        return seams.score(candidate.payload["expression"])
    return seams.assembly(candidate.payload["rules"])


def _chain(edits: Sequence[seams.Edit]) -> seams.Edit | None:
    if not edits:
        return None

    def edit(query: Query, items: Sequence[Item]) -> Sequence[Item]:
        for each in edits:
            items = each(query, items)
        return items

    return edit
