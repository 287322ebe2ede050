"""What every clause of the closed grammar and every guarded operator really does, on many cases.

The effect of a clause is measured as the loop would install it: as the reader's prompt seam, on the
same cases with and without. For each: cases it made right and cases it broke, and the change by
question type. These are effects on a rule-based reader, not on a language model.

    python -m benchmarks.clauses [CASES] [DOMAIN [OVERRIDE ...]]

Of the two domains with clauses, or of one as these overrides make it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmarks._measure import result
from framework.engine.compose import compose_plan, composer
from framework.engine.prepare import build_pipeline
from framework.pipeline.path import Pipeline
from framework.pipeline.seams import Seams
from framework.records import Case
from framework.registry import find, plugins, settings_of
from plugins.models.rule_based.clauses import known_clauses

CASES = 500
SEED = 90_210
TARGETS = (
    ("longmemeval_synthetic", "answer_from_sessions", "answer", "answer_correct"),
    ("text_to_sql", "write_sql", "execution", "execution_correct"),
)
Measured = Mapping[str, tuple[float, str]]


def opened(domain: str, axis: str, *overrides: str) -> tuple[Pipeline, list[Case]]:
    with composer():
        plan = compose_plan(
            [f"domain={domain}", "arch=bm25", "budget=moderate", "tracking=none", *overrides]
        )
    source = plan.parts["domain"].create()
    plugin = find("axis", axis)
    path = replace(build_pipeline(plan, source), axes=[plugin.cls(settings_of(plugin, {}))])
    finite = domain == "text_to_sql"
    n = int(sys.argv[1]) if len(sys.argv) > 1 else CASES
    return path, list(source.cases(None if finite else n, SEED))


async def measured(path: Pipeline, cases: Sequence[Case], column: str, text: str) -> Measured:
    """By case, the value and the group: the question's type, or that it has no answer."""
    path = replace(path, seams=Seams(reader_prompt={"guidance": text}) if text else Seams())
    found: dict[str, tuple[float, str]] = {}
    async for row, _ in path.rows(cases, frozenset(), answer=True, k=None):
        assert not row.error, row.error
        group = "abstention" if row.tags.get("abstention") == "yes" else row.stratum
        found[row.case_id] = (row.axes[column] or 0.0, group)
    return found


def by_group(values: Measured) -> dict[str, float]:
    groups: dict[str, list[float]] = defaultdict(list)
    for value, group in values.values():
        groups[group].append(value)
    return {group: sum(found) / len(found) for group, found in sorted(groups.items())}


def mean(values: Measured) -> float:
    return sum(value for value, _ in values.values()) / len(values)


def line(name: str, base: Measured, after: Measured) -> str:
    fixed = sum(after[case][0] > base[case][0] for case in base)
    broken = sum(after[case][0] < base[case][0] for case in base)
    before, now = by_group(base), by_group(after)
    parts = " ".join(f"{now[group] - before[group]:+9.3f}" for group in before)
    return f"{name:44}{mean(after) - mean(base):+8.3f}{fixed:7}{broken:7}  {parts}"


def told(name: str, base: Measured, after: Measured, unit: str) -> dict[str, Any]:
    return result(name, mean(after), mean(base), "without it", unit, len(base))


async def main() -> None:
    results = []
    named, overrides = sys.argv[2:3], sys.argv[3:]
    for domain, operation, axis, column in TARGETS:
        if named and domain not in named:
            continue
        path, cases = opened(domain, axis, *overrides)
        base = await measured(path, cases, column, "")
        groups = by_group(base)
        print(f"\n{domain}: {column} {mean(base):.3f} without a clause, n = {len(base)}")
        print("  ".join(f"{group} {value:.3f}" for group, value in groups.items()))
        heads = " ".join(f"{group[-9:]:>9}" for group in groups)
        print(f"{'':44}{'change':>8}{'fixed':>7}{'broken':>7}  {heads}")
        for clause in known_clauses():
            if clause.operation == operation:
                after = await measured(path, cases, column, clause.text)
                print(line(clause.key, base, after))
                results.append(told(f"clause_{clause.key}", base, after, column))
        if operation == "answer_from_sessions":
            # Those that read by rule, as the clauses are read: the others ask the model.
            by_rule = "plugins.models.rule_based."
            names = [p.name for p in plugins("operator") if p.cls.__module__.startswith(by_rule)]
            for chosen in [[name] for name in names] + [names]:
                listed = f"reader.operators=[{','.join(chosen)}]"
                guarded, _ = opened(domain, axis, *overrides, "reader=guarded", listed)
                after = await measured(guarded, cases, column, "")
                label = chosen[0] if len(chosen) == 1 else "all operators"
                print(line(label, base, after))
                results.append(told(f"operator_{label}", base, after, column))
    print(json.dumps(results))


if __name__ == "__main__":
    asyncio.run(main())
