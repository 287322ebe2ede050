"""One corpus in many stores: recall by depth, and by the pieces that a chain stands in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

import numpy as np

from framework.analysis.evidence import Job
from framework.analysis.forms import of_memory
from framework.contracts.recipe import AddFigure
from framework.registry import register
from framework.reporting.blocks import NOTHING, Block, Cell, Table, Text
from framework.reporting.figures.style import BLUE, GREEN, GREY, VERMILLION, Drawing, canvas
from framework.store.answers import answer_records
from plugins.recipes._cells import UNDEFINED, Measured, against, shown
from plugins.recipes._paper_values import printed
from plugins.recipes.depth._beside import printed_name
from plugins.recipes.depth._cases import depths_of, is_fair
from plugins.recipes.depth._knobs import Sweep, curves_by_depth, needs, placed, setting

_DEPTHS: Final = (1, 2, 3)
_P: Final = 0.92
"""What the paper gives for p (figure 12)."""
_EVENTS: Final = "full_context"
_NEEDED: Final = "oracle"
_INSTEAD: Final = {
    "Tag index": "tag_index",
    "Rolling summary": "rolling_summary",
    "Hierarchical docs": "hierarchical_docs",
    "Chat log": "chat_log",
    "GraphRAG": "community_summaries",
}
"""By a row that the paper places by hand, the arm here that is such a store."""
_WHY: Final = {
    "rerank_ce": "not in the sweep, as it needs weights from a model hub; rerank_lexical is",
}
"""By a printed row without a measured one, why there is none."""

Pieces = Mapping[str, str]
"""Texts of what a store keeps apart, by id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scattered:
    """How an arm's store keeps what a case of the deepest printed depth needs.

    sigma : the fewest pieces that hold all that the store holds of it, word for word; mean over
        cases of which it holds something. Pieces that stored edges join count as one. held : share
        of the statements that stand in some piece. shown : pieces of the view. whole : whether the
        store keeps every event.
    """

    sigma: float | None
    held: float
    shown: float
    whole: bool


def fewest(pieces: Iterable[frozenset[str]]) -> int:
    """The least number of pieces that hold together what all of them hold; 0 of nothing."""
    kinds = set(pieces)
    whole = frozenset[str]().union(*kinds)
    reached, n = {frozenset[str]()}, 0
    while whole not in reached:
        reached = {one | more for one in reached for more in kinds}
        n += 1
    return n


def scattered(needed: Mapping[str, Sequence[str]], stores: Mapping[str, Pieces]) -> tuple[
    float | None, float
]:  # fmt: skip
    """sigma, and the share held, of the statements of each case in its store; not None of one."""
    counts, shares = [], []
    for case, statements in needed.items():
        texts = stores[case].values()
        pieces = [frozenset(s for s in statements if s in text) for text in texts]
        held = frozenset[str]().union(*pieces)
        shares.append(len(held) / len(set(statements)))
        if held:
            counts.append(fewest(pieces))
    return (fmean(counts) if counts else None), fmean(shares)


