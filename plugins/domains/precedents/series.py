"""One series: who builds on whom, what each ruling fixes, which one is corrected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Annotated, Final, Literal

from framework.bounds import Bounded, at_least
from framework.records import Event
from framework.text.canonical import digest
from plugins.domains.governance.content import Planned
from plugins.domains.governance.lexicon import SCALE, Lexicon, Setting

COMPONENTS: Final = 4
"""Components that every record names; those that no task is about are there all the same."""
FARTHEST: Final = 2
"""Most links between the record that a component is built under and the one that governs it."""
_DEEPEST: Final = 6
"""Most records on a path that a component is built under."""
_FIRST: Final = 3
"""Tasks at the beginning that are built under standing records; the ruling of one is corrected."""
_STANDING: Final = 0.25
"""Chance of a later task to be so too, where the ruling that is corrected does not govern it."""


@dataclass(frozen=True)
class PrecedentsSettings(Bounded):
    """The form of a series.

    length : cases in a series; the correction comes in after the first half of them. records :
    standing records, there before the series begins. between : records of others that come in with
    every case, and govern none. labels : settings that the records of one
    series are about. forms : wording of what a reader must understand, by series: `development`,
    `held_out`, or (`mixed`) either.
    """

    length: Annotated[int, at_least(10, most=60)] = 20
    records: Annotated[int, at_least(10)] = 60
    between: Annotated[int, at_least(0)] = 4
    labels: Annotated[int, at_least(10, most=24)] = 12
    forms: Literal["mixed", "development", "held_out"] = "mixed"

    @property
    def half(self) -> int:
        """Cases before the correction."""
        return self.length // 2


@dataclass(slots=True, kw_only=True)
class Record:
    """A record of others, a ruling of the series, or the correction of one.

    number : its place in order of arrival. parent : the record that it is derived from. components
    : built under it. applied : what the component that it was made for was set to. replaces : the
    ruling that it takes the place of.
    """

    number: int
    name: str
    setting: Setting
    value: int
    area: str
    parent: int | None = None
    replaces: int | None = None
    components: list[str]
    applied: tuple[str, Setting, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A change plan to decide.

    path : records from the one that the component is built under to the one that governs. ruling :
    the record that its decision leaves behind. corrected : whether what governs was replaced
    before. area : of its ticket.
    """

    place: int
    component: str
    path: tuple[int, ...]
    ruling: int
    governing: int
    corrected: bool
    plan: tuple[Planned, ...]
    area: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A record in words: its event, and by what it states, the sentence that does.

    said : `component:ID` for each component built under it, `constraint`, `link` where it is
    derived from another, `replaces` where it takes the place of one.
    """

    event: Event
    said: dict[str, str]


class Series:
    """A series as a whole: a function of settings, seed and number.

    records : in order of arrival, the standing ones first. tasks : in order. wrong : number of the
    ruling that is corrected; correction : of the record that does. texts : records as written, by
    number, kept for the cases that follow.
    """

    def __init__(
        self, settings: PrecedentsSettings, words: Lexicon, seed: int, number: int
    ) -> None:
        self.settings = settings
        self.words = words
        self.seed, self.number = seed, number
        self.held_out = settings.forms == "held_out" or (
            settings.forms == "mixed" and self.stream("form").random() < 0.5
        )
        rng = self._rng = self.stream("layout")
        many = settings.records + settings.length * (1 + settings.between) + 1
        self._names = iter(rng.sample(range(words.names), many))
        self._pool = rng.sample(tuple(words.settings.values()), settings.labels)
        self._taken: set[str] = set()
        self._children: dict[int, list[str]] = {}
        self.records: list[Record] = []
        self.tasks: list[Task] = []
        self.texts: dict[int, Written] = {}
        self._rulings: list[int] = []
        self._others: list[int] = []
        self._there: list[int] = []
        self._add_others(settings.records)
        self._first = rng.randrange(_FIRST)
        self.wrong = self.correction = -1
        self._decide(self._thread())
        self._name_components()

    def stream(self, *of: object) -> Random:
        """Random numbers of their own for one purpose."""
        told = digest(["precedents", self.settings, self.seed, self.number, *map(str, of)])
        return Random(int(told[7:23], 16))

    def before(self, place: int) -> Sequence[Record]:
        """The records that are there when the task at this place is decided."""
        return self.records[: self._there[place]]

    def left_by(self, place: int) -> Sequence[Record]:
        """What comes in with this task: its ruling, others, and the correction after the half."""
        return self.records[self._there[place] : self._there[place + 1]]

    def above(self, number: int) -> Iterator[int]:
        """The record and all that it is derived from, nearest first."""
        at: int | None = number
        while at is not None:
            yield at
            at = self.records[at].parent

    def _add_others(self, many: int) -> None:
        for _ in range(many):
            rng, parent = self._rng, None
            if self._others and rng.random() < 0.6:
                parent = rng.choice(self._others)
            if parent is not None and len(list(self.above(parent))) > FARTHEST:
                parent = None
            record = self._add(
                self._free(parent), self._any(), rng.choice(self.words.areas), parent
            )
            record.applied = (self._component(), rng.choice(self._pool), self._any())
            self._others.append(record.number)

    def _thread(self) -> set[int]:
        """Places of the tasks that the ruling to be corrected governs, about half of all."""
        half, length = self.settings.half, self.settings.length
        before = self._rng.sample(range(_FIRST, half), max(2, (half - _FIRST) // 2))
        after = self._rng.sample(range(half, length), (length - half) // 2)
        return {*before, *after}

    def _decide(self, thread: set[int]) -> None:
        for place in range(self.settings.length):
            if place == self.settings.half:
                self._correct()
            self._there.append(len(self.records))
            parent, governing = self._under(place, place in thread)
            governed = self.records[governing]
            corrected = governing == self.wrong and place >= self.settings.half
            head = self.correction if corrected else governing
            component = self._component()
            self._children.setdefault(parent, []).append(component)
            path = tuple(self.above(parent))
            asked, kept, open_ = self._rng.sample(self._unfixed(parent), 3)
            value = self._any()
            right = self.records[head].value
            plan = [
                Planned(setting=asked, value=str(value), asked=True),
                Planned(setting=kept, value=str(self._any()), asked=True),
                Planned(setting=open_, value=str(self._any()), asked=False),
                Planned(setting=governed.setting, value=str(self._any(but=right)), asked=False),
            ]
            self._rng.shuffle(plan)
            area = self.records[parent].area
            earlier = self._rng.randint(0, self.settings.between)
            self._add_others(earlier)
            ruling = self._add(asked, value, area, parent)
            ruling.applied = (component, governed.setting, right)
            self._rulings.append(ruling.number)
            if place == self._first:
                self.wrong = ruling.number
            self._add_others(self.settings.between - earlier)
            self.tasks.append(
                Task(
                    place=place,
                    component=component,
                    path=path[: path.index(governing) + 1],
                    ruling=ruling.number,
                    governing=head,
                    corrected=corrected,
                    plan=tuple(plan),
                    area=area,
                )
            )
        self._there.append(len(self.records))

    def _under(self, place: int, in_thread: bool) -> tuple[int, int]:
        """The record that the next component is built under, and the one that governs it."""
        standing = self.settings.records
        while True:
            if in_thread:
                parent = self._rng.choice(self._rulings)
            elif place < _FIRST or self._rng.random() < _STANDING:
                parent = self._rng.randrange(standing)
            else:
                parent = self._rng.choice(self._rulings)
            near = list(self.above(parent))
            if len(self._children.get(parent, ())) == COMPONENTS or len(near) > _DEEPEST:
                continue
            near = [n for n in near[: FARTHEST + 1] if (n == self.wrong) == in_thread]
            if near:
                return parent, self._rng.choice(near)

    def _correct(self) -> None:
        wrong = self.records[self.wrong]
        value = self._any(but=wrong.value)
        record = self._add(wrong.setting, value, wrong.area, None)
        self.correction = record.number
        record.replaces = wrong.number
        record.applied = (self._component(), self._rng.choice(self._pool), self._any())

    def _add(self, setting: Setting, value: int, area: str, parent: int | None) -> Record:
        record = Record(
            number=len(self.records),
            name=self.words.name(next(self._names)),
            setting=setting,
            value=value,
            area=area,
            parent=parent,
            components=[],
        )
        self.records.append(record)
        return record

    def _name_components(self) -> None:
        for record in self.records:
            record.components = self._children.get(record.number, [])
            more = COMPONENTS - len(record.components)
            record.components += [self._component() for _ in range(more)]
            self._rng.shuffle(record.components)

    def _unfixed(self, parent: int | None) -> list[Setting]:
        """Settings that no record from here up fixes: on one path each is fixed once."""
        fixed = set() if parent is None else {self.records[n].setting for n in self.above(parent)}
        return [setting for setting in self._pool if setting not in fixed]

    def _free(self, parent: int | None) -> Setting:
        return self._rng.choice(self._unfixed(parent))

    def _any(self, but: int | None = None) -> int:
        return self._rng.choice([value for value in SCALE if value != but])

    def _component(self) -> str:
        while True:
            found = f"cx-{self._rng.randrange(16**5):05x}"
            if found not in self._taken:
                self._taken.add(found)
                return found
