"""The drafts of an improvement loop as MLflow runs: children of the loop's run, one a draft."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from framework.analysis.loops import LOOP, read_loop
from framework.text.canonical import canonical_json
from plugins.tracking._content import LONGEST_PARAM, Upload
from plugins.tracking._metrics import Metrics

KEY: Final = "candidate_key"
"""The tag by which a draft's run is found again: the loop's head hash and the draft's number."""


def candidate_uploads(directory: Path, parent: Upload) -> list[Upload]:
    """One upload a draft, empty for a run that is no loop. Times are those of the whole loop."""
    results = read_loop(directory)
    return [] if results is None else [_upload(entry, parent) for entry in results["candidates"]]


def loop_files(directory: Path) -> tuple[Path, ...]:
    """The loop's own files."""
    path = (directory / LOOP).resolve()
    return (path,) if path.is_file() else ()


def _upload(entry: Mapping[str, Any], parent: Upload) -> Upload:
    params = {
        "seam": entry.get("seam"),
        "regime": entry["regime"],
        "stage": entry["stage"],
        "reason": entry["reason"],
        "candidate": entry.get("candidate"),
        "payload": canonical_json(entry["payload"]) if "payload" in entry else None,
    }
    metrics = Metrics()
    for split in ("optimize", "confirm"):
        for name in ("fixed", "broken", "net", "delta", "bound"):
            metrics.add([split, name], entry.get(split, {}).get(name))
    return Upload(
        name=f"draft {entry['number']}: {entry['outcome']}",
        started=parent.started,
        finished=parent.finished,
        params={k: str(v)[:LONGEST_PARAM] for k, v in params.items() if v},
        metrics=metrics,
        tags={
            KEY: f"{parent.tags['head_hash']}:{entry['number']}",
            "outcome": entry["outcome"],
            "stage": entry["stage"],
        },
        files=(),
    )
