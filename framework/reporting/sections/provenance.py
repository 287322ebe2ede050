"""What a number rests on: digests, versions, seeds and the hash that every journal ends with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from framework.analysis.evidence import Evidence
from framework.records import EMPTY, FIRST_VERSION
from framework.reporting.blocks import Block, Cell, Details, Heading, Listing, Note, Table, Text


def provenance(evidence: Evidence) -> Iterator[Block]:
    """Data, code, prompts, versions and the head hash of every run."""
    yield Heading("Provenance", "provenance")
    manifests = [job.manifest for job in evidence.jobs]
    yield Text(
        "Whether anything was changed since it was sealed is told by decisionbench verify "
        "PATH, with the path of this directory; decisionbench replay RUN runs one again and "
        "compares. The report is made from the files of the runs alone and can be made again."
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
        ("tokenizer", [m["tokenizer"] for m in manifests]),
        ("prices", [m["prices"] for m in manifests]),
        ("seed", [str(m["seed"]) for m in manifests]),
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
        yield Note(f"The runs were not all made in one way: they differ in {', '.join(differ)}.")
    yield Table(
        anchor="provenance-table",
        caption="What the runs were made from.",
        columns=["", "value"],
        rows=shared,
    )
    yield Table(
        anchor="heads",
        caption="By run: the digest of its configuration, and the last hash of its journal.",
        columns=["run", "configuration", "head hash"],
        rows=[
            [job.path.name, job.manifest["identity"], str(job.manifest.get("head_hash", "–"))]
            for job in evidence.jobs
        ],
    )
    command = evidence.plan.get("argv") or manifests[0]["argv"]
    yield Details(
        "Command line and code of the plugins",
        [
            Text("decisionbench " + ("-m " if evidence.is_sweep else "") + " ".join(command)),
            Listing(_plugins(evidence)),
        ],
    )


def _plugins(evidence: Evidence) -> list[str]:
    found = dict.fromkeys(
        f"{group}={plugin['name']}: {plugin['code']}"
        for job in evidence.jobs
        for group, plugin in job.manifest["plugins"].items()
    )
    return sorted(found)
