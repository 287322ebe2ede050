"""Run what a pre-registration of the findings was locked for, judge it, and write its table.

    python -m benchmarks.studies.findings NAME [--into FILE#NAME]

NAME: entry, facts, facts_claims, office, office_words or confirm, or one of two without a
pre-registration.
`parts` runs nothing: it says of the runs of `facts` and `facts_claims` which part of what a
decision needs each view held. `reuse` takes what `confirm` compares apart. Sweeps that were cut off
are resumed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from benchmarks.results import ROOT, call
from benchmarks.studies.gate_populations import Idea, Population
from benchmarks.studies.gates import POINT, POINT_02, RULES, Rule, simulate
from benchmarks.studies.places import opened
from framework.analysis.prereg.flags import RunInfo
from framework.analysis.prereg.results import measured_in
from framework.analysis.prereg.verdicts import Judgement, Measured, judge
from framework.cli.runs import finished_runs
from framework.errors import UserError
from framework.records import ABSTAIN
from framework.reporting.markdown import print_or_put
from framework.statistics.comparison import case_means
from framework.statistics.intervals import wilson
from framework.store.answers import answer_records
from framework.store.hypotheses import read_file
from framework.store.register import locks
from framework.store.state import read_report, read_run

LOCKED: Final = ROOT / "conf" / "prereg"
RUNS: Final = ROOT / "runs" / "findings"

_GOVERNED: Final = (
    "+experiment=depth/prereg",
    "prereg=findings_entry",
    "seed=90217",
    "domain.tasks_per_history=1",
)
_NAMED: Final = ("domain.query=ticket", "domain.naming=explicit")
_DEEP: Final = ("n_cases=200", *_NAMED, "domain.depth=6")
_REGULATED: Final = (
    "budget=loose",
    "protocol=retrieve",
    "tracking=none",
    "report=false",
    "seed=90331",
    "n_cases=400",
    "baseline=oldest_first",
    "arch=random_context,oldest_first,bm25,full_context",
)
SWEEPS: Final[Mapping[str, Sequence[Sequence[str]]]] = {
    "entry": (
        (
            *_GOVERNED,
            "n_cases=300",
            "domain.query=ticket",
            "arch=grep_names,bm25,typed_graph_pruned",
        ),
        (*_GOVERNED, "n_cases=300", "arch=typed_graph_pruned", "baseline=null"),
        (*_GOVERNED, "n_cases=300", *_NAMED, "arch=grep_names,typed_graph_pruned", "baseline=null"),
        (
            *_GOVERNED,
            "n_cases=200",
            *_NAMED,
            "domain.distractors=16",
            "domain.items=1000",
            "arch=grep_names,typed_graph_pruned",
            "baseline=null",
        ),
        (*_GOVERNED, *_DEEP, "arch=grep_names", "baseline=null"),
        (*_GOVERNED, *_DEEP, "arch=typed_graph_pruned", "arch.hops=6", "baseline=null"),
    ),
    "facts": (("domain=loan", "prereg=findings_facts", *_REGULATED),),
    "facts_claims": (("domain=claims", "prereg=findings_facts_claims", *_REGULATED),),
    "office": (
        (
            "+experiment=office",
            "prereg=office",
            "domain.spec=claims",
            "domain.aliases=0.5",
            "budget=loose",
            "seed=90347",
            "n_cases=400",
            "arch=bm25,by_kind,rare_first,graph_ppr,full_context",
            "report=false",
        ),
    ),
    "office_words": (
        (
            "+experiment=office",
            "prereg=office_words",
            "domain.spec=prior_authorization",
            "domain.aliases=0,0.5",
            "budget=loose",
            "seed=90353",
            "n_cases=400",
            "arch=bm25,bm25_content,by_kind,graph_ppr,full_context",
            "report=false",
        ),
    ),
    "confirm": (("+experiment=improve/reuse",),),
}
BATCHES: Final = 20
LOOPS: Final = 500
SEED: Final = 95000
_NULL, _HARMFUL = (0.06, 0.02), (0.06, 0.05)
_SMALL, _LARGE = (0.14, 0.02), (0.30, 0.02)
POPULATIONS: Final = {
    # By budget of the pre-registration: after how many analyses, and of which ideas.
    "simulated": {"null": (0.5, _NULL), "harmful": (0.1, _HARMFUL)},
    "without nulls": {"harmful": (0.2, _HARMFUL)},
}
"""What does not help, by share of the ideas; the rest is small and large help, half each."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is not measured yet, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    others = {"parts": parts, "reuse": reuse}
    parser.add_argument("name", choices=[*SWEEPS, *others])
    parser.add_argument("--into", help="a file with markers for the table")
    asked = parser.parse_args(arguments)
    made = others[asked.name]() if asked.name in others else judged(asked.name)
    print_or_put(made, asked.into)
    return 0


