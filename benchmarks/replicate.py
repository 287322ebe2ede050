"""Run every sweep behind the papers' tables and figures, then every recipe; resumable, a night.

    make papers [ARGS="SOURCE ... --rows CSV --loops DIR --hotpotqa FILE --cases N"]

`plugins/recipes/PAPER/contents*.yaml` says which recipes make what; a recipe's own words, or the
table below, which sweeps it takes. Sweeps are in `runs/papers/SOURCE`, pages of recipes in
`runs/papers/pages`; an entry that is a part of every report links to its sweep's own. Answers of a
language model are those that are shipped. `runs/papers/README.md` has a line for each table, figure
and part of the papers: what made it, or why nothing did. What was cut off goes on; what failed is a
line there, and status 1.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks.language_model import RECORDED, replaying
from benchmarks.papers import PAPERS, sweeps
from framework.registry import find
from framework.reporting.markdown import put_between_markers
from plugins.recipes._contents import Entry, contents

ROOT: Final = Path(__file__).resolve().parent.parent
RUNS: Final = Path("runs") / "papers"
PAGES: Final = RUNS / "pages"
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
    "depth/paper_geometry-8": ("-m", "+experiment=depth/paper_geometry", "report=false", "seed=8"),
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


@dataclass(slots=True, kw_only=True)
class Made:
    """What became of a recipe: the page of each of its sources, or what was said instead."""

    pages: list[Path] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for and write the page. The status."""
    parser = argparse.ArgumentParser(prog="make papers", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="SOURCE", help="sweeps; all without one")
    parser.add_argument("--list", action="store_true", help="print the sweeps, and run nothing")
    parser.add_argument("--cases", type=int, help="of each sweep, for a quick test")
    parser.add_argument("--rows", type=Path, metavar="CSV", help="LongHorizon's recorded rows")
    parser.add_argument("--loops", type=Path, metavar="DIR", help="Regimes' recorded loops")
    parser.add_argument("--hotpotqa", type=Path, metavar="FILE", help="HotpotQA's published file")
    parser.add_argument("--into", metavar="PAGE#LIST", help="write the table of sweeps there too")
    args = parser.parse_args(arguments)
    given = Given(rows=args.rows, loops=args.loops, hotpotqa=args.hotpotqa)
    known = sources(given)
    if unknown := set(args.names) - known.keys():
        parser.error(f"no sweep {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if args.list:
        for name, source in known.items():
            print(f"{name:<24}", " ".join(source.words))
        return 0
    chosen = {name: known[name] for name in args.names or known}
    for name, source in chosen.items():
        run(name, source, args.cases)
    recipes = {name: made(name, chosen, given) for name in recipes_of()}
    write(chosen, recipes)
    if args.into:
        put_between_markers(args.into, table_of(chosen, recipes))
    failed = [name for name, source in chosen.items() if source.problem]
    failed += [name for name, found in recipes.items() if found.problems]
    print(f"{RUNS / 'README.md'}: {len(failed)} failed{': ' if failed else ''}{', '.join(failed)}")
    return int(bool(failed))


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
    return ("-m", f"+experiment={name}", "tracking=none", "report=false")


def run(name: str, source: Source, cases: int | None) -> None:
    """Run a sweep, or go on with it. What it took and why it failed goes into `source`."""
    directory = RUNS / name
    words = [f"resume={directory}"]
    if not directory.exists():
        fewer = [f"n_cases={cases}"] if cases else []
        kept = [word for word in source.words if not (cases and word.startswith("n_cases="))]
        words = [*kept, *fewer, f"hydra.sweep.dir={directory}"]
        if name == "language_model":
            words += replaying(Path(".cache") / "papers_language_model", RECORDED)
    print(f"{name}: {' '.join(words)}", flush=True)
    before = _children()
    source.problem = _said("run.py", *words)
    if source.reported and not source.problem:
        source.problem = _said("-m", "framework", "report", str(directory))
    source.cpu = _children() - before


def made(recipe: str, chosen: Mapping[str, Source], given: Given) -> Made:
    """The pages of a recipe: of recorded rows where they are given, and of its sweeps."""
    found = Made()
    recorded = given.of(recipe)
    if recorded is not None and recipe != "regimes/operators":
        _page(found, recipe, [recorded], "recorded")
    names = takes(recipe)
    if names and all(name in chosen and not chosen[name].problem for name in names):
        _page(found, recipe, [RUNS / name for name in names], "measured")
    elif not names and not find("recipe", recipe).cls.needs:
        _page(found, recipe, [], "page")
    return found


def _page(found: Made, recipe: str, taken: Sequence[Path], kind: str) -> None:
    place = PAGES / recipe / kind
    words = ("--recipe", recipe, *map(str, taken), "--to", str(place))
    if said := _said("-m", "framework", "report", *words):
        found.problems.append(f"{kind}: {said}")
    else:
        found.pages.append(place)


def _said(*words: str) -> str:
    """Run Python with these words: the last line of its complaint, "" where it has none."""
    done = subprocess.run(
        [sys.executable, *(str(ROOT / w) if w == "run.py" else w for w in words)],
        text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    if not done.returncode:
        return ""
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"status {done.returncode}"


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def write(chosen: Mapping[str, Source], recipes: Mapping[str, Made]) -> None:
    """Write the page: the sweeps, then every table, figure and part of the papers."""
    lines = ["# The papers, made again", "", table_of(chosen, recipes), ""]
    for paper in PAPERS:
        lines += [f"## {paper}", "", "|  | shows | made |", "| --- | --- | --- |"]
        lines += [
            f"| {_called(entry)} | {entry.what} | {_became(entry, chosen, recipes)} |"
            for entry in contents(paper)
        ]
        lines.append("")
    RUNS.mkdir(parents=True, exist_ok=True)
    (RUNS / "README.md").write_text("\n".join(lines), encoding="utf-8")


def _called(entry: Entry) -> str:
    return entry.number if entry.kind == "parts" else f"{entry.kind[:-1]} {entry.number}"


def _became(entry: Entry, chosen: Mapping[str, Source], recipes: Mapping[str, Made]) -> str:
    words = []
    for name in entry.by:
        for page in recipes[name].pages:
            words.append(f"[{name}, {page.name}]({page.relative_to(RUNS)}/report.md)")
        words += [f"**{name}, {problem}**" for problem in recipes[name].problems]
    if not entry.by:
        words += [
            f"[{name}]({name}{'/report.md' if entry.report else ''})"
            for name in sources_of(entry)
            if name in chosen and not chosen[name].problem
        ]
    if words:
        return ", ".join(words)
    missing = [name for name in sources_of(entry) if name not in chosen or chosen[name].problem]
    missing += [find("recipe", name).cls.needs for name in entry.by if not takes(name)]
    missing += [entry.of] if entry.of and not sources_of(entry) else []
    if missing:
        return f"not made; it needs {', '.join(missing)}"
    return f"{entry.status}: {entry.why}" if entry.why else entry.status


def table_of(chosen: Mapping[str, Source], recipes: Mapping[str, Made]) -> str:
    """The sweeps: runs, cases, CPU of this call, and how many recipes were made of each."""
    lines = ["| sweep | runs | cases of a run | CPU, minutes | recipes made |",
             "| --- | --- | --- | --- | --- |"]  # fmt: skip
    for name, source in chosen.items():
        runs = sorted((RUNS / name).glob("**/summary.json"))
        sizes = sorted({json.loads(path.read_text())["run"]["n_cases"] for path in runs})
        of = [recipe for recipe in recipes if name in takes(recipe)]
        good = sum(not recipes[recipe].problems for recipe in of)
        lines.append(
            f"| {name} | {len(runs)} | {', '.join(map(str, sizes))} | {source.cpu / 60:.1f} | "
            f"{source.problem or (f'{good} of {len(of)}' if of else '–')} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
