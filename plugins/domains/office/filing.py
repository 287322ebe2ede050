"""What a document is filed under, and the gold that says whose it is."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, count
from pathlib import Path
from random import Random
from typing import Any, Final

from framework.records import Event, Gold, GoldItem, Span
from framework.retention import closure
from framework.text.reading import read_yaml
from plugins.domains.regulated.rendering import Draft

FILE: Final = Path(__file__).with_name("handles.yaml")
SHEET: Final = "names"
"""Id of the gold item that says what a file is called."""
_FILED: Final = "Filed under:"
_HEAD: Final = "filed:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What handles.yaml holds."""

    cast: Mapping[str, Mapping[str, str]]
    sheet: Mapping[str, Sequence[str]]
    instruction: str
    query: str


@cache
def wording() -> Wording:
    """The names of files, by spec, and what is said of them."""
    values: Mapping[str, Any] = read_yaml(FILE.read_text(encoding="utf-8"))
    return Wording(**values)


@dataclass(frozen=True, slots=True)
class Handles:
    """What a file is called. The number is its own; others may have its person or its place."""

    number: str
    person: str
    place: str

    @classmethod
    def of(cls, spec: str, cast: Mapping[str, str]) -> Handles:
        """The handles of a case with this cast."""
        keys = wording().cast[spec]
        return cls(cast[keys["number"]], cast[keys["person"]], cast[keys["place"]])

    def told_from(self, taken: Container[str]) -> Handles:
        """These handles with a number that is not taken: two files may draw the same one."""
        numbers = chain([self.number], (f"{self.number}-{n}" for n in count(2)))
        return replace(self, number=next(n for n in numbers if n not in taken))

    def sheet(self, form: str, rng: Random) -> str:
        """The sentence of the intake sheet."""
        said = rng.choice(wording().sheet[form])
        return said.format(number=self.number, person=self.person, place=self.place)

    def drawn(self, others: Iterable[Handles], aliases: float, rng: Random) -> str:
        """What a document is filed under.

        Person and place are as likely; what another file is called too is none of a file's names.
        """
        name = self.number
        if rng.random() < aliases:
            name = self.person if rng.random() < 0.5 else self.place
        return self.number if any(name in (o.person, o.place) for o in others) else name


@dataclass(frozen=True, slots=True, kw_only=True)
class Filed:
    """A document with what it is filed under."""

    draft: Draft
    under: str

    def numbered(self, numbers: Mapping[str, str]) -> Filed:
        """The document under the id that it has in the history, and so with its edges."""
        edges = [(relation, numbers[target]) for relation, target in self.draft.edges]
        return replace(self, draft=replace(self.draft, id=numbers[self.draft.id], edges=edges))

    @property
    def head(self) -> str:
        """The header line, and below it what the document is filed under."""
        header, *_ = self.draft.text.splitlines()
        return f"{header}\n{_FILED} {self.under}"

    def event(self) -> Event:
        """The document as it arrives."""
        event = self.draft.event()
        _, *body = event.text.splitlines()
        return replace(event, text="\n".join([self.head, *body]))


def with_files(gold: Gold, filed: Sequence[Filed], sheet: tuple[str, str]) -> Gold:
    """`gold` of a case, and what says whose its evidence is: heads and the intake sheet.

    sheet : the id of the intake sheet, and its sentence.
    """
    heads = {one.draft.id: one.head for one in filed}
    critical = {id for item in gold.items if item.critical for id in item.source_ids}
    sources = dict.fromkeys(id for item in gold.items for id in item.source_ids)
    own = [_passage(SHEET, *sheet, critical=True)]
    own += [_passage(_HEAD + id, id, heads[id], critical=id in critical) for id in sources]
    return replace(gold, items=(*gold.items, *own), evidence=(*gold.evidence, sheet[0]))


def renamed(gold: Gold, numbers: Mapping[str, str]) -> Gold:
    """`gold` with the ids that its events have in the history."""

    def of(ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(numbers[id] for id in ids)

    def spans(item: GoldItem) -> tuple[Span, ...]:
        return tuple(replace(span, source_id=numbers[span.source_id]) for span in item.spans)

    return replace(
        gold,
        items=tuple(replace(item, spans=spans(item)) for item in gold.items),
        evidence=of(gold.evidence),
        retired=tuple(replace(one, source_ids=of(one.source_ids)) for one in gold.retired),
        injected=gold.injected and (gold.injected[0], numbers[gold.injected[1]]),
    )


def attributed(gold: Gold, retained: frozenset[str], numbers: frozenset[str]) -> frozenset[str]:
    """The items that a view holds and whose documents it shows to be of the case's file.

    numbers : ids of the documents that are filed under the number, which the question names. Of
    what is filed under another name one must know from the intake sheet that it is the file's.
    """
    known = {
        id.removeprefix(_HEAD)
        for id in retained
        if id.startswith(_HEAD) and (SHEET in retained or id.removeprefix(_HEAD) in numbers)
    }
    items = [item for item in gold.items if item.id != SHEET and not item.id.startswith(_HEAD)]
    return closure(items, {i.id for i in items if i.id in retained and known & {*i.source_ids}})


def _passage(id_: str, source: str, text: str, *, critical: bool) -> GoldItem:
    span = Span(source_id=source, text=text)
    return GoldItem(id=id_, kind="passage", key=id_, spans=(span,), critical=critical)