def fitted(points: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """P of recall = p^sigma by least squares, its root mean square error, and that of p = .92."""
    sigma, recall = (np.array(one) for one in zip(*points, strict=True))

    def error(p: float) -> float:
        return float(np.sqrt(np.mean((recall - p**sigma) ** 2)))

    best = min(np.linspace(0.001, 1, 1_000).tolist(), key=error)
    return best, error(best), error(_P)


@register("recipe", "depth/table4")
class Organisation(Sweep):
    """Organisation sweep.

    Recall by depth of one corpus under every organisation, and by scatter, beside what is printed.
    """

    source = "Depth, Table 4 and Figure 12"
    needs = needs("organisation")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        by_arm = {arm: job for (arm,), job in placed(jobs).items()}
        curves = {
            arm: {point.x: point.measured for point in curve}
            for arm, curve in curves_by_depth(jobs, "recall").items()
        }
        found = _scatter(by_arm)
        yield Text(
            "Sigma here: of the statements that a case at depth 3 needs (what "
            f"`{_NEEDED}` is given: the entry, every link, the decision), those that the store "
            "holds word for word, and the fewest separate pieces that hold them. A piece is what "
            "the store keeps apart: an event, a note, a fact, a summary. Pieces that given edges "
            "join count as one, as the paper counts its typed store. Of what a model wrote, only "
            "what a view of the same corpus showed is known; other stores keep the events "
            f"themselves (the view of `{_EVENTS}`). The paper's sigma contradicts itself: Table 4 "
            "prints .04 to .36, its text says 1.0 to 34 of the same rows, and a number of pieces "
            "is not below 1. bm25, dense, hyde and rerank_ce, which store the same items, have "
            "four values in it."
        )
        rows: list[list[Cell | str]] = []
        for arm, texts, standing in _printed_beside(list(curves)):
            one = found.get(arm)
            rows.append(
                [
                    arm,
                    f"{texts['sigma'] or NOTHING} ({standing})" if texts else NOTHING,
                    shown(Measured(value=one.sigma)) if one else NOTHING,
                    shown(Measured(value=one.held)) if one else NOTHING,
                    shown(Measured(value=one.shown), 0) if one else NOTHING,
                    *(
                        against(curves.get(arm, {}).get(d, UNDEFINED), texts.get(f"R@{d}", ""))
                        for d in _DEPTHS
                    ),
                    _WHY.get(arm, ""),
                ]
            )
        yield Table(
            anchor="organisation",
            caption="Recall by depth; under each number its 95% interval and what the paper "
            "prints, reported where the authors measured it, modelled where they placed it",
            columns=("", "sigma printed", "sigma here", "statements stored", "pieces a view",
                     *(f"d = {depth}" for depth in _DEPTHS), "not measured here"),
            rows=rows,
        )  # fmt: skip
        if found:
            yield from _law(by_arm, found, curves, add_figure)


def _printed_beside(arms: Sequence[str]) -> Iterator[tuple[str, Mapping[str, str], str]]:
    """Every arm with its printed row, then the printed rows that no arm can have."""
    tables = printed("depth")["table_4"], printed("depth")["table_4_modelled"]
    left = {_INSTEAD.get(name, name): (table.row(name), table.standing)
            for table in tables for name in table.values}  # fmt: skip
    for arm in arms:
        texts, standing = left.pop(printed_name(arm), ({}, ""))
        yield arm, texts, standing
    for name in filter(_WHY.__contains__, left):
        yield name, *left[name]


def _scatter(jobs: Mapping[str, Job]) -> dict[str, Scattered]:
    """By arm; empty where no run of the events, or of what cases need, is there."""
    if _EVENTS not in jobs or _NEEDED not in jobs:
        return {}
    events, needs_ = _views(jobs[_EVENTS]), _views(jobs[_NEEDED])
    cases = [case for case, d in depths_of(jobs[_NEEDED].good).items() if d == max(_DEPTHS)]
    needed = {case: tuple(needs_[case].values()) for case in cases if case in events}
    if not needed:
        return {}
    found = {}
    for arm, job in jobs.items():
        use = job.summary["budget_use"]
        if use["sees_gold"] or not use["max_view_tokens"]:
            continue
        views, corpus = _views(job), job.means.clusters
        own = {case: needed[case] for case in needed if case in views}
        if not own:
            continue
        stores: dict[str | None, dict[str, str]] = defaultdict(dict)
        for case, view in views.items():
            stores[corpus[case]].update(view)
        # What drops nothing as it takes events in keeps all of them, if it shows any as they are.
        whole = use["budget_at"] != "ingest" and any(
            views[case].keys() & events[case] for case in own
        )
        for case in own if whole else ():
            stores[corpus[case]].update(events[case])
        sigma, held = scattered(own, {case: stores[corpus[case]] for case in own})
        if use["gold_edges"] and sigma is not None:
            sigma = 1.0 if _joined(job) else None
        shown_ = fmean(len(view) for view in views.values())
        found[arm] = Scattered(sigma=sigma, held=held, shown=shown_, whole=whole)
    return found


def _views(job: Job) -> dict[str, dict[str, str]]:
    """By case, the texts of its first view by the items' ids."""
    good = {row.case_id for row in of_memory(job.good)}
    found: dict[str, dict[str, str]] = {}
    for record in answer_records(job.path):
        case = record["key"][0]
        if case in good and case not in found:
            found[case] = {item["id"]: item["text"] for item in record["view"]}
    return found


def _joined(job: Job) -> bool:
    """Whether the run's corpora have the edges of every chain, all of them right."""
    capture, fidelity = setting(job, "domain.capture"), setting(job, "domain.fidelity")
    return bool(capture == "linked" and fidelity == 1)


def _law(
    jobs: Mapping[str, Job],
    found: Mapping[str, Scattered],
    curves: Mapping[str, Mapping[Any, Measured]],
    add_figure: AddFigure,
) -> Iterator[Block]:
    """Theorem 11 against recall at depth 3: ours, and what the paper prints."""
    deepest = max(_DEPTHS)
    at = {
        arm: (one.sigma, recall)
        for arm, one in found.items()
        if one.sigma is not None
        and (recall := curves[arm].get(deepest))
        and recall.value is not None
    }
    ours = [
        (sigma, recall.value or 0.0)
        for arm, (sigma, recall) in at.items()
        if is_fair(jobs[arm]) and not jobs[arm].summary["budget_use"]["gold_edges"]
    ]
    tables = printed("depth")["table_4"], printed("depth")["table_4_modelled"]
    theirs: dict[str, list[tuple[float, float]]] = {
        table.standing: [
            (float(row["sigma"]), float(row[f"R@{deepest}"]))
            for name in table.values
            if (row := table.row(name))["sigma"] and name != "brief_graph_3hop"
        ]
        for table in tables
    }
    every = [row for one in tables for name in one.values if (row := one.row(name))["sigma"]]
    sigmas, recalls = ([float(row[c]) for row in every] for c in ("sigma", f"R@{deepest}"))
    r = float(np.corrcoef(sigmas, [1 - recall for recall in recalls])[0, 1])
    sets = {
        "measured here": ours,
        "printed, reported": theirs["reported"],
        "printed, modelled too": theirs["reported"] + theirs["modelled"],
    }
    fits = {name: fitted(points) for name, points in sets.items() if points}
    yield Text(
        f"Theorem 11 has recall fall as p^sigma; the paper gives p = {_P}. Fitted by least squares "
        f"to recall at depth {deepest}, of arms under the budget without given edges, which the "
        f"paper leaves out too. With p = {_P} its printed sigma explain none of its recall: its "
        f"largest, .36, has p^sigma = {_P**0.36:.2f} where it prints .57. Over its {len(every)} "
        f"rows with a sigma, sigma and 1 - recall at depth {deepest} correlate with r = {r:.2f}."
    )
    yield Table(
        anchor="scatter-law",
        caption=f"p^sigma against recall at depth {deepest}: the fitted p, and root mean square "
        "errors",
        columns=("", "rows", "fitted p", "error", f"error at p = {_P}"),
        rows=[
            [name, str(len(sets[name])), *(Cell(text=f"{x:.3f}", value=x) for x in fit)]
            for name, fit in fits.items()
        ],
    )
    yield from add_figure(_figure(jobs, found, at, theirs, fits))


def _figure(
    jobs: Mapping[str, Job],
    found: Mapping[str, Scattered],
    at: Mapping[str, tuple[float, Measured]],
    theirs: Mapping[str, Sequence[tuple[float, float]]],
    fits: Mapping[str, tuple[float, float, float]],
) -> Drawing:
    """Recall at depth 3 by sigma. at : sigma and recall by arm. theirs : the printed, by kind."""
    deepest = max(_DEPTHS)
    kinds = {
        "measured here, events": (BLUE, "o", True),
        "measured here, pieces of a model": (VERMILLION, "s", True),
        "measured here, given edges": (GREEN, "D", True),
        "measured here, not under the budget": (GREY, "^", True),
        "printed, reported": (GREY, "o", False),
        "printed, modelled": (GREY, "x", False),
    }
    told = []
    with canvas(7.2, 4.4) as (figure, panels):
        panel = panels[0][0]
        xs = np.geomspace(0.03, 10, 200)
        panel.plot(xs, _P**xs, color=GREY, lw=1, ls="--", label=f"p = {_P} (paper)")
        for name, style in (("measured here", "-"), ("printed, reported", ":")):
            if name in fits:
                p = fits[name][0]
                panel.plot(xs, p**xs, color=BLUE if "here" in name else GREY, lw=1, ls=style,
                           label=f"p = {p:.2f}, fitted: {name}")  # fmt: skip
        points: dict[str, list[tuple[float, Measured]]] = {kind: [] for kind in kinds}
        for arm, (sigma, recall) in at.items():
            use = jobs[arm].summary["budget_use"]
            kind = (
                "not under the budget" if use.get("unbudgeted")
                else "given edges" if use["gold_edges"]
                else "events" if found[arm].whole
                else "pieces of a model"
            )  # fmt: skip
            points[f"measured here, {kind}"].append((sigma, recall))
            told.append(f"{arm} {sigma:.2f}, {recall.value:.2f}")
        for standing, rows in theirs.items():
            points[f"printed, {standing}"] = [(x, Measured(value=y)) for x, y in rows]
        for kind, (colour, marker, filled) in kinds.items():
            own = sorted(points[kind], key=lambda point: (point[0], point[1].value or 0.0))
            x = [sigma * 1.03 ** (i - len(own) / 2) if "here" in kind else sigma
                 for i, (sigma, _) in enumerate(own)]  # fmt: skip
            for place, (_, recall) in zip(x, own, strict=True):
                if recall.low is not None and recall.high is not None:
                    panel.plot(
                        [place] * 2, [recall.low, recall.high], color=colour, lw=0.7, alpha=0.5
                    )
            if own:
                panel.plot(x, [recall.value or 0.0 for _, recall in own], ls="", marker=marker,
                           color=colour, label=kind, mfc=colour if filled else "none")  # fmt: skip
        panel.set_xscale("log")
        panel.set(
            xlabel="sigma (log axis)", ylabel=f"recall at depth {deepest}", ylim=(-0.03, 1.05)
        )
        figure.legend(loc="outside right upper")
    return Drawing(
        name="depth-organisations",
        title="Recall at depth 3 by scatter",
        caption="The paper's Figure 12, right panel. Its sigma, .04 to .36, is another "
        "quantity than a number of pieces, so that its rows stand beside ours and can't be "
        "compared with them along this axis. Points of ours are set a little apart. Lines are fits "
        "or the paper's p, not measured.",
        alt="sigma and recall: " + "; ".join(told),
        figure=figure,
    )