def judged(name: str) -> str:
    """The verdicts on a pre-registration, in Markdown, with what each side had."""
    plan, _ = read_file(locked(name))
    directories = sweeps(name)
    measured = loops(directories[0]) if name == "confirm" else None
    measured = measured or measured_in(finished_runs(directories), plan)
    entries = locks(LOCKED / "register.jsonl")
    found = judge(plan, measured, entries)
    wide = judge(replace(plan, adjust="none"), measured, entries)
    flags = "\n".join(f"- FLAG {flag}" for flag in found.flags) or "No flag."
    told = f"{funnel(directories[0])}\n\n" if name == "confirm" else ""
    return f"{_table(found, wide, measured)}\n\n{told}{flags}"


def locked(name: str) -> Path:
    """The pre-registration of this name."""
    own = LOCKED / f"{name}.yaml"
    return own if own.exists() else LOCKED / f"findings_{name}.yaml"


def funnel(directory: Path) -> str:
    """What became of the real loops, in one line."""
    ended = [read_report(run.path, "improve") for run in finished_runs([directory])]
    stopped = [results["stopped"] for results in ended if results is not None]
    analyses, promoted = (fmean(one[key] for one in stopped) for key in ("analyses", "promotions"))
    return f"{len(stopped)} real loops: {analyses:.1f} analyses and {promoted:.1f} promotions each."


def sweeps(name: str) -> list[Path]:
    """The directories of the runs of a pre-registration, each run or resumed."""
    found = []
    for number, overrides in enumerate(SWEEPS[name], start=1):
        directory = RUNS / name / str(number)
        if not directory.exists():
            call("run.py", "-m", *overrides, f"hydra.sweep.dir={directory}")
        elif not (directory / "sweep.json").exists():
            call("run.py", f"resume={directory}")
        found.append(directory)
    return found


def loops(directory: Path) -> Measured:
    """Simulated batches and real loops as rows: a rule is an arm, a batch or a loop is a case."""
    plan, content = read_file(LOCKED / "findings_confirm.yaml")
    rows = [row for budget in POPULATIONS for row in simulated(budget)]
    runs = [
        RunInfo(
            name="simulation",
            began=datetime.now(UTC),
            prereg=content,
            seed=plan.seed,
            data_digest=plan.data_digest,
        )
    ]
    for run in finished_runs([directory]):
        results = read_report(run.path, "improve")
        if results is None:
            raise UserError(f"{run.path}: no finished loop")
        began = datetime.fromisoformat(run.state.began)
        named = run.state.started["config"]["prereg"]
        runs.append(
            RunInfo(name=run.path.name, began=began, prereg=named, seed=None, data_digest=None)
        )
        case = f"seed {results['loop']['seed']}"
        for arm in ("confirm", "test"):
            rows.append(_row(case, arm, "loops", {"claim": results[arm]["delta"]}))
    return Measured(rows=rows, runs=runs)


def simulated(budget: str) -> Iterator[dict[str, Any]]:
    """By rule and batch: false promotions after five analyses, true gain after twenty."""
    population = _population(budget)
    rules = [rule for rule in RULES if rule.name in _RULES]
    for batch in range(BATCHES):
        axes: dict[str, dict[str, float]] = {rule.name: {} for rule in rules}
        for found in simulate(LOOPS, SEED + batch, population, rules):
            if found.analyses == 5:
                axes[found.rule]["any_false"] = found.any_false
            if found.analyses == 20:
                axes[found.rule]["gain"] = found.gain
        for rule in rules:
            yield _row(f"batch {batch}", rule.name, budget, axes[rule.name])


def _population(budget: str) -> Population:
    bad = POPULATIONS[budget]
    share = (1 - sum(part for part, _ in bad.values())) / 2
    kinds = {**bad, "small": (share, _SMALL), "large": (share, _LARGE)}
    ideas = tuple(
        Idea(name=name, share=part, fix=fix, hurt=hurt)
        for name, (part, (fix, hurt)) in kinds.items()
    )
    return Population(name=budget, accuracy=0.75, ideas=ideas)


def reuse() -> str:
    """What the rule, the number of cases and fresh ones each do, in as many loops as `confirm`."""
    rules = {
        (name, str(confirm), of): Rule(
            name=f"{name}, {confirm}, {of}",
            gate=gate, confirm=confirm, fresh=of == "fresh", spends=False,
        )
        for name, gate in (("point, 0", POINT), ("point, .02", POINT_02), ("bound, 0", {}))
        for confirm in (100, 400)
        for of in ("reused", "fresh")
    }  # fmt: skip
    found = {
        (one.rule, one.analyses): one
        for one in simulate(BATCHES * LOOPS, SEED, _population("simulated"), [*rules.values()])
    }
    lines = [
        "| rule | cases an analysis | CONFIRM | any_false after 1 | after 5 | after 20 "
        "| gain after 20 | claimed above it |",
        "| --- | --: | --- | --: | --: | --: | --: | --: |",
    ]
    for said, rule in rules.items():
        first, fifth, last = (found[rule.name, n] for n in (1, 5, 20))
        shares = [f"{one.any_false:.3f}" for one in (first, fifth, last)]
        cells = [*said, *shares, f"{last.gain:+.3f}", f"{last.optimism:+.3f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", f"{BATCHES * LOOPS:,} loops a rule."])


