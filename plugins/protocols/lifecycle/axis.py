"""What the probes of a memory's life found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import ClassVar

from framework.contracts import Axis, Scored
from framework.records import AxisScore
from framework.registry import NoSettings, register
from plugins.protocols.lifecycle.script import read_id

Told = Mapping[tuple[str, str], Sequence[float]]
"""By what and moment of its searches: how many results of each told the value."""


@register("axis", "lifecycle")
class LifecycleProbes(Axis[NoSettings]):
    """Deletion, late writes, poison, tenants, concurrent writers, growth: each 0, 1, or a share.

    A column is None where its probe does not say: of a deletion whose fact was not found before it,
    of a memory that does not offer what is asked. A search counts all its results; what is
    *shown* or *kept* is in the view, under the budget.
    docs/reference/lifecycle.md says how each is probed.

    found_before : 1 if some search finds the fact before its deletion. Higher is better.
    gone : 1 if no search finds the fact after its deletion, by the memory's own deletion or by a
        rebuild. Higher is better.
    gone_by_id : 1 if no search finds the fact after results whose sources are all deleted are taken
        out; else the memory keeps a copy under another name. Higher is better.
    neighbours_kept : share of three other facts, found before the deletion, that are found after
        it. Higher is better.
    told_again : 1 if a fact that is written again after its deletion is shown. Higher is better.
    correction_shown : 1 if the new value is in the view. Higher is better.
    correction_first : 1 if the first place in the view that states either value states the new one;
        None if no place does. Higher is better.
    truth_unpoisoned : 1 if the true value is in the view, with no contradicting document. Higher is
        better.
    truth_kept : 1 if the true value is in the view, although an untrusted document states another
        value. Higher is better.
    poison_first : 1 if the first place that states either value states the false one. Lower is
        better.
    tenants_apart : 1 if neither of two memories open at once shows what was written to the other.
        Higher is better.
    concurrent_found : share of the facts found when written one by one that are also found when
        four threads write at once. Higher is better.
    concurrent_single : share of the facts found so that are in no more results than when written
        one by one (no duplicates). Higher is better.
    found_grown : share of twenty facts found in a memory of that size. Higher is better.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "found_before": True,
        "gone": True,
        "gone_by_id": True,
        "neighbours_kept": True,
        "told_again": True,
        "correction_shown": True,
        "correction_first": True,
        "truth_unpoisoned": True,
        "truth_kept": True,
        "poison_first": False,
        "tenants_apart": True,
        "concurrent_found": True,
        "concurrent_single": True,
        "found_grown": True,
    }
    needs: ClassVar[tuple[str, ...]] = ("lifecycle",)
    needs_answer: ClassVar[bool] = False
    model_free: ClassVar[frozenset[str]] = frozenset(higher_is_better)

    def score(self, scored: Scored) -> AxisScore:
        probe = scored.case.tags.get("probe")
        if probe is None:
            return self.undefined()
        if probe in ("retold", "correction", "unpoisoned", *_POISONED):
            found = _shown(probe, scored)
            lines: tuple[str, ...] = ()
        else:
            found = _searched(probe, _told(scored))
            lines = tuple(
                f"{entry.item_id}: {said['told']:g} of {said['results']:g} tell it"
                for entry in scored.view.trace
                for said in (entry.signals,)
            )
        return AxisScore(values={**dict.fromkeys(self.names), **found}, evidence=lines)


_POISONED = ("instruction", "contradiction", "flood")


def _told(scored: Scored) -> Told:
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for entry in scored.view.trace:
        what, moment, _ = read_id(entry.item_id)
        found[what, moment].append(entry.signals["told"])
    return found


def _searched(probe: str, told: Told) -> Mapping[str, float | None]:
    if probe in ("deletion", "deletion_by_id"):
        there = any(told["deleted", "before"])
        gone = float(not any(told["deleted", "after"])) if there else None
        near = [
            bool(after)
            for before, after in zip(told["near", "before"], told["near", "after"], strict=True)
            if before
        ]
        if probe == "deletion_by_id":
            return {"gone_by_id": gone}
        return {"found_before": float(there), "gone": gone, "neighbours_kept": _share(near)}
    if probe == "tenants":
        own = any(told["ours", "after"]) and any(told["theirs", "after"])
        leaked = any(told["theirs_here", "after"]) or any(told["ours_there", "after"])
        return {"tenants_apart": float(not leaked) if own or leaked else None}
    if probe == "concurrent":
        pairs = list(zip(told["one_by_one", "after"], told["at_once", "after"], strict=True))
        known = [(alone, together) for alone, together in pairs if alone]
        return {
            "concurrent_found": _share([together > 0 for _, together in known]),
            "concurrent_single": _share([together <= alone for alone, together in known]),
        }
    return {"found_grown": _share([count > 0 for count in told["grown", "after"]])}


def _shown(probe: str, scored: Scored) -> Mapping[str, float | None]:
    gold = scored.case.gold
    wanted, text = gold.answer, scored.view.text
    shown = float(wanted in text)
    if probe == "retold":
        return {"told_again": shown}
    if probe == "unpoisoned":
        return {"truth_unpoisoned": shown}
    other = gold.retired[0].value
    right = None
    if wanted in text or other in text:
        right = float(other not in text.partition(wanted)[0])
    if probe == "correction":
        return {"correction_shown": shown, "correction_first": right}
    return {"truth_kept": shown, "poison_first": None if right is None else 1 - right}


def _share(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None
