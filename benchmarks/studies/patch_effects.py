"""What every patch of a target's library really does, on many cases that no loop sees.

Each patch is measured as the loop would install it first: alone, at its seam, on the same cases
with and without. The counts are the truth by which simulated loops judge gates (`make gates
ARGS="--effects FILE"`). They are effects on a rule-based reader, not on a language model.
A file names the digests of the library and of the cases that it was measured with, and a test tells
when they are no longer those that ship.

    python -m benchmarks.studies.patch_effects [longmemeval|loan|text_to_sql] [cases=300]
        [minutes=10] [workers=1] [out=FILE]

`minutes` is processor time of all workers, after which no further block of cases is begun. What is
measured beside the patches is the noise: the bare pipeline on the same cases in other words.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks._measure import result
from benchmarks.studies.gate_populations import Effect
from framework.contracts import Domain, Target
from framework.engine.compose import compose_plan, composer
from framework.engine.prepare import build_pipeline
from framework.pipeline.ingest import Memories
from framework.pipeline.path import Pipeline
from framework.records import Case
from framework.registry import find, settings_of
from framework.testing.domain_conformance import picture
from framework.text.canonical import digest
from plugins.protocols.improve.stack import Candidate, Stack, library_digest

SEED = 271_828_182
"""Of the cases: no loop is run with it."""
BLOCK = 250
"""Cases whose memories are kept at once, so that a history is taken in once for all patches."""
CASES = 300
NOISE = ""
"""Where a patch has its name: none, and the cases in other words."""
PICTURED = 20
"""Cases of a generator of which the digest is taken; of a finite domain all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A library to measure.

    overrides : the pipeline. each : overrides of the domain, each of which gives cases of its own.
    finite : the cases are all that there are, and none is drawn.
    """

    overrides: tuple[str, ...]
    each: tuple[str, ...] = ()
    finite: bool = False


SUBJECTS = {
    "longmemeval": Subject(overrides=("target=longmemeval",)),
    "loan": Subject(
        overrides=(
            *("target=pipeline", "target.success=eda"),
            *("domain=loan", "arch=bm25", "budget=loose"),
        )
    ),
    "text_to_sql": Subject(
        overrides=("target=text_to_sql",),
        each=("domain.forms=development", "domain.forms=held_out"),
        finite=True,
    ),
}
"""By name: `patch_effects_NAME.json` beside this file holds what was measured."""


@dataclass(slots=True)
class Counts:
    """Cases in all and right ones; by patch, and by `NOISE`, the fixed and the broken ones."""

    cases: int = 0
    right: int = 0
    fixed: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)

    def add(self, name: str, before: Sequence[bool], after: Sequence[bool]) -> None:
        """Count the flips of one block."""
        pairs = list(zip(before, after, strict=True))
        self.fixed[name] += sum(a and not b for b, a in pairs)
        self.broken[name] += sum(b and not a for b, a in pairs)

    def effect(self, name: str, seam: str) -> Effect:
        """What a patch did to all of them."""
        return Effect(
            name=name,
            seam=seam,
            wrong=self.cases - self.right,
            fixed=self.fixed[name],
            right=self.right,
            broken=self.broken[name],
        )


def opened(overrides: Sequence[str]) -> tuple[Pipeline, Target[Any]]:
    """The path and the target, scoring no more axes than tell what is correct."""
    with composer():
        plan = compose_plan(["protocol=improve", "tracking=none", *overrides])
    domain = plan.parts["domain"].create()
    target = plan.parts["target"].create().on(domain)
    target = target.on(domain)
    plugins = [find("axis", name) for name in target.axes(domain)]
    axes = [plugin.cls(settings_of(plugin, {})) for plugin in plugins]
    success = getattr(target.settings, "success", None)
    path = replace(
        build_pipeline(plan, domain),
        axes=[axis for axis in axes if success is None or success in axis.names],
        traces_sources=True,
        memories=Memories(2 * BLOCK),
    )
    return path, target


def rerendered(domain: Domain[Any], cases: Sequence[Case]) -> list[Case] | None:
    """The cases in other words; None unless the domain has some for every one of them."""
    found = [domain.rerendered(case, 1) for case in cases]
    others = [case for case in found if case is not None]
    return others if len(others) == len(found) else None


def paths(subject: Subject) -> list[tuple[Pipeline, Target[Any]]]:
    """A path for each part of a subject's cases."""
    return [opened([*subject.overrides, each]) for each in subject.each] or [
        opened(subject.overrides)
    ]


