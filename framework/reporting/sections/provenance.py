"""What a number rests on: digests, versions, seeds and the hash that every journal ends with."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from framework.analysis.evidence import Evidence
from framework.records import EMPTY, FIRST_VERSION
from framework.reporting.blocks import (
    NOTHING,
    Block,
    Cell,
    Details,
    Heading,
    Listing,
    Note,
    Table,
    Text,
)
from framework.text.canonical import digest
from framework.text.counting import counted

_JUDGED_BY: Final = ("judge", "extra_axes")
"""What a rescore may be given."""


def provenance(evidence: Evidence) -> Iterator[Block]:
    """Data, code, prompts, versions and the head hash of every run."""
    yield Heading("Provenance", "provenance")
    manifests = [job.manifest for job in evidence.jobs]
    yield Text(
        "To check whether anything changed since it was sealed, run decisionbench verify PATH "
        "with the path of this directory; decisionbench replay RUN runs a run again and compares. "
        "The report is made from the files of the runs alone and can be made again."
    )
    shared: list[Sequence[Cell | str]] = []
    differ = []
    for name, values in (
        ("domain version", [m["data"].get("version", FIRST_VERSION) for m in manifests]),
        ("data", [m["data"]["digest"] for m in manifests]),
        ("data source", [m["data"]["source"] for m in manifests]),
        ("data revision", [str(m["data"]["revision"]) for m in manifests]),
        ("licence", [m["data"]["licence"] for m in manifests]),
        ("citation", [m["data"]["citation"] for m in manifests]),
        *(
            (name.replace("_", " "), [m["data"].get(name, "–") for m in manifests])
            for name in ("main_score", "schema")
            if any(name in m["data"] for m in manifests)
        ),
        ("framework code", [m["framework"] for m in manifests]),
        ("plugins' packages", [" ".join(m.get("packages", EMPTY).values()) for m in manifests]),
        ("prompts", [_prompts(m) for m in manifests]),
        ("tokenizer", [m["tokenizer"] for m in manifests]),
        ("prices", [m["prices"] for m in manifests]),
        ("seed", [str(m["seed"]) for m in manifests]),
        ("begun", [_time(min(job.began for job in evidence.jobs))]),
        ("finished", [_time(max(job.ended for job in evidence.jobs))]),
        *(
            (f"version of {package}", [str(m["versions"].get(package)) for m in manifests])
            for package in manifests[0]["versions"]
        ),
    ):
        distinct = list(dict.fromkeys(values))
        shared.append([name, Cell(text="; ".join(distinct))])
        if len(distinct) > 1 and name != "seed":
            differ.append(name)
    if differ:
        yield Note(
            f"The runs were not all made in the same way: they differ in {', '.join(differ)}."
        )
    yield Table(
        anchor="provenance-table",
        caption="What the runs were made from.",
        columns=["", "value"],
        rows=shared,
    )
    sources = [m.get("rescored_from") for m in manifests]
    judged = any(sources)
    yield Table(
        anchor="heads",
        caption="By run: times, digest of its configuration, and last hash of its journal"
        + ("; and of the run whose answers were judged again." if judged else "."),
        columns=["run", "begun", "finished", "configuration", "head hash",
                 *["judged again"] * judged],
        rows=[
            [job.path.name, _time(job.began), _time(job.ended),
             job.manifest["identity"], str(job.manifest.get("head_hash", "–")),
             *[f"{source['run']}, head {source['head']}" if source else "–"] * judged]
            for job, source in zip(evidence.jobs, sources, strict=True)
        ],
    )  # fmt: skip
    yield Details(
        "Command line and code of the plugins",
        [
            Text(_command(evidence)),
            Listing(_plugins(evidence)),
        ],
    )


def _time(told: str) -> str:
    """When, in UTC, to the second; what is no time stays as it is told."""
    try:
        return f"{datetime.fromisoformat(told).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError):
        return told or NOTHING


def _prompts(manifest: Mapping[str, Any]) -> str:
    """One digest of all prompts that operations are asked with, and a judge's own set by name."""
    prompts = manifest.get("prompts", {})
    chosen = [o for o in manifest["argv"] if o.lstrip("+").startswith("judge.prompts=")]
    own = f"; the judge's: {chosen[-1].partition('=')[2]}" if chosen else ""
    return f"{digest(prompts)} over those of {counted(len(prompts), 'operation')}{own}"


def _command(evidence: Evidence) -> str:
    """What was typed; of a rescored run or sweep, in its own directory, what judges it again."""
    manifest = evidence.jobs[0].manifest
    origin = manifest.get("rescored_from")
    if origin is None:
        command = evidence.plan.get("argv") or manifest["argv"]
        return "decisionbench " + ("-m " if evidence.is_sweep else "") + " ".join(command)
    source, axes, words = origin["run"], origin["axes"], manifest["argv"]
    if evidence.is_sweep:
        known = evidence.plan["rescored_from"]
        source = os.path.dirname(next(iter(known["runs"].values())))  # noqa: PTH120
        axes, words = known["axes"], evidence.plan["argv"]
    else:
        words = [o for o in words if _key(o).partition(".")[0] in _JUDGED_BY]
    given = [*words, *([f"--axes {','.join(axes)}"] if axes else [])]
    return " ".join(["decisionbench rescore", source, *given])


def _key(override: str) -> str:
    return override.lstrip("+~").partition("=")[0]


def _plugins(evidence: Evidence) -> list[str]:
    found = dict.fromkeys(
        f"{group}={plugin['name']}: {plugin['code']}"
        for job in evidence.jobs
        for group, plugin in job.manifest["plugins"].items()
    )
    return sorted(found)
