"""Questions on what changed in the last two steps of a regulation, and their gold by look-up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from framework.text.canonical import digest
from plugins.domains.regulation_updates.ledger import Entry, Ledger
from plugins.domains.regulation_updates.versions import Version, is_comment, parent_of, section_of

STEPS: Final = 2
"""The last steps that are asked about; what changed before them only distracts."""

NOT_IN_FORCE: Final = "not in force"

REPLIES: Final = {
    "text": f"Reply with the text alone, word for word, or with: {NOT_IN_FORCE}.",
    "change": "Reply with one word: added, amended, removed or unchanged.",
    "in_force": "Reply with yes or no.",
    "cites": "Reply with their citations alone, separated by semicolons.",
}
"""By kind of question, how it is to be answered."""

_QUOTED: Final = 12
"""Words of a quotation."""
_FEWEST: Final = 6
_MOST_CITING: Final = 8
"""Provisions that a question on citations may ask for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question and its gold.

    id : of the kind, the unit and the day asked about. step : the day of the change that it is on.
    needs : ids of the events that the answer follows from, in order of arrival.
    """

    id: str
    kind: str
    label: str
    day: str
    step: str
    text: str
    answer: str
    needs: tuple[str, ...]

    @property
    def section(self) -> str:
        return section_of(self.label)


def questions(ledger: Ledger, versions: dict[str, Version]) -> list[Question]:
    """All that the last steps give, in an order that mixes kinds and sections.

    versions : by the day from which they hold.
    """
    found = [
        question for day in ledger.days[-STEPS:] for question in _on_step(ledger, versions[day])
    ]
    return sorted(found, key=lambda question: digest(question.id))


def _on_step(ledger: Ledger, version: Version) -> Iterator[Question]:
    day = version.effective
    eve = (date.fromisoformat(day) - timedelta(days=1)).isoformat()
    changed = ledger.changed(day)
    for entry in changed:
        yield _change(ledger, entry, entry.change, day)
        yield from _in_force(ledger, entry, eve)
    same = _same(ledger, changed, day)
    for entry in same:
        yield _change(ledger, entry, "unchanged", day)
    # Of both, so that the day alone does not say whether a text is in force.
    for entry in (*changed, *same):
        for asked in (eve, day):
            yield _text(ledger, entry, asked, day)
    yield from _cites(ledger, changed, version)


def _text(ledger: Ledger, entry: Entry, day: str, step: str) -> Question:
    held = ledger.on(entry.label, day)
    return Question(
        id=f"text-{entry.label}-{day}",
        kind="text",
        label=entry.label,
        day=day,
        step=step,
        text=f"What is the text of {ledger.cited(entry.label)} that is in force on {day}?",
        answer=held.text if held and held.change != "removed" else NOT_IN_FORCE,
        # Before it was first said, what adds it later is what tells.
        needs=((held or entry).event,),
    )


def _change(ledger: Ledger, entry: Entry, answer: str, step: str) -> Question:
    return Question(
        id=f"change-{entry.label}-{step}",
        kind="change",
        label=entry.label,
        day=step,
        step=step,
        text=f"What became of {ledger.cited(entry.label)} on {step}?",
        answer=answer,
        needs=(entry.event,),
    )


def _in_force(ledger: Ledger, entry: Entry, eve: str) -> Iterator[Question]:
    """Whether a quotation is in force, the day before and the day of a change."""
    before = ledger.on(entry.label, eve)
    for said in filter(None, (before, entry)):
        quote = _quotation(ledger, said)
        for asked in (eve, entry.day) if quote else ():
            held = ledger.on(entry.label, asked)
            yield Question(
                id=f"in_force-{said.label}-{said.day}-{asked}",
                kind="in_force",
                label=said.label,
                day=asked,
                step=entry.day,
                text=f"Is this in force on {asked}: “{quote}”?",
                answer="yes" if held is said else "no",
                needs=tuple(dict.fromkeys(e.event for e in (said, held) if e)),
            )


def _quotation(ledger: Ledger, entry: Entry) -> str:
    """The first dozen words in a row that no other text holds; empty where there are none."""
    words = entry.text.split()
    if entry.change == "removed" or len(words) < _FEWEST:
        return ""
    for place in range(max(1, len(words) - _QUOTED + 1)):
        quote = " ".join(words[place : place + _QUOTED])
        holding = [e for one in ledger.entries.values() for e in one if quote in e.text]
        if holding == [entry]:
            return quote
    return ""


def _same(ledger: Ledger, changed: list[Entry], day: str) -> list[Entry]:
    """As many that did not change as did, rules and comments of the same sections apart."""
    kinds = [_kind(entry) for entry in changed]
    kept = sorted(ledger.unchanged(day), key=lambda entry: digest([entry.label, day]))
    found: list[Entry] = []
    for kind in dict.fromkeys(kinds):
        own = [entry for entry in kept if _kind(entry) == kind]
        found += own[: kinds.count(kind)]
    return found


def _kind(entry: Entry) -> tuple[str, bool]:
    return section_of(entry.label), is_comment(entry.label)


def _cites(ledger: Ledger, changed: list[Entry], version: Version) -> Iterator[Question]:
    """Who still refers, in older words, to what changed or to what it is a part of."""
    day = version.effective
    targets: list[str] = []
    for entry in changed:
        label = "" if is_comment(entry.label) else entry.label
        while label:
            targets.append(label)
            label = parent_of(label)
    for target in dict.fromkeys(targets):
        citing = [e for e in ledger.unchanged(day) if target in version.cites.get(e.label, ())]
        if not 0 < len(citing) <= _MOST_CITING:
            continue
        named = ledger.cited(target)
        yield Question(
            id=f"cites-{target}-{day}",
            kind="cites",
            label=target,
            day=day,
            step=day,
            text=(
                f"On {day}, {named} changed, or a part of it. Which provisions refer to {named} "
                "by itself on that day, in words that are older than the change?"
            ),
            answer="; ".join(ledger.cited(entry.label) for entry in citing),
            needs=tuple(entry.event for entry in citing),
        )