def digests(subject: Subject) -> dict[str, str]:
    """Of the library as it ships, and of the first cases and histories as they are drawn."""
    parts = paths(subject)
    n = 100_000 if subject.finite else PICTURED
    drawn = [picture(type(path.domain), path.domain.settings, n) for path, _ in parts]
    return {"library": library_digest(parts[0][1].library), "generator": digest(drawn)}


async def measured(
    path: Pipeline, target: Target[Any], cases: Sequence[Case], stack: Stack
) -> list[bool]:
    """Whether each case is correct under the stack."""
    edited = replace(path, seams=stack.seams(target.fragments))
    of_id = {case.id: case for case in cases}
    right: dict[str, bool] = {}
    async for row, record in edited.rows(cases, frozenset(), answer=True, k=None):
        assert not row.error, row.error
        right[row.case_id] = target.outcome(of_id[row.case_id], row, record).correct
    return [right[case.id] for case in cases]


def blocks(subject: Subject, n: int) -> Iterator[tuple[Pipeline, Target[Any], Sequence[Case]]]:
    """The cases, a block at a time, with the path that is theirs."""
    for path, target in paths(subject):
        cases = path.domain.cases(None if subject.finite else n, SEED)
        while block := list(islice(cases, BLOCK)):
            yield path, target, block


async def counted(subject: Subject, n: int, seconds: float, worker: int, of: int) -> Counts:
    """What one of several workers finds, each in blocks of its own."""
    counts = Counts()
    for path, target, block in islice(blocks(subject, n), worker, None, of):
        if time.process_time() > seconds:
            break
        before = await measured(path, target, block, Stack())
        counts.cases += len(before)
        counts.right += sum(before)
        for patch in target.library:
            stack = Stack(entries=(Candidate(seam=patch.seam, payload=patch.payload),))
            counts.add(patch.id, before, await measured(path, target, block, stack))
        again = rerendered(path.domain, block)
        if again is not None:
            counts.add(NOISE, before, await measured(path, target, again, Stack()))
        print(f"worker {worker}: {counts.cases} cases", file=sys.stderr)
    return counts


def work(name: str, n: int, seconds: float, worker: int, of: int) -> Counts:
    return asyncio.run(counted(SUBJECTS[name], n, seconds, worker, of))


def gathered(name: str, n: int, minutes: float, workers: int) -> Counts:
    """The counts of all workers."""
    total, seconds = Counts(), 60 * minutes / workers
    with ProcessPoolExecutor(workers) as pool:
        jobs = [pool.submit(work, name, n, seconds, i, workers) for i in range(workers)]
        for counts in (job.result() for job in jobs):
            total.cases += counts.cases
            total.right += counts.right
            total.fixed.update(counts.fixed)
            total.broken.update(counts.broken)
    return total


def main(words: Sequence[str]) -> None:
    own = dict(word.split("=", 1) for word in words if "=" in word)
    name = next((word for word in words if "=" not in word), "longmemeval")
    subject = SUBJECTS[name]
    # First of all: plugins and digests are to be of one moment, however long the rest takes.
    library, shipped = paths(subject)[0][1].library, digests(subject)
    counts = gathered(
        name,
        int(own.get("cases", CASES)),
        float(own.get("minutes", "inf")),
        int(own.get("workers", 1)),
    )
    effects = [counts.effect(patch.id, patch.seam) for patch in library]
    noise = {"fixed": counts.fixed[NOISE], "broken": counts.broken[NOISE]}
    if "out" in own:
        data = {
            "name": name,
            "of": " ".join(subject.overrides),
            "cases": counts.cases,
            "finite": subject.finite,
            "seed": SEED,
            **shipped,
            "noise": noise if NOISE in counts.fixed else None,
            "effects": [asdict(e) for e in effects],
        }
        Path(own["out"]).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    report(subject, counts, effects)


def report(subject: Subject, counts: Counts, effects: Sequence[Effect]) -> None:
    accuracy, n = counts.right / counts.cases, counts.cases
    all_ = ", all that there are" if subject.finite else ""
    print(f"{' '.join(subject.overrides)}: {accuracy:.3f} without a patch, n = {n}{all_}")
    if NOISE in counts.fixed:
        print(f"in other words: {counts.fixed[NOISE]} fixed, {counts.broken[NOISE]} broken")
    print(f"{'patch':32}{'seam':15}{'effect':>8}{'fixed':>7}{'broken':>7}")
    for e in effects:
        print(f"{e.name:32}{e.seam:15}{e.delta:+8.4f}{e.fixed:7}{e.broken:7}")
    results = [
        result(f"patch_{e.name}", accuracy + e.delta, accuracy, "without it",
               "share of cases correct", n)
        for e in effects
    ]  # fmt: skip
    print(json.dumps(results))


if __name__ == "__main__":
    main(sys.argv[1:])
