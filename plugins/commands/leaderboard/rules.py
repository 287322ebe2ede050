"""What a board asks for: `board.yaml`, and the cases that it stands for, drawn once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from framework.analysis.axes import axis_meta
from framework.config import Plan
from framework.engine.compose import compose_plan, composer
from framework.engine.domains import one_domain
from framework.engine.prepare import check, data_of
from framework.errors import UserError
from framework.pipeline.path import Pipeline
from framework.records import Case
from framework.registry import instance_of, nearest
from framework.text.canonical import digest
from framework.text.reading import read_yaml

RULES: Final = "board.yaml"
FREE: Final = frozenset({"arch", "embedder", "extractor"})
"""Parts that are a submitter's own."""
_OURS: Final = ("arch=none", "gate.baseline=null", "tracking=none")


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRules:
    """A board's rules, as its file says them.

    run : overrides that every submitted run is made with: domain, budget, reader, judge.
    seeds : of the cases; each submitted arm needs a run of each. private_seeds : the page shows
        their digest alone, which `digest` can be checked against when they are published.
    n_cases : of each seed. k : answers to each case. axis : the accuracy, a share.
    any_model : whether the model is a submitter's choice too. salt : drawn at random by whoever
        keeps the seeds private, so that they can't be guessed from the digest.
    submitters : public keys by name; who is named must sign with that key, others are refused.
        Empty: anyone, and the page says so.
    """

    title: str
    run: tuple[str, ...]
    seeds: tuple[int, ...]
    n_cases: int
    axis: str
    k: int = 1
    any_model: bool = False
    private_seeds: bool = False
    salt: str = ""
    submitters: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise UserError(f"{RULES}: seeds: at least one, each once")
        if self.n_cases < 1 or self.k < 1:
            raise UserError(f"{RULES}: n_cases and k are at least 1")
        if self.private_seeds and len(self.salt) < 16:
            raise UserError(f"{RULES}: private seeds need a salt of 16 characters or more")

    @property
    def shown_seeds(self) -> str:
        """The seeds, or what stands for them until they are published."""
        if not self.private_seeds:
            return ", ".join(map(str, self.seeds))
        return f"{len(self.seeds)} private, {digest([self.salt, list(self.seeds)])}"

    @property
    def free(self) -> frozenset[str]:
        """The parts that are a submitter's own."""
        return FREE | {"model"} if self.any_model else FREE


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """What a run of one seed must be of: the board's own plan and path, its data and cases.

    number : of the seed in the board's list, from 1. renamed : by id, what a case is called on the
        board where an earlier seed gives its id to another case.
    """

    number: int
    plan: Plan
    pipeline: Pipeline
    data: Mapping[str, Any]
    cases: tuple[Case, ...]
    renamed: Mapping[str, str]

    def place(self, case_id: str) -> str:
        """What a case is called where its id would tell the seed."""
        at = next(at for at, case in enumerate(self.cases, start=1) if case.id == case_id)
        return f"case {at} of seed number {self.number}"


def read_rules(folder: Path) -> BoardRules:
    """The rules of a board's folder. Raises UserError for a missing or wrong file."""
    path = folder / RULES
    try:
        found = read_yaml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{folder} is not a board: it has no {RULES}") from None
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UserError(f"{path}: {str(error).splitlines()[0]}") from None
    if not isinstance(found, dict):
        raise UserError(f"{path}: a mapping expected")
    return instance_of(BoardRules, found, f"{path}: {{}}", "key")


def draw(rules: BoardRules) -> dict[int, Drawn]:
    """The board's plan, path and cases by seed. Raises UserError for rules that can't be run.

    A judge that is a language model can't be asked again for every bundle, so it is refused.
    """
    found = {}
    known: dict[str, list[Case]] = defaultdict(list)
    with composer(), one_domain():
        for number, seed in enumerate(rules.seeds, start=1):
            own = (f"n_cases={rules.n_cases}", f"seed={seed}", f"repeats={rules.k}")
            plan = compose_plan([*rules.run, *own, *_OURS])
            prepared = check(plan)
            pipeline = prepared.pipeline
            if pipeline.judge is not None and pipeline.judge.model is not None:
                raise UserError(
                    f"{RULES}: judge={plan.label('judge')} asks a model; choose another"
                )
            if not plan.parts["protocol"].plugin.cls.answers or pipeline.reader.searches:
                raise UserError(f"{RULES}: a protocol that answers once, from one view, is needed")
            _check_axis(rules.axis, [name for axis in pipeline.axes for name in axis.names])
            cases = tuple(prepared.cases)
            found[seed] = Drawn(
                number=number,
                plan=plan,
                pipeline=pipeline,
                data=data_of(pipeline.domain),
                cases=cases,
                renamed=renamed(cases, known),
            )
    return found


def _check_axis(axis: str, measured: Sequence[str]) -> None:
    """Raise UserError for an axis that the runs don't have, or that is no share with a better end.

    A failed case has the worst value, and an amount has none.
    """
    meta = axis_meta()
    allowed = [name for name in measured if not _unfit(meta[name])]
    if axis not in measured:
        raise UserError(f"{RULES}: axis: the runs have no {axis!r}{nearest(axis, allowed)}")
    if unfit := _unfit(meta[axis]):
        raise UserError(
            f"{RULES}: axis: {axis!r} {unfit}; allowed: {', '.join(sorted(allowed)) or 'none'}"
        )


def _unfit(meta: Mapping[str, Any]) -> str:
    """Why arms can't be ranked by an axis; empty where they can."""
    if meta["amount"]:
        return "is an amount, not a share from 0 to 1"
    if meta["signed"]:
        return "is a difference, not a share from 0 to 1"
    return "has no better direction" if meta["higher_is_better"] is None else ""


def renamed(cases: Sequence[Case], known: dict[str, list[Case]]) -> dict[str, str]:
    """By id, another name for each case whose id an earlier seed gives to another case.

    known : by id, the different cases of the seeds before, to which these are added. A case that
    several seeds draw is one: a domain may ignore the seed, or draw from a common stock.
    """
    found = {}
    for case in cases:
        same_id = known[case.id]
        if case not in same_id:
            same_id.append(case)
        if at := same_id.index(case):
            found[case.id] = f"{case.id} (content {at + 1})"
    return found
