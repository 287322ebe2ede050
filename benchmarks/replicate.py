"""Run every sweep behind the papers' tables and figures, then every recipe; resumable.

    make papers [ARGS="SOURCE ... --rows CSV --loops DIR --hotpotqa FILE --cases N --write"]

`plugins/recipes/PAPER/contents*.yaml` says which recipes make what; a recipe's own words, or the
table below, which sweeps it takes. Sweeps are in `runs/papers/SOURCE`, pages of recipes in
`runs/papers/pages`; an entry that is a part of every report links to its sweep's own. Answers of a
language model are those that are shipped. `runs/papers/README.md` has a line for each table, figure
and part of the papers: what made it, or why nothing did. What was cut off goes on; what failed is a
line there, and status 1.

`runs/papers/steps.json` keeps, over all calls, whether each sweep and each recipe ran, when, at
which commit and in how many seconds. `--record FILE` puts it there, where steps of before that did
not run here stay; `--into PAGE#LIST` writes a list of that file, or of what ran here: what did
not run is told as not run.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks.language_model import RECORDED, replaying
from benchmarks.paper_runs import called, lists_of
from benchmarks.paper_sources import (
    Given,
    Source,
    kinds_of,
    recipes_of,
    sources,
    sources_of,
    takes,
)
from benchmarks.paper_steps import Step, Steps, commit_of
from benchmarks.papers import PAPERS
from framework.errors import UserError
from framework.registry import find
from framework.reporting.markdown import put_between_markers
from plugins.recipes._contents import Entry, contents

ROOT: Final = Path(__file__).resolve().parent.parent
RUNS: Final = Path("runs") / "papers"
PAGES: Final = RUNS / "pages"
STEPS: Final = RUNS / "steps.json"


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
    parser.add_argument("--record", type=Path, metavar="FILE", help="write there what ran")
    parser.add_argument(
        "--into", action="append", default=[], metavar="PAGE#LIST",
        help=f"where a list of what ran goes: {', '.join(lists_of(Steps(STEPS)))}",
    )  # fmt: skip
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
    steps, commit = Steps.of(STEPS), commit_of(ROOT)
    for name, source in chosen.items():
        run(name, source, args.cases, steps, commit)
        written(steps, args.record, args.into)
    recipes = {name: made(name, chosen, given, steps, commit) for name in recipes_of()}
    write(chosen, recipes)
    written(steps, args.record, args.into)
    failed = [name for name, source in chosen.items() if source.problem]
    failed += [name for name, found in recipes.items() if found.problems]
    print(f"{RUNS / 'README.md'}: {len(failed)} failed{': ' if failed else ''}{', '.join(failed)}")
    return int(bool(failed))


def written(steps: Steps, record: Path | None, places: Sequence[str]) -> None:
    """Write what is known of the steps, and lists of it by their names, where that is asked for."""
    if record is not None:
        kept = Steps.of(record)
        for name, step in steps.known.items():
            if name not in kept.known or step.made >= kept.known[name].made:
                kept.known[name] = step
        kept.save()
        steps = kept
    found = lists_of(steps) if places else {}
    for place in places:
        name = place.partition("#")[2]
        if name not in found:
            raise UserError(f"no list {name!r}; there are {', '.join(found)}")
        put_between_markers(place, found[name])


def run(name: str, source: Source, cases: int | None, steps: Steps, commit: str) -> None:
    """Run a sweep, or go on with it. What it took and why it failed goes into `source`, `steps`."""
    directory = RUNS / name
    words = [f"resume={directory}"]
    if directory.exists():
        begun = steps.known.get(name)
        if begun is None or begun.cases != cases:
            what = "otherwise" if begun is None else f"with {begun.cases or 'all'} cases"
            source.problem = f"{directory} was begun {what}: remove it first"
            return
        if begun.state == "ran" and (directory / "sweep.json").exists():
            return
    else:
        steps.known.pop(name, None)
        fewer = [f"n_cases={cases}"] if cases else []
        kept = [word for word in source.words if not (cases and word.startswith("n_cases="))]
        words = [*kept, *fewer, f"hydra.sweep.dir={directory}"]
        if name == "language_model":
            words += replaying(Path(".cache") / "papers_language_model", RECORDED)
    print(f"{name}: {' '.join(words)}", flush=True)
    steps.begin(name, commit, cases)
    before = _children()
    source.problem = _said("run.py", *words)
    if source.reported and not source.problem:
        source.problem = _said("-m", "framework", "report", str(directory))
    source.cpu = _children() - before
    steps.end(name, source.cpu, source.problem)


def made(
    recipe: str, chosen: Mapping[str, Source], given: Given, steps: Steps, commit: str
) -> Made:
    """The pages of a recipe: of recorded rows where they are given, and of its sweeps."""
    found = Made()
    recorded = given.of(recipe)
    kinds = kinds_of(recipe)
    if recorded is not None and "recorded" in kinds:
        _page(found, recipe, [recorded], "recorded", steps, commit)
    names = takes(recipe)
    if names and all(name in chosen and not chosen[name].problem for name in names):
        _page(found, recipe, [RUNS / name for name in names], "measured", steps, commit)
    elif "page" in kinds:
        _page(found, recipe, [], "page", steps, commit)
    return found


def _page(
    found: Made, recipe: str, taken: Sequence[Path], kind: str, steps: Steps, commit: str
) -> None:
    """A page, unless it stands already and its sweeps are not of after it."""
    place, name = PAGES / recipe / kind, f"{recipe} {kind}"
    before = steps.known.get(name, Step())
    sweeps = steps.of_names(takes(recipe) if kind == "measured" else ())
    if any(sweep.made > before.made or sweep.cases != before.cases for sweep in sweeps):
        steps.known.pop(name, None)
    elif before.made and not before.problem and place.exists():
        found.pages.append(place)
        return
    words = ("--recipe", recipe, *map(str, taken), "--to", str(place))
    steps.begin(name, commit, next((sweep.cases for sweep in sweeps if sweep.cases), None))
    used = _children()
    said = _said("-m", "framework", "report", *words)
    steps.end(name, _children() - used, said)
    if said:
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
            f"| {called(entry)} | {entry.what} | {_became(entry, chosen, recipes)} |"
            for entry in contents(paper)
        ]
        lines.append("")
    RUNS.mkdir(parents=True, exist_ok=True)
    (RUNS / "README.md").write_text("\n".join(lines), encoding="utf-8")


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
    try:
        raise SystemExit(main())
    except UserError as error:
        sys.exit(f"make papers: {error}")
