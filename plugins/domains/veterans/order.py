"""What a decision of the Board decides: its issues, and what ORDER and REMAND say of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

GRANT: Final = "GRANT"
DENY: Final = "DENY"
OTHER: Final = "REMAND_OR_MIXED"
"""Sent back, dismissed, or decided in parts that differ."""

_HEADING: Final = r"^[ \t]*{}[ \t]*$"
_ISSUES: Final = re.compile(_HEADING.format(r"(?:THE )?ISSUES?"), re.MULTILINE)
_AFTER_ISSUES: Final = re.compile(
    r"^[ \t]*(?:REPRESENTATION|WITNESS|ATTORNEY|INTRODUCTION|APPEARANCE|ORDER|FINDING)",
    re.MULTILINE,
)
_ORDER: Final = re.compile(_HEADING.format("ORDER"), re.MULTILINE)
_AFTER_ORDER: Final = re.compile(r"^[ \t]*(?:REMAND[ \t]*$|_{4,}|-{4,})", re.MULTILINE)
_NUMBERED: Final = re.compile(r"^[ \t]*\d+\.[ \t]+", re.MULTILINE)
_BLANK: Final = re.compile(r"\n\s*\n")
_SENTENCE: Final = re.compile(r"(?<=\.)\s+")

ABOUT: Final = re.compile(
    r"psychiatr|ptsd|post-?\s?traumatic|psycholog|depress|anxiety|mood|bipolar|mental",
    re.IGNORECASE,
)
"""Of which claims the annotated sentences are: the publisher classified those on PTSD."""

_SECONDARY: Final = re.compile(r",?\s*(?:to include )?as secondary to|claimed as secondary to")
_REOPENING: Final = re.compile(r"new and material evidence|\breopen", re.IGNORECASE)
_MERITS_TOO: Final = re.compile(r"if so|service connection is warranted", re.IGNORECASE)
_NO_CLAIM: Final = re.compile(
    r"clear and unmistakable|rating (?:in excess|higher|greater)|(?:disability )?rating\b"
    r"|evaluation",
    re.IGNORECASE,
)
_STEP: Final = re.compile(r"\breopen\w*\b[^.;]*?\bgranted|\breopened", re.IGNORECASE)
"""Reopening: a step before the claim, and no decision on it."""
_VERBS: Final = (
    (GRANT, re.compile(r"\bgranted\b", re.IGNORECASE)),
    (DENY, re.compile(r"\bdenied\b", re.IGNORECASE)),
    (OTHER, re.compile(r"\bremanded\b|\bdismissed\b", re.IGNORECASE)),
)
_REMANDED: Final = re.compile(r"\bREMANDED\b")
_WORD: Final = re.compile(r"[a-z]+")
_SMALL: Final = frozenset(
    re.findall(
        "[a-z]+",
        "a an and as by claim claims connection disorder disability entitlement for include "
        "including in is issue issues of on or other service stress than the to whether with",
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One claim as it was brought: its words under THE ISSUE, and what became of it."""

    text: str
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """The claims of a decision that its annotated sentences are about.

    others : issues that they are not about, reopening alone and ratings among them.
    """

    claims: tuple[Claim, ...]
    others: int


def decided(text: str) -> Decided:
    """What a decision decides of the claims that are annotated. Raises ValueError.

    A claim is granted or denied where all that ORDER says of it is that; where it says both, sends
    part of it back or dismisses it, it is `REMAND_OR_MIXED`. Where two issues are annotated, a
    paragraph is of the one that it shares the greater part of its words with.
    """
    text = text.replace("\r", "")
    issues = _issues(text)
    about = [issue for issue in issues if ABOUT.search(_SECONDARY.split(issue)[0])]
    if not about:
        raise ValueError("no issue on a psychiatric disability under THE ISSUE")
    paragraphs = _order(text)
    if not paragraphs:
        raise ValueError("no section ORDER")
    said: dict[str, set[str]] = {issue: set() for issue in about}
    named = [p for p in paragraphs if ABOUT.search(_SECONDARY.split(p)[0])] or paragraphs
    for paragraph in named:
        said[_nearest(paragraph, about)] |= _outcomes(paragraph)
    for sentence in _SENTENCE.split(" ".join(text.split())):
        if _REMANDED.search(sentence) and ABOUT.search(sentence):
            said[_nearest(sentence, about)].add(OTHER)
    claims = []
    for issue, outcomes in said.items():
        if _is_claim(issue) and outcomes:
            outcome = next(iter(outcomes)) if len(outcomes) == 1 else OTHER
            claims.append(Claim(text=issue, outcome=outcome))
    if not claims:
        raise ValueError("neither ORDER nor a remand decides a claim for service connection")
    return Decided(claims=tuple(claims), others=len(issues) - len(claims))


def _issues(text: str) -> list[str]:
    start = _ISSUES.search(text)
    if start is None:
        return []
    end = _AFTER_ISSUES.search(text, start.end())
    body = text[start.end() : end.start() if end else len(text)]
    parts = (" ".join(part.split()) for part in _NUMBERED.split(body))
    return list(dict.fromkeys(part for part in parts if part))


def _order(text: str) -> list[str]:
    found = list(_ORDER.finditer(text))
    if not found:
        return []
    start = found[-1].end()
    end = _AFTER_ORDER.search(text, start)
    parts = (" ".join(p.split()) for p in _BLANK.split(text[start : end.start() if end else None]))
    return [part for part in parts if any(verb.search(part) for _, verb in _VERBS)]


def _outcomes(paragraph: str) -> set[str]:
    merits = _STEP.sub("", paragraph)
    return {outcome for outcome, verb in _VERBS if verb.search(merits)}


def _is_claim(issue: str) -> bool:
    """Whether an issue asks for service connection: no rating, error, or reopening alone."""
    if _NO_CLAIM.search(issue):
        return False
    return not _REOPENING.search(issue) or _MERITS_TOO.search(issue) is not None


def _nearest(text: str, issues: Sequence[str]) -> str:
    """The issue that shares the greatest part of its and the text's words (Jaccard)."""
    given = _words(text)

    def shared(issue: str) -> float:
        own = _words(issue)
        return len(given & own) / (len(given | own) or 1)

    return max(issues, key=shared)


def _words(text: str) -> frozenset[str]:
    plain = re.sub(r"post-?\s?traumatic stress disorder(?: \(ptsd\))?", "ptsd", text.casefold())
    plain = re.sub(r"psychological|psychiatric", "psychiatric", plain)
    found = _WORD.findall(re.sub(r"(?:granted|denied|remanded|dismissed)\b.*", "", plain))
    return frozenset(found) - _SMALL
