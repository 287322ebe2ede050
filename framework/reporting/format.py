"""Numbers and what an arm was told, as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

DAGGER: Final = "†"
DOUBLE: Final = "‡"
SECTION: Final = "§"
MARKS: Final = {"rule-based": DAGGER, "judged by rules": SECTION}
"""By kind of evidence, the mark of a number that is it."""


def mark_of(entry: Mapping[str, Any]) -> str:
    """What stands behind a mean: † rule-based, § judged by rules, ‡ its judge's error unknown."""
    return MARKS.get(str(entry.get("kind")), "") + DOUBLE * ("judge_error" in entry)


def declared_inputs(declared: Mapping[str, Any]) -> str:
    """What an arm declares to be given beyond the events and the query, in words."""
    words = [
        name.replace("_", " ")
        for name in ("sees_task", "knows_schema", "gold_edges", "sees_gold")
        if declared.get(name)
    ]
    if declared.get("unbudgeted"):
        words.append("unbudgeted")
    if declared.get("query") == "none":
        words.append("no query")
    if declared.get("query_names_fields"):
        words.append("query names the fields")
    words += [f"{part} {declared[part]}" for part in ("embedder", "extractor") if part in declared]
    return ", ".join(words)


def nowhere(axes: Mapping[str, Mapping[str, Any]]) -> str:
    """A sentence that names the axes which no case defines, after a full stop; else nothing."""
    names = [name for name, entry in axes.items() if not entry["n"]]
    return f". Undefined for every case: {', '.join(names)}" if names else ""


def warned(jobs: Iterable[Mapping[str, Any]]) -> list[str]:
    """Each warning of summaries once, with the arms that it is of where it is not of them all."""
    arms: dict[str, dict[str, None]] = {}
    everyone: dict[str, None] = {}
    for job in jobs:
        arm = job["run"]["arch"]
        everyone[arm] = None
        for text in job.get("warnings", ()):
            arms.setdefault(text, {})[arm] = None
    return [
        text if len(of) == len(everyone) else f"{text} ({', '.join(of)})"
        for text, of in arms.items()
    ]


def number(value: float | None) -> str:
    """`0.834`, or a dash where there is none."""
    return "-" if value is None else f"{value:.3f}"


def p_value(value: float | None) -> str:
    """`.0063`, `<.0001`, or a dash where there is none."""
    if value is None:
        return "-"
    return "<.0001" if value < 1e-4 else f"{value:.4f}".lstrip("0") or "0"


def limits(low: float, high: float, digits: int = 3, sign: str = "") -> tuple[str, str]:
    """Two limits, with as many more digits as it takes to tell them apart."""
    texts = f"{low:{sign},.{digits}f}", f"{high:{sign},.{digits}f}"
    if digits < 6 and low < high and _same(texts):
        return limits(low, high, digits + 1, sign)
    return texts


def short_limits(low: float, high: float, sign: str = "") -> tuple[str, str]:
    """`.45` and `.61`; `.997` and `1.000` where two digits would make one number of them."""
    texts = short(low, sign), short(high, sign)
    return limits(low, high, sign=sign) if low < high and _same(texts) else texts


def _same(texts: tuple[str, str]) -> bool:
    """Whether both say one number; -.00 and +.00 do."""
    return len({float(text.replace(",", "")) for text in texts}) == 1


def short(value: float, sign: str = "") -> str:
    """`.45`, `+.45`, `1.0`: two digits where that is all that is needed."""
    text = f"{value:{sign}.2f}"
    return text.replace("0.", ".", 1) if abs(value) < 0.995 else text[:-1]
