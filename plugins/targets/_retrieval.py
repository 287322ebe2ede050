"""What targets that recall share: the patches of score and assembly for `author=rules`.

The entries were written before any of them was tried, from the paper's appendix A and from what
retrieval systems commonly do. Of the 16, 8 are meant to help some questions; the others are null
(they change nothing of use) or harm. An entry is never edited after a TEST was looked at.
"""

from __future__ import annotations

from typing import Any, Final

from framework.contracts import Patch
from framework.contracts.improve import Seam

__all__ = ["LIBRARY"]


def _patch(id_: str, seam: Seam, payload: dict[str, Any], note: str) -> Patch:
    return Patch(id=id_, seam=seam, payload=payload, note=note)


def _score(id_: str, expression: str, note: str) -> Patch:
    return _patch(id_, "score", {"expression": expression}, note)


def _rules(id_: str, note: str, *rules: dict[str, Any]) -> Patch:
    return _patch(id_, "assembly", {"rules": list(rules)}, note)


LIBRARY: Final[tuple[Patch, ...]] = (
    _score("overlap", "similarity + 0.5 * term_overlap", "help: the question's own words"),
    _score("recent", "similarity + 0.3 * recency", "help: facts that changed; harm: old ones"),
    _score("figures", "similarity + 0.5 * number_density", "help: questions for a figure"),
    _score("user", "similarity + 0.2 * speaker", "help: what the user said; harm: what was said"),
    _score("early", "similarity + 0.3 * (1 - position)", "help: what is stated once, at first"),
    _score("same", "similarity", "null: the order as it is"),
    _score("scaled", "0.5 * similarity + 1", "null: the order as it is"),
    _score("newest", "recency", "harm: relevance does not count"),
    _score("reverse", "-similarity", "harm: the least relevant first"),
    _score("only_figures", "number_density", "harm: relevance does not count"),
    _rules("distinct", "help: repetitions use up the budget",
           {"rule": "dedupe", "overlap": 0.8}),
    _rules("beside", "help: an answer that stands next to the words of its question",
           {"rule": "neighbour", "distance": 1, "first": 5}),
    _rules("spread", "help: evidence in several sessions",
           {"rule": "session_quota", "most": 3}),
    _rules("in_time", "null where the view is not cut: the first twenty by date",
           {"rule": "reorder", "by": "time", "order": "ascending", "first": 20}),
    _rules("drop_alike", "harm: what is alike is not the same",
           {"rule": "dedupe", "overlap": 0.3}),
    _rules("oldest_first", "harm: relevance does not count",
           {"rule": "reorder", "by": "position", "order": "ascending", "first": 500}),
)  # fmt: skip
"""16 patches: 10 of the score, 6 of the assembly. Prompts are those of the reader's operation."""
