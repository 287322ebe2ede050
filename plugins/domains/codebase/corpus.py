"""The decisions, the tasks that they govern, and the history that holds them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

import yaml

from framework.records import Event
from framework.text.canonical import digest
from plugins.domains.codebase.decision import Decision
from plugins.domains.codebase.neighbours import SEED, with_neighbours

Forms = Literal["development", "held_out", "mixed"]

HERE: Final = Path(__file__).resolve().parent
PROJECT: Final = HERE / "data" / "project"
"""The service, its tests and the invariants: files for the sandbox, which nothing here imports."""
SERVICE: Final = "lending"
NOT_FOR_CHANGE: Final = ("test_", "samples")
"""How the names of the files begin that no task hands out: the service's own tests."""
TOOLBOX: Final = ("audit", "auth", "clock", "errors", "storage", "text")
"""Modules that are handed over with every task, so that what is handed over tells nothing."""

_STATED: Final = {
    "implements": "It implements decision {above}.",
    "derived_from": "It is derived from decision {above}.",
    "constrains": "It constrains decision {below}.",
}


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
    """Decisions and tasks, in one choice of wording, among `padding` decisions on other programs.

    They are kept by the numbers of the file; texts and ids have those of `shown`.
    """

    def __init__(self, forms: Forms, padding: int = 0) -> None:
        data = _data()
        own = {
            number: Decision(
                number=number, **{**given, "up": tuple(map(tuple, given.get("up", ())))}
            )
            for number, given in data["decisions"].items()
        }
        self.tasks = tuple(Task(**given) for given in data["tasks"])
        governing = sorted({task.rule for task in self.tasks})
        self.decisions = with_neighbours(own, governing, padding, _parts())
        by_date = sorted(self.decisions.values(), key=lambda d: (d.date, d.number))
        self.shown = {decision.number: at for at, decision in enumerate(by_date, start=1)}
        """The number in its header and in links: its place among all by date."""
        self.retired = frozenset(d.replaces for d in self.decisions.values() if d.replaces)
        others = [number for number in self.decisions if number not in governing]
        self._held_out = frozenset(
            number
            for numbers in (governing, others)
            for index, number in enumerate(numbers)
            if forms == "held_out" or (forms == "mixed" and index % 2)
        )

    def form(self, number: int) -> str:
        """In which words a rule is said: `development` or `held_out`. A retired one as its heir."""
        heirs = [d.number for d in self.decisions.values() if d.replaces == number]
        return "held_out" if {*(heirs or [number])} & self._held_out else "development"

    def id(self, number: int) -> str:
        """The event's id."""
        return f"decision-{self.shown[number]:03d}"

    def rule(self, number: int) -> str:
        """The sentence of what it settles, in the chosen words."""
        decision = self.decisions[number]
        if self.form(number) == "held_out":
            return decision.said or decision.beside_said
        return decision.rule or decision.beside

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
        sentence = _STATED[relation].format(above=self.shown[above], below=self.shown[below])
        return (above if relation == "constrains" else below), sentence

    def event(self, number: int) -> Event:
        """A decision as an event: header, what led to it, the rule, its links."""
        decision = self.decisions[number]
        sentences = [decision.text, self.rule(number)]
        edges: list[tuple[str, str]] = []
        if decision.replaces:
            sentences.append(f"It replaces decision {self.shown[decision.replaces]}.")
            edges.append(("supersedes", self.id(decision.replaces)))
        for relation, above in decision.up:
            if relation != "constrains":
                sentences.append(self.link(number, above)[1])
                edges.append((relation, self.id(above)))
        for below in self.decisions.values():
            if ("constrains", number) in below.up:
                sentences.append(self.link(below.number, number)[1])
                edges.append(("constrains", self.id(below.number)))
        shown = self.shown[number]
        header = f"{decision.date} | Decision {shown}: {decision.title} | {decision.author}"
        return Event(
            id=self.id(number),
            text=f"{header}\n{' '.join(filter(None, sentences))}",
            time=decision.date,
            kind="decision",
            edges=tuple(edges),
        )

    def history(self) -> Iterator[Event]:
        """All decisions by their dates."""
        yield from map(self.event, self.shown)

    def files(self, spec: Literal["full", "stripped"]) -> dict[str, str]:
        """The service's modules by path; with `full`, each rule as a comment above its targets."""
        found = dict(sources())
        if spec == "full":
            for task in self.tasks:
                found[task.file] = self._commented(found[task.file], task)
        return found

    def _commented(self, text: str, task: Task) -> str:
        comment = textwrap.fill(
            f"Decision {self.shown[task.rule]}: {self.rule(task.rule)}",
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
    """Digest of decisions, the service, and what tests it."""
    texts = {name: (HERE / name).read_text() for name in ("decisions.yaml", "neighbours.yaml")}
    return digest([texts, dict(sources()), dict(sources_of_tests()), SEED])


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
    loaded: Mapping[str, Any] = yaml.safe_load(
        (HERE / "neighbours.yaml").read_text(encoding="utf-8")
    )
    return loaded
