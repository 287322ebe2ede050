"""Runs against the local server, which answers as a dry run did, in the test's own directory."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from framework.engine.dry_run import dry_run_of
from framework.models.dry_run import likely_tokens
from framework.models.spending import Spent
from framework.store.directory import ROWS
from framework.testing.server import Faults, ModelServer

BASE = ("domain=loan", "tracking=none", "gate=open")
SPENDING = Path(".spending.sqlite")


def server(
    *overrides: str,
    faults: Faults | None = None,
    delay_s: float = 0.0,
    tokens: Callable[[str], int] = likely_tokens,
) -> ModelServer:
    """A server that knows what these overrides ask. `model=` is only added where it is missing."""
    given = [*BASE, *overrides]
    if not any(o.startswith("model=") for o in given):
        given.append("model=openai")
    answers = dry_run_of(given).answers
    return ModelServer(answers, faults=faults, delay_s=delay_s, tokens=tokens)


def of(running: ModelServer, provider: str) -> tuple[str, ...]:
    """The overrides that send a run to the server."""
    path = "/v1" if provider == "openai" else ""
    return (
        f"model={provider}",
        f"model.base_url={running.url}{path}",
        "model.backoff_s=0.01",
    )


def summaries(directory: Path) -> list[dict[str, Any]]:
    """The summaries of a run or of a sweep's jobs."""
    found = sorted(directory.glob("**/summary.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in found]


def totals(directory: Path) -> Counter[str]:
    """The ledgers' totals of a run or sweep, latencies left out."""
    found: Counter[str] = Counter()
    for summary in summaries(directory):
        total = summary["ledger"]["total"]
        found.update({k: v for k, v in total.items() if v and not k.startswith("latency")})
    return found


def spent(path: Path = SPENDING) -> list[Spent]:
    """Every account, in no set order."""
    columns = "calls, tokens, usd, lost_calls, lost_tokens, lost_usd"
    with sqlite3.connect(path) as db:
        found = db.execute(f"SELECT {columns} FROM spent").fetchall()
    db.close()
    return [Spent(**dict(zip(columns.split(", "), row, strict=True))) for row in found]


def held(path: Path = SPENDING) -> int:
    """Calls that are held as under way."""
    with sqlite3.connect(path) as db:
        (count,) = db.execute("SELECT count(*) FROM held").fetchone()
    db.close()
    return int(count)


def measured(directory: Path, *without: str) -> list[dict[str, Any]]:
    """The measured columns of the rows of a run, by key."""
    import pyarrow.parquet as pq

    from framework.rows import is_measured

    table = pq.read_table(directory / ROWS)
    kept = [n for n in table.column_names if is_measured(n) and not n.endswith(tuple(without))]
    return list(table.select(kept).to_pylist())


USAGE: Sequence[str] = (
    "_tokens_in", "_tokens_out", "_tokens_cached", "cost_usd", "_calls", "_repairs", "_unreadable",
    "form_read",
)  # fmt: skip
"""Columns that differ between a language model and the rules: what the provider counted, and that
the rules were made to read development forms alone."""
