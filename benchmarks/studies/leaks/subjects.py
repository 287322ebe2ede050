"""The domains that are looked at, each with its files and its table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from benchmarks.studies.leaks.airline_fees import fares
from benchmarks.studies.leaks.bank_support import support
from benchmarks.studies.leaks.measures import (
    Table,
)
from benchmarks.studies.leaks.precedents import precedents
from benchmarks.studies.leaks.questions import conversations, hops, sessions
from benchmarks.studies.leaks.regulation_updates import regulation
from benchmarks.studies.leaks.veterans import claims
from framework.contracts import Domain
from framework.records import Case
from framework.registry import find, settings_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A domain to look at. files : by setting, below the folder of all data. cases : None for all.

    others : its other settings. The seed draws the cases of a generated domain, and those alone.
    """

    look: Callable[[Domain[Any], Sequence[Case]], Table]
    files: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)
    cases: int | None = None
    seed: int = 0


def opened(name: str, data: Path) -> tuple[Domain[Any], list[Case]]:
    """A subject's domain and its cases."""
    plugin, subject = find("domain", name), SUBJECTS[name]
    paths = {key: str(data / file) for key, file in subject.files.items()}
    domain: Domain[Any] = plugin.cls(settings_of(plugin, {**paths, **subject.others}))
    return domain, list(domain.cases(subject.cases, subject.seed))


def table(name: str, data: Path) -> str:
    """What a subject gives away, as Markdown."""
    header, *rows = SUBJECTS[name].look(*opened(name, data))
    lines = (header, ("---",) * len(header), *rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


SUBJECTS: Final[Mapping[str, Subject]] = {
    "airline_fees": Subject(look=fares, files={"path": "rulearena/airline"}),
    "bank_support": Subject(
        look=support,
        files={
            "path": "tau2_banking/documents.json",
            "tasks": "tau2_banking/tasks.json",
            "database": "tau2_banking/db.json",
        },
    ),
    "hotpotqa": Subject(look=hops, files={"path": "hotpotqa/hotpotqa_train.json"}),
    "locomo": Subject(look=conversations, files={"path": "locomo/locomo_first5.json"}),
    "longmemeval": Subject(look=sessions, files={"path": "longmemeval/snapshot.json"}),
    "precedents": Subject(look=precedents, cases=400, seed=23),
    "regulation_updates": Subject(
        look=regulation, files={"path": "regulation_b/regulation_b_1002.tar.xz"}
    ),
    # Hidden, so that the name of its file does not say which evidence is a claim's own.
    "veterans": Subject(
        look=claims,
        files={"path": "vetclaims/decisions_50.json"},
        others={"claim_file": "hidden"},
    ),
}
