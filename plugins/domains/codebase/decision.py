"""One decision, as the file has it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One decision. `rule` is empty where it settles no task; see decisions.yaml.

    beside : what it settles about another program; empty where it has a rule.
    weight : 0 where no task is governed by it or by what is above it.
    """

    number: int
    title: str
    author: str
    date: str
    weight: int
    text: str
    rule: str = ""
    said: str = ""
    beside: str = ""
    beside_said: str = ""
    replaces: int | None = None
    up: tuple[tuple[str, int], ...] = ()
