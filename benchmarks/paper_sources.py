"""The sweeps behind the papers' tables and figures: which each recipe takes, and their words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.papers import PAPERS, sweeps
from framework.registry import find
from plugins.recipes._contents import Entry, contents

_LEXICAL: Final = ("embedder=hashing",)
"""As the pages were measured: by what every install has. Arms by vectors are marked lexical."""
_LOANS: Final = ("-m", "domain=loan", "n_cases=100", "tracking=none", "report=false")
_SESSIONS: Final = ("-m", "domain=longmemeval_synthetic", "arch=bm25", "budget=moderate", "seed=11",
                    "n_cases=500", "reader=guarded", "extra_axes=[operators]", "tracking=none",
                    "report=false")  # fmt: skip
_OPERATORS: Final = (
    "count_entities_across_sessions", "select_current_fact_under_supersession",
    "verify_evidence_absence_before_abstention", "resolve_relative_time_against_session_date",
    "fallback_to_raw_span",
)  # fmt: skip
APART: Final[Mapping[str, Sequence[str]]] = {
    "loan": (*_LOANS, "budget=loose,moderate,tight",
             "arch=summ_only,retr_only_fifo,typed_routing,typed_routing_full,misrouted,sam,dpm"),
    "loan-commit": (*_LOANS, "budget=moderate", "arch=summ_only", "reader=commit"),
    "loan-verified": (*_LOANS, "budget=moderate", "arch=summ_only", "reader=verified",
                      "reader.strictness=strict,moderate,permissive"),
    "loops": ("-m", "+experiment=improve/paper", "tracking=none", "report=false"),
    "operators": (*_SESSIONS, "reader.operators=[]," + ",".join(f"[{o}]" for o in _OPERATORS)),
    "depth/paper_geometry-8": ("-m", "+experiment=depth/paper_geometry", *_LEXICAL, "report=false",
                               "seed=8"),
}  # fmt: skip
"""Sweeps that no experiment's name tells whole: by source, their words."""
TAKES: Final[Mapping[str, Sequence[str]]] = {
    "longhorizon/figure5": ("loan-commit", "loan-verified"),
    "longhorizon/table7": ("loan-commit", "loan-verified"),
    "longhorizon/table8": ("loan-commit", "loan-verified"),
    "longhorizon/": ("loan",),
    "regimes/operators": ("operators",),
    "regimes/sections": (),
    "regimes/": ("loops",),
    "depth/F087": ("depth/paper_geometry", "depth/paper_geometry-8"),
}
"""By the recipe's name, or how it begins, the sweeps that it takes where its words name none."""
_EXPERIMENT: Final = re.compile(r"`?\+experiment=(\S+?)((?: [\w.]+=\S+?)*)`?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What others published and the package does not carry, by path; None where it is not here.

    rows : LongHorizon's recorded rows. loops : the directory of Regimes' recorded loops.
    """

    rows: Path | None = None
    loops: Path | None = None
    hotpotqa: Path | None = None

    def of(self, recipe: str) -> Path | None:
        """What a recipe of recorded rows takes."""
        return {"longhorizon": self.rows, "regimes": self.loops}.get(recipe.partition("/")[0])


@dataclass(slots=True, kw_only=True)
class Source:
    """A sweep: its words, seconds of CPU of this call, and why it failed, "" where it did not.

    reported : whether an entry is a part of its report, which is then written.
    """

    words: Sequence[str]
    cpu: float = 0.0
    problem: str = ""
    reported: bool = False


def sources(given: Given) -> dict[str, Source]:
    """Every sweep that an entry of the papers rests on, by name."""
    found: dict[str, Source] = {}
    for entry in entries():
        for name in sources_of(entry):
            source = found.setdefault(name, Source(words=_words(name, given)))
            source.reported |= bool(entry.report and not entry.by)
    if given.hotpotqa is None:
        found.pop("hotpotqa", None)
    return dict(sorted(found.items()))


def entries() -> Iterator[Entry]:
    """Everything the papers have."""
    for paper in PAPERS:
        yield from contents(paper)


def recipes_of() -> list[str]:
    """The recipes that make something of the papers."""
    return list(dict.fromkeys(name for entry in entries() for name in entry.by))


def sources_of(entry: Entry) -> list[str]:
    """The names of the sweeps behind an entry: those of its recipes, or what it names itself."""
    names = [name for recipe in entry.by for name in takes(recipe)]
    if not entry.by:
        names += [name for sweep in sweeps(entry) for name in _names(sweep)]
    return list(dict.fromkeys(names))


def takes(recipe: str) -> list[str]:
    """The names of the sweeps that a recipe takes, the longest rule first."""
    for start in sorted(TAKES, key=len, reverse=True):
        if recipe.startswith(start):
            return list(TAKES[start])
    return _names(find("recipe", recipe).cls.needs)


def _names(words: str) -> list[str]:
    at = words.find("+experiment=")
    found = _EXPERIMENT.search(words[at:]) if at >= 0 else None
    if found is None:
        return []
    return ["hotpotqa"] if found[2] else [found[1]]


def _words(name: str, given: Given) -> Sequence[str]:
    if name in APART:
        return APART[name]
    if name == "hotpotqa":
        path = given.hotpotqa.absolute() if given.hotpotqa else "FILE"
        return ("-m", "+experiment=benchmarks", "domain=hotpotqa", f"domain.path={path}",
                "report=false")  # fmt: skip
    lexical = _LEXICAL if name.startswith("depth/") else ()
    return ("-m", f"+experiment={name}", *lexical, "tracking=none", "report=false")


def kinds_of(recipe: str) -> list[str]:
    """Of what a recipe makes a page: of the authors' rows, of sweeps here, of neither."""
    kinds = []
    if Given(rows=Path(), loops=Path()).of(recipe) and recipe != "regimes/operators":
        kinds.append("recorded")
    if takes(recipe):
        kinds.append("measured")
    elif not find("recipe", recipe).cls.needs:
        kinds.append("page")
    return kinds
