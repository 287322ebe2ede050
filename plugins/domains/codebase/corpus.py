"""The decisions, the tasks that they govern, and the history that holds them."""

from __future__ import annotations

import random
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

import yaml

from framework.records import Event
from framework.text.canonical import digest

Forms = Literal["development", "held_out", "mixed"]

HERE: Final = Path(__file__).resolve().parent
PROJECT: Final = HERE / "data" / "project"
"""The service, its tests and the invariants: files for the sandbox, which nothing here imports."""
SERVICE: Final = "lending"
NOT_FOR_CHANGE: Final = ("test_", "samples")
"""How the names of the files begin that no task hands out: the service's own tests."""
TOOLBOX: Final = ("audit", "auth", "clock", "errors", "storage", "text")
"""Modules that are handed over with every task, so that what is handed over tells nothing."""
CHATTER_SEED: Final = "codebase chatter 1"

_STATED: Final = {
    "implements": "It implements decision {above}.",
    "derived_from": "It is derived from decision {above}.",
    "constrains": "It constrains decision {below}.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One decision. `rule` is empty where it settles nothing by itself; see decisions.yaml."""

    number: int
    title: str
    author: str
    date: str
    weight: int
    text: str
    rule: str = ""
    said: str = ""
    replaces: int | None = None
    up: tuple[tuple[str, int], ...] = ()

    @property
    def id(self) -> str:
        """The event's id."""
        return f"decision-{self.number:02d}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task; see decisions.yaml. `target` is the `module.function` to be changed."""

    id: str
    rule: int
    depth: int
    entry: int
    target: str
    ticket: str

    @property
    def file(self) -> str:
        """The path of the target's module."""
        return f"{SERVICE}/{self.target.partition('.')[0]}.py"

    @property
    def function(self) -> str:
        """The target's name within its module."""
        return self.target.partition(".")[2]


class Corpus:
    """Decisions and tasks, in one choice of wording."""

    def __init__(self, forms: Forms) -> None:
        data = _data()
        self.decisions = {
            number: Decision(
                number=number, **{**given, "up": tuple(map(tuple, given.get("up", ())))}
            )
            for number, given in data["decisions"].items()
        }
        self.tasks = tuple(Task(**given) for given in data["tasks"])
        self.retired = frozenset(d.replaces for d in self.decisions.values() if d.replaces)
        governing = sorted({task.rule for task in self.tasks})
        self._held_out = frozenset(
            number
            for index, number in enumerate(governing)
            if forms == "held_out" or (forms == "mixed" and index % 2)
        )

    def form(self, number: int) -> str:
        """In which words a rule is said: `development` or `held_out`. A retired one as its heir."""
        heirs = [d.number for d in self.decisions.values() if d.replaces == number]
        return "held_out" if {number, *heirs} & self._held_out else "development"

    def rule(self, number: int) -> str:
        """The rule's sentence in the chosen words; empty where there is none."""
        decision = self.decisions[number]
        return decision.said if self.form(number) == "held_out" else decision.rule

    def chain(self, task: Task) -> tuple[int, ...]:
        """The decisions from the task's entry up to its rule, the shortest way; both included."""
        paths: list[tuple[int, ...]] = [(task.entry,)]
        while paths:
            for path in paths:
                if path[-1] == task.rule:
                    return path
            paths = [(*p, above) for p in paths for _, above in self.decisions[p[-1]].up]
        raise ValueError(f"{task.id}: no way from {task.entry} to {task.rule}")

    def link(self, below: int, above: int) -> tuple[int, str]:
        """The decision that states a link, and the sentence."""
        (relation,) = [r for r, number in self.decisions[below].up if number == above]
        sentence = _STATED[relation].format(above=above, below=below)
        return (above if relation == "constrains" else below), sentence

    def event(self, number: int) -> Event:
        """A decision as an event: header, what led to it, the rule, its links."""
        decision = self.decisions[number]
        sentences = [decision.text, self.rule(number)]
        edges: list[tuple[str, str]] = []
        if decision.replaces:
            sentences.append(f"It replaces decision {decision.replaces}.")
            edges.append(("supersedes", self.decisions[decision.replaces].id))
        for relation, above in decision.up:
            if relation != "constrains":
                sentences.append(self.link(number, above)[1])
                edges.append((relation, self.decisions[above].id))
        for below in self.decisions.values():
            if ("constrains", number) in below.up:
                sentences.append(self.link(below.number, number)[1])
                edges.append(("constrains", below.id))
        header = f"{decision.date} | Decision {number}: {decision.title} | {decision.author}"
        return Event(
            id=decision.id,
            text=f"{header}\n{' '.join(filter(None, sentences))}",
            time=decision.date,
            kind="decision",
            metadata={"weight": str(decision.weight)},
            edges=tuple(edges),
        )

    def history(self, padding: int) -> Iterator[Event]:
        """All decisions, and `padding` events of other talk, by their dates."""
        events = [self.event(number) for number in self.decisions]
        events += _chatter(padding, events[0].time, events[-1].time)
        yield from sorted(events, key=lambda event: (event.time, event.id))

    def files(self, spec: Literal["full", "stripped"]) -> dict[str, str]:
        """The service's modules by path; with `full`, each rule as a comment above its targets."""
        found = dict(sources())
        if spec == "full":
            for task in self.tasks:
                found[task.file] = self._commented(found[task.file], task)
        return found

    def _commented(self, text: str, task: Task) -> str:
        comment = textwrap.fill(
            f"Decision {task.rule}: {self.rule(task.rule)}",
            width=98,
            initial_indent="# ",
            subsequent_indent="# ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        head = f"\ndef {task.function}("
        assert text.count(head) == 1, task.target
        return text.replace(head, f"\n{comment}{head}")


@lru_cache(maxsize=1)
def sources() -> Mapping[str, str]:
    """The text of the service's modules by path, its tests left out."""
    return {path: text for path, text in _all_sources().items() if not _is_test(path)}


@lru_cache(maxsize=1)
def sources_of_tests() -> Mapping[str, str]:
    """The text of what tests the service: its own tests, the invariants, and what runs them."""
    own = {path: text for path, text in _all_sources().items() if _is_test(path)}
    ours = ("__init__.py", "invariants.py", "running.py")
    return own | {name: (PROJECT / name).read_text(encoding="utf-8") for name in ours}


def data_digest() -> str:
    """Digest of decisions, talk, the service, and what tests it."""
    texts = {name: (HERE / name).read_text() for name in ("decisions.yaml", "chatter.yaml")}
    return digest([texts, dict(sources()), dict(sources_of_tests()), CHATTER_SEED])


@lru_cache(maxsize=1)
def _all_sources() -> Mapping[str, str]:
    folder = PROJECT / SERVICE
    return {
        f"{SERVICE}/{path.name}": path.read_text(encoding="utf-8")
        for path in sorted(folder.glob("*.py"))
    }


def _is_test(path: str) -> bool:
    return path.rpartition("/")[2].startswith(NOT_FOR_CHANGE)


@lru_cache(maxsize=1)
def _data() -> Mapping[str, Any]:
    text = (HERE / "decisions.yaml").read_text(encoding="utf-8")
    loaded: Mapping[str, Any] = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return loaded


@lru_cache(maxsize=1)
def _parts() -> Mapping[str, Any]:
    loaded: Mapping[str, Any] = yaml.safe_load((HERE / "chatter.yaml").read_text(encoding="utf-8"))
    return loaded


def _chatter(count: int, first: str, last: str) -> list[Event]:
    parts, rng = _parts(), random.Random(CHATTER_SEED)
    start = date.fromisoformat(first)
    days = (date.fromisoformat(last) - start).days
    events = []
    for index in range(count):
        kind = rng.choice(sorted(parts["kinds"]))
        time = (start + timedelta(days=rng.randrange(days))).isoformat()
        title, author = rng.choice(parts["titles"]), rng.choice(parts["authors"])
        body = " ".join(rng.choice(parts[p]) for p in ("openings", "middles", "endings"))
        events.append(
            Event(
                id=f"{kind}-{index + 1:04d}",
                text=f"{time} | {parts['kinds'][kind]}: {title} | {author}\n{body}",
                time=time,
                kind=kind,
            )
        )
    return events
