"""What every patch of a target's library really does, on many cases that no loop sees.

Each patch is measured as the loop would install it first: alone, at its seam, on the same cases
with and without. The counts are the truth by which simulated loops judge gates (`python -m
framework gates --effects FILE`). They are effects on a rule-based reader: an instrument check.

    python benchmarks/patch_effects.py [cases=300] [out=FILE] [OVERRIDE...]
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from framework.compose import compose_plan, composer
from framework.contracts import Target
from framework.engine.run import build_pipeline
from framework.improve.stack import Candidate, Stack
from framework.pipeline import Pipeline
from framework.records import Case
from framework.registry import find, settings_of
from framework.testing.gates import Effect

SEED = 271_828_182
"""Of the cases: no loop is run with it."""
BLOCK = 250
"""Cases whose memories are kept at once, so that a history is taken in once for all patches."""
CASES = 300


async def measured(
    path: Pipeline, target: Target[Any], cases: Sequence[Case], stack: Stack
) -> list[bool]:
    """Whether each case is correct under the stack."""
    edited = path.edited(stack.seams(target.fragments))
    of_id = {case.id: case for case in cases}
    right: dict[str, bool] = {}
    async for row, record in edited.rows(cases, frozenset(), answer=True, k=None):
        assert not row.error, row.error
        right[row.case_id] = target.outcome(of_id[row.case_id], row, record).correct
    return [right[case.id] for case in cases]


def effect(name: str, seam: str, before: Sequence[bool], after: Sequence[bool]) -> Effect:
    pairs = list(zip(before, after, strict=True))
    return Effect(
        name=name,
        seam=seam,
        wrong=sum(not b for b in before),
        fixed=sum(a and not b for b, a in pairs),
        right=sum(before),
        broken=sum(b and not a for b, a in pairs),
    )


def opened(overrides: Sequence[str]) -> tuple[Pipeline, Target[Any]]:
    with composer():
        plan = compose_plan(["protocol=improve", "target=longmemeval", "tracking=none", *overrides])
    domain, target = plan.parts["domain"].create(), plan.parts["target"].create()
    path = replace(build_pipeline(plan, domain), traces_sources=True, keeps=2 * BLOCK)
    plugins = [find("axis", name) for name in target.axes(domain)]
    path.axes = [plugin.cls(settings_of(plugin, {})) for plugin in plugins]
    return path, target


async def main(words: Sequence[str]) -> None:
    own = dict(word.split("=", 1) for word in words if word.startswith(("cases=", "out=")))
    path, target = opened([word for word in words if not word.startswith(("cases=", "out="))])
    cases = list(path.domain.cases(int(own.get("cases", CASES)), SEED))
    stacks = [
        Stack(entries=(Candidate(seam=patch.seam, payload=patch.payload),))
        for patch in target.library
    ]
    base: list[bool] = []
    after: list[list[bool]] = [[] for _ in stacks]
    for start in range(0, len(cases), BLOCK):
        block = cases[start : start + BLOCK]
        base += await measured(path, target, block, Stack())
        for found, stack in zip(after, stacks, strict=True):
            found += await measured(path, target, block, stack)
        effects = [
            effect(patch.id, patch.seam, base, found)
            for patch, found in zip(target.library, after, strict=True)
        ]
        if "out" in own:  # after each block: a run that is ended early leaves what it has
            data = {"target": target.name, "cases": len(base), "seed": SEED}
            data["effects"] = [asdict(e) for e in effects]
            Path(own["out"]).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        print(f"{len(base)} cases", file=sys.stderr)
    accuracy = sum(base) / len(base)
    print(f"target={target.name}: {accuracy:.3f} without a patch, n = {len(base)}")
    print(f"{'patch':24}{'seam':15}{'effect':>8}{'fixed':>7}{'broken':>7}")
    for e in effects:
        print(f"{e.name:24}{e.seam:15}{e.delta:+8.4f}{e.fixed:7}{e.broken:7}")
    results = [
        {
            "name": f"patch_{e.name}",
            "ours": accuracy + e.delta,
            "peer": accuracy,
            "peer_name": "without it",
            "ratio": (accuracy + e.delta) / accuracy,
            "unit": "share of cases correct",
            "n": len(base),
        }
        for e in effects
    ]
    print(json.dumps(results))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