_RULES: Final = ("point, 0 (published)", "point, .02", "bound, 0, fresh, 400 a look")


def _row(case: str, arm: str, budget: str, axes: Mapping[str, float]) -> dict[str, Any]:
    return {"case_id": case, "arm": arm, "budget": budget, "cluster": case, "axes": axes}


def _table(found: Judgement, wide: Judgement, measured: Measured) -> str:
    lines = [
        "| | expected | verdict | means | difference, 95% | bounds of the verdict | n |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for verdict, at95 in zip(found.verdicts, wide.verdicts, strict=True):
        h = verdict.hypothesis
        first = _mean(measured, found, h.setting, h.arm, h)
        other = _mean(measured, found, h.against_setting, h.against[0], h)
        sides = [_side(h.arm, h.setting), _side(h.against[0], h.against_setting)]
        by = "not behind" if h.test == "noninferiority" else "above"
        expected = f"{h.axis}: {sides[0]} {by} {sides[1]} by {h.margin:g}"
        if h.role == "exploratory":
            expected += "; exploratory"
        limits = _limits(verdict.low, verdict.high)
        cells = (
            h.name,
            expected,
            f"**{verdict.outcome}**",
            f"{first:.3f}, {other:.3f}",
            f"{verdict.estimate:+.3f} {_limits(at95.low, at95.high)}",
            f"{limits} at {verdict.level:.1%}",
            str(verdict.n),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _side(arm: str, setting: Mapping[str, Any]) -> str:
    said = ", ".join(f"{key.partition('.')[2]}={value}" for key, value in setting.items())
    return f"`{arm}`" + (f" ({said})" if said else "")


def _limits(low: float | None, high: float | None) -> str:
    return "[none]" if low is None or high is None else f"[{low:+.3f}, {high:+.3f}]"


def _mean(
    measured: Measured, found: Judgement, setting: Mapping[str, Any], arm: str, h: Any
) -> float:
    wanted = {**found.plan.base, **setting}
    rows = [
        row
        for row in measured.rows
        if row["budget"] == h.budget
        and row["arm"] == arm
        and all(_value(row["config"], key) == value for key, value in wanted.items())
    ]
    return fmean(case_means(rows).values[(h.budget, arm)][h.axis].values())


def _value(config: Any, key: str) -> Any:
    for part in key.split("."):
        config = config[part]
    return config


def parts() -> str:
    """Of decided cases, the share whose view held each part of what the decision needs."""
    lines = [
        "| domain | arm | the facts that it turns on | its rules | clauses of the policy "
        "| all three | the decision follows |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, domain in (("facts", "loan"), ("facts_claims", "claims")):
        gold = {c.id: c.gold for c in opened([f"domain={domain}"]).cases(400, 90331)}
        decided = {case for case, one in gold.items() if one.decision != ABSTAIN}
        for arm in ("oldest_first", "bm25"):
            lines.append(_held(domain, arm, _job(RUNS / name / "1", arm), gold, decided))
    return "\n".join(lines)


def _job(sweep: Path, arm: str) -> Path:
    found = [p.parent for p in sweep.glob("*/summary.json") if f"-{arm}-" in p.parent.name]
    if len(found) != 1:
        raise UserError(f"{sweep}: {len(found)} runs of {arm}")
    return found[0]


def _held(domain: str, arm: str, job: Path, gold: Mapping[str, Any], decided: set[str]) -> str:
    held: dict[str, list[bool]] = {"fact": [], "rule": [], "passage": [], "all": []}
    for record in answer_records(job):
        case = record["key"][0]
        if case not in decided:
            continue
        kept = record["retained"]
        critical = [item for item in gold[case].items if item.critical]
        for kind in held:
            held[kind].append(all(kept[i.id] for i in critical if kind in (i.kind, "all")))
    follows = [row.axes["p_ret"] == 1 for row in read_run(job).rows if row.case_id in decided]
    cells = [_share(values) for values in (*held.values(), follows)]
    return f"| {domain} | `{arm}` | {' | '.join(cells)} |"


def _share(values: Sequence[bool]) -> str:
    low, high = wilson(sum(values), len(values))
    return f"{fmean(values):.2f} [{low:.2f}, {high:.2f}]"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(f"findings: {error}")
