"""The label of every caption: what kind of evidence its numbers are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from framework.analysis.evidence import Group, Job, is_answered
from framework.text.counting import counted

_WORDS: Final = {
    "model-free": "model-free: measured without any model",
    "rule-based": "rule-based: made by a rule-based model, no evidence about language models",
    "measured with an LLM": "measured with a language model",
    "judged by rules": "judged by rules: a language model answered, a rule-based judge compared",
    "lexical embedder": "lexical embedder: its similarity is overlap of hashed words",
}


def label_of(group: Group, axes: Iterable[str]) -> str:
    """A sentence for every kind of evidence that these axes are, saying which and of which arms."""
    by_kind: dict[tuple[tuple[str, tuple[str, ...]], ...], list[str]] = {}
    for axis in axes:
        kinds = _kinds(group, axis)
        if kinds:
            by_kind.setdefault(tuple(kinds.items()), []).append(axis)
    parts = []
    for found, named in by_kind.items():
        subject = "" if len(by_kind) == 1 else f"{', '.join(named)}: "
        if len(found) == 1:
            parts.append(f"{subject}{_WORDS[found[0][0]]}.")
        else:
            each = [f"{_WORDS[kind]} ({', '.join(arms)})" for kind, arms in found]
            parts.append(f"{subject}{'; '.join(each)}.")
    for column in (column for axis in axes for column in _columns(group.jobs[0], axis)):
        flags = (job.summary["axes"].get(column, {}).get("judge_error") for job in group.jobs)
        parts += [f"{column}: {flag}." for flag in sorted({*filter(None, flags)})]
    return " ".join(
        part if part.split(":")[0] not in _WORDS else part.capitalize() for part in parts
    )


def _kinds(group: Group, axis: str) -> dict[str, tuple[str, ...]]:
    """Kind of evidence -> the arms for which the axis is it."""
    found: dict[str, dict[str, None]] = {}
    for job in group.jobs:
        for column in _columns(job, axis):
            entry = job.summary["axes"].get(column)
            if entry is not None:
                found.setdefault(str(entry["kind"]), {})[job.arm] = None
    return {kind: tuple(arms) for kind, arms in found.items()}


def _columns(job: Job, axis: str) -> tuple[str, ...]:
    """The columns of a summary that an axis stands in; `success` is the domain's own."""
    if axis != "success":
        return (axis,)
    declared = job.summary.get("success_axis")
    return (declared,) if declared else ("kappa", "leak")


def under(group: Group) -> str:
    """`loan, 100 cases, reader commit, model extractive (rule-based)`, and what else differs."""
    run = group.run
    words = [str(run["domain"]), counted(run["n_cases"], "case")]
    if not is_answered(run):
        words.append("retrieval alone, no reader")
    else:
        words += [f"reader {run['reader']}", f"model {run['model']} ({run['model_kind']})"]
    said = ("domain ", "n_cases ", "reader ", "model ")
    more = [word for word in group.differs.split(", ") if word and not word.startswith(said)]
    return ", ".join([*words, *more])
