"""How figures are spelt in tables, and where tables go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from framework.analysis.cost import RETURN
from framework.analysis.summary import unbudgeted

if TYPE_CHECKING:
    from rich.console import Console

DAGGER: Final = "†"


def declared_inputs(fairness: Mapping[str, Any]) -> str:
    """What an arm declares to be given beyond the events and the query, in words."""
    words = [
        name.replace("_", " ")
        for name in ("sees_task", "knows_schema", "gold_edges", "sees_gold")
        if fairness.get(name)
    ]
    if unbudgeted(fairness):
        words.append("unbudgeted")
    if fairness.get("query") == "none":
        words.append("no query")
    words += [f"{part} {fairness[part]}" for part in ("embedder", "extractor") if part in fairness]
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


def signed(value: float | None) -> str:
    """`+0.034`, or a dash where there is none."""
    return "-" if value is None else f"{value:+.3f}"


def p_value(value: float | None) -> str:
    """`.0063`, `<.0001`, or a dash where there is none."""
    if value is None:
        return "-"
    return "<.0001" if value < 1e-4 else f"{value:.4f}".lstrip("0") or "0"


def interval(entry: Mapping[str, Any]) -> str:
    """`[.750, .902]`, or a dash where none is claimed."""
    if entry["ci_low"] is None:
        return "-"
    return f"[{entry['ci_low']:.3f}, {entry['ci_high']:.3f}]"


def entry_cell(entry: Mapping[str, Any] | None) -> str:
    """Mean over interval; a dagger marks what is no finding."""
    if entry is None or entry["mean"] is None:
        return "-"
    mark = DAGGER if entry["kind"] == "instrument check" else ""
    if entry["ci_low"] is None:
        return f"{entry['mean']:.2f}{mark}"
    return f"{entry['mean']:.2f}{mark}\n{short(entry['ci_low'])}-{short(entry['ci_high'])}"


def short(value: float, sign: str = "") -> str:
    """`.45`, `+.45`, `1.0`: two digits where that is all that is needed."""
    text = f"{value:{sign}.2f}"
    return text.replace("0.", ".", 1) if abs(value) < 0.995 else text[:-1]


def terminal() -> Console:
    """Where tables go; a reader that left raises BrokenPipeError."""
    from rich.console import Console

    class Piped(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would end the process here, with a status of its own

    console = Piped()
    # Piped output has no width of its own: wide enough that a table's rows stay one line each.
    return console if console.is_terminal else Piped(width=200)


def amount(name: str, value: float, sign: str = "") -> str:
    """`0.415` of a return, `2,315` tokens, `0.0246` dollars."""
    digits = 3 if name == RETURN else 4 if name.endswith("_usd") else 0
    return f"{value:{sign},.{digits}f}"


def limits(name: str, entry: Mapping[str, Any], sign: str = "") -> str:
    """`[2,100, 2,540]`, or nothing where no limits are claimed."""
    if entry["ci_low"] is None:
        return ""
    return f"[{amount(name, entry['ci_low'], sign)}, {amount(name, entry['ci_high'], sign)}]"
