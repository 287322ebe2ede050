"""Decisions of the Board, from the publisher's JSON: sentences with roles, and the whole text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from framework.text.canonical import digest
from plugins.domains.data_file import (
    BadRecordError,
    kind_of,
    list_in,
    read_questions,
    text_in,
)
from plugins.domains.veterans.order import Claim, decided

EVIDENCE: Final = "EvidenceSentence"
RULE: Final = "LegalRuleSentence"
FINDING: Final = "FindingSentence"

_OUTCOME: Final = re.compile(
    r"\b(?:service connection|claims?|appeal|benefits? sought|entitlement|reopening)\b"
    r"[^.;]{0,160}\b(?:is|are|was|were|be|been)\b[^.;]{0,40}"
    r"\b(?:granted|denied|warranted|established|remanded|dismissed|reopened)\b"
    r"|\bpreponderance of the\b[^.;]{0,40}\bevidence\b[^.;]{0,40}\b(?:is|weighs|was)\b"
    r"|\bbenefit[- ]of[- ]the[- ]doubt\b[^.;]{0,60}\b(?:not (?:for application|applicable)|applies)"
    r"|\bthe Board (?:finds|concludes|grants|denies)\b",
    re.IGNORECASE,
)
_OPEN: Final = re.compile(
    r"\b(?:if|when|where|whether|unless|until|may|in order|generally|contend\w*|assert\w*|"
    r"argu\w*|claims that|believe\w*|maintain\w*|alleg\w*|request\w*)\b",
    re.IGNORECASE,
)
"""What makes a sentence a rule or somebody's wish, and no statement of the outcome."""

_AT_HAND: Final = re.compile(
    r"\b(?:this|the (?:instant|present)) (?:case|claim|appeal)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence that stands in the record of its decision. `id` is opaque."""

    id: str
    text: str
    role: str

    @property
    def is_evidence(self) -> bool:
        return self.role == EVIDENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One decision: its claims, what the record holds, and what is held out.

    file : an opaque name of the claim file. sentences : evidence and rules, in order, each text
        once. held_out : of these, how many state the outcome. findings : in order.
    """

    id: str
    file: str
    date: str
    claims: tuple[Claim, ...]
    others: int
    sentences: tuple[Sentence, ...]
    findings: tuple[str, ...]
    held_out: int


def decisions_of(path: str, records: Sequence[Any]) -> list[Decision]:
    """The decisions in order. Raises DataError naming the records that can't be used."""
    return list(read_questions(path, records, "docID", _decision, "decision").values())


def states_outcome(text: str, role: str) -> bool:
    """Whether a sentence says what is decided, and not under a condition or as a wish.

    A legal rule says it in the abstract, unless it speaks of the case at hand.
    """
    if role == RULE and not _AT_HAND.search(text):
        return False
    return _OUTCOME.search(text) is not None and _OPEN.search(text) is None


def _decision(record: Mapping[str, Any]) -> Decision:
    name = _name(record)
    try:
        all_claims = decided(text_in(record, "text"))
    except ValueError as error:
        raise BadRecordError(f"text: {error}") from None
    kept: dict[str, Sentence] = {}
    findings: dict[str, None] = {}
    held_out = 0
    for number, one in enumerate(list_in(record, "sentences"), start=1):
        try:
            text, roles = _sentence(one)
        except BadRecordError as error:
            raise BadRecordError(f"sentence {number}: {error}") from None
        if FINDING in roles:
            findings[text] = None
        elif EVIDENCE in roles or RULE in roles:
            role = EVIDENCE if EVIDENCE in roles else RULE
            if states_outcome(text, role):
                held_out += 1
            elif text not in kept:
                kept[text] = Sentence(id=_opaque("s", name, str(number)), text=text, role=role)
    if not any(sentence.is_evidence for sentence in kept.values()):
        raise BadRecordError("sentences: none is evidence")
    return Decision(
        id=name,
        file=_opaque("f", name),
        date=_date(record.get("metadm")),
        claims=all_claims.claims,
        others=all_claims.others,
        sentences=tuple(kept.values()),
        findings=tuple(findings),
        held_out=held_out,
    )


def _name(record: Mapping[str, Any]) -> str:
    """The decision's number, which the publisher writes as a text or as a number."""
    value = record.get("docID")
    return str(value) if type(value) is int else text_in(record, "docID")


def _sentence(record: object) -> tuple[str, frozenset[str]]:
    if not isinstance(record, dict):
        raise BadRecordError(f"an object expected, {kind_of(record)} found")
    roles = list_in(record, "rhetRole", "a list of roles")
    if not roles or not all(isinstance(role, str) for role in roles):
        raise BadRecordError("rhetRole: a list of roles expected")
    return " ".join(text_in(record, "text").split()), frozenset(roles)


def _date(metadata: object) -> str:
    value = metadata.get("decisionDate") if isinstance(metadata, dict) else None
    try:
        return datetime.fromisoformat(str(value)).date().isoformat()
    except ValueError:
        found = kind_of(value)
        raise BadRecordError(f"metadm.decisionDate: a date expected, {found} found") from None


def _opaque(kind: str, *parts: str) -> str:
    return kind + digest(["veterans", *parts])[7:15]
