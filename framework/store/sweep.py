"""A sweep's plan and results, as they are read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from framework.errors import DataError, UserError
from framework.store.directory import SWEEP, SWEEP_PLAN
from framework.store.former import read_json
from framework.store.state import OF_A_SUMMARY, has_keys
from framework.text.canonical import digest
from framework.text.reading import read_json as bounded

PLAN: Final = "plan"
"""Key of sweep.json: the digest of the plan that the sweep ended with."""


def read_sweep(path: Path) -> dict[str, Any]:
    """sweep.json of a sweep that has ended. Raises UserError when there is none."""
    try:
        loaded: dict[str, Any] = read_json((path / SWEEP).read_bytes())
    except FileNotFoundError:
        unfinished = f"a sweep that has not ended; go on with resume={path}"
        raise UserError(f"{path} has no {SWEEP}: {unfinished}") from None
    except ValueError as error:
        raise DataError(path / SWEEP, None, f"not JSON: {error}") from None
    lists = has_keys(loaded, ("jobs", "comparisons")) and all(
        isinstance(loaded[name], list) for name in ("jobs", "comparisons")
    )
    if not lists or not all(has_keys(job, ("directory", *OF_A_SUMMARY)) for job in loaded["jobs"]):
        raise DataError(path / SWEEP, None, "not the results of a sweep")
    return loaded


def stored_sweep(path: Path) -> dict[str, Any]:
    """The plan of a sweep directory. Raises DataError for what is none."""
    try:
        stored: dict[str, Any] = bounded((path / SWEEP_PLAN).read_bytes())
        stored["jobs"] = list(stored["jobs"])
        if not all(isinstance(job["name"], str) for job in stored["jobs"]):
            raise TypeError
    except (ValueError, KeyError, TypeError):
        raise DataError(path / SWEEP_PLAN, None, "not the plan of a sweep") from None
    return stored


def plan_digest(path: Path) -> str:
    """The digest of a sweep's plan. Raises DataError for what is none."""
    return digest(stored_sweep(path))


def sealed_plan(path: Path) -> str:
    """The digest of the plan that a sweep ended with; of one that ends now, of its plan as it is.

    Once it has ended its plan stays what it is, however often it is resumed.
    """
    try:
        return str(read_sweep(path)[PLAN])
    except (UserError, OSError, KeyError):
        return plan_digest(path)
