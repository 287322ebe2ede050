"""Recipes of the Depth paper: what they print, made again from the rows of small sweeps."""

from __future__ import annotations

import json
import re
import zlib
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy import stats

import run as command
from framework.analysis.evidence import Job, load
from framework.errors import UserError
from framework.records import Row
from framework.registry import find, plugins
from framework.sandbox import available
from framework.store.answers import answer_records
from plugins.recipes._paper_values import printed
from plugins.recipes.depth._decay import LAWS
from plugins.recipes.depth._knobs import by_setting, setting
from plugins.recipes.depth.costs import edges_of
from plugins.recipes.depth.organisation import _printed_beside
from tests.launching import framework
from tests.plugins.recipes.depth.views import VIEWS, captioned
from tests.plugins.recipes.pages import Printed, at, depth, mean, near, tables, values

EXPERIMENTS = Path(__file__).resolve().parents[4] / "conf" / "experiment" / "depth"
CORPUS = (
    *("domain.items=400", "domain.query=ticket", "domain.naming=explicit"),
    "domain.forms=development",
)
"""Memories are asked with the ticket, so that lexical ones find something of six tasks, which are
all worded as the reader reads."""
SMALL = ("n_cases=6", *CORPUS, "embedder=hashing", "report=false")
"""Six tasks: a corpus of its own setting, too few for any interval."""

SWEEPS = {
    "phase": ("domain.rho=0.5,0.9", "arch=bm25,typed_graph", "n_cases=8"),
    "corpus_size": ("domain.items=300,400", "arch=bm25,typed_graph"),
    "rate": ("domain.items=300,400", "arch=none,oldest_first,oracle"),
    "distractors": ("domain.distractors=0,8", "arch=bm25,typed_graph"),
    "supersession": ("domain.versions=1,2", "arch=typed_graph"),
    "scatter": ("domain.scatter=1,2", "arch=typed_graph"),
    "hops": ("arch=typed_graph", "arch.hops=1,null"),
    "decay_ablation": ("arch=typed_graph", "arch.decay=0,1"),
    "pruning": ("arch=typed_graph_no_edges,typed_graph,typed_graph_pruned", "n_cases=8"),
    "visibility": ("domain.visibility=0,1", "arch=bm25"),
    "fidelity": ("domain.fidelity=0.5,1", "arch=typed_graph"),
    "edge_noise": ("domain.edge_noise=dropped,stale", "arch=typed_graph"),
    "maintenance": ("domain.fidelity=0.5,1", "arch=bm25,typed_graph_pruned"),
    "seed_traversal": ("arch=bm25,typed_graph", "n_cases=8"),
    "budget_surface": ("domain.distractors=0,2", "budget.tokens=500,1000", "arch=dense"),
    "organisation": ("arch=bm25,chat_log,typed_graph,summ_only,full_context,oracle",),
    "capture": ("domain.capture=linked,raw", "extractor=none,rules", "arch=typed_graph_pruned"),
    "capture_noise": (
        "domain.capture_noise={missing:0},{missing:0.5},{wrong:0.5}",
        "arch=none,typed_graph_pruned",
        "prereg=none",
        "seed=7",
        "n_cases=12",
        "domain.tasks_per_history=1",
    ),
    "agentic": ("reader=commit,agentic", "arch=bm25", "n_cases=8"),
    "cross_model": ("model=rule_based,rule_based_noisy", "arch=none,bm25,oracle"),
    "intervention": ("arch=none,typed_graph",),
    "causal_use": ("arch=none,typed_graph", "n_cases=12"),
    # raptor's memory is a model's: it has recall of the forms that the model reads alone.
    "crossover": ("arch=none,bm25,typed_graph", "n_cases=16"),
    "paper_geometry": ("arch=none,bm25,typed_graph", "n_cases=9"),
    "four_cell": ("domain.spec=full,stripped", "arch=none,oracle", "n_cases=3"),
}
"""By experiment: what is left of it here."""

Check = Callable[[list[Job], dict[str, Printed], str], None]
"""Takes the jobs, the tables of the page by caption, and the page as Markdown."""


def by_knob(key: str, *axes: str) -> Check:
    """Every mean of every axis, by arm and value of a setting."""

    def check(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
        for axis in axes:
            table = pages[f"{axis} by {key}"]
            for job in jobs:
                value = setting(job, key)
                arm = job.arm.partition("(")[0] if key.startswith("arch.") else job.arm
                column = value if isinstance(value, str) else f"{value:g}"
                if values(job, axis):
                    near(table.number(arm, column), mean(job, axis))

    return check


def by_depth(
    caption: str = "{axis} by depth",
    *axes: str,
    label: Callable[[Job], str] = lambda job: job.arm,
    column: str = "{depth}",
    digits: int = 2,
) -> Check:
    """Every mean of every axis, by arm and depth."""

    def check(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
        for axis in axes:
            table = pages[caption.format(axis=axis)]
            for job in jobs:
                for level in {depth(row) for row in job.rows}:
                    if values(job, axis, at(level)):
                        shown = table.number(label(job), column.format(depth=level))
                        near(shown, mean(job, axis, at(level)), digits)

    return check


def organisations(jobs: list[Job], pages: dict[str, Printed], text: str) -> None:
    caption = next(c for c in pages if c.startswith("Recall by depth; under each number"))
    by_depth(caption, "recall", column="d = {depth}", digits=3)(jobs, pages, text)
    table = pages[caption]
    sigma, stored = "sigma here", "statements stored"
    # Three links join four events; who states a link is one of the two that it joins.
    for arm in ("bm25", "chat_log", "full_context"):
        assert 3 <= table.number(arm, sigma) <= 4
        assert table.number(arm, sigma) == table.number("bm25", sigma)
        near(table.number(arm, stored), 1, 2)
    near(table.number("typed_graph", sigma), 1, 2)
    assert table.number("summ_only", stored) < 1
    assert table.text("chat_log", "sigma printed") == "0.33 (modelled)"
    assert table.text("bm25", "sigma printed") == "0.19 (reported)"
    (_, texts, standing), *_ = _printed_beside(["community_summaries"])
    assert (texts["sigma"], texts["R@3"], standing) == ("0.24", "0.74", "modelled")
    assert table.text("rerank_ce", "d = 3").startswith("–")
    assert "weights" in table.text("rerank_ce", "not measured here")
    assert "oracle" not in text.partition("p^sigma against recall")[2]


def crossover(jobs: list[Job], pages: dict[str, Printed], text: str) -> None:
    by_depth("{axis} by depth", "recall", "compliance", "kappa")(jobs, pages, text)
    by_arm = {job.arm: job for job in jobs}
    slopes = next(t for caption, t in pages.items() if caption.startswith("Slope of recall"))
    for arm, job in by_arm.items():
        found = values(job, "recall")
        levels = {row.case_id: depth(row) for row in job.rows}
        fitted = np.polyfit([levels[case] for case in found], list(found.values()), 1)[0]
        near(slopes.number(arm, "recall a hop"), fitted, 3)
        ends = mean(job, "recall", at(8)) - mean(job, "recall", at(1))
        near(slopes.number(arm, "end to end"), ends)
    leads = next(t for caption, t in pages.items() if caption.startswith("Lead in recall"))
    for level in range(1, 9):
        means = {arm: mean(job, "recall", at(level)) for arm, job in by_arm.items()}
        lead = means["typed_graph"] - max(means["none"], means["bm25"])
        near(leads.number("typed_graph", f"d = {level}"), lead)
    method = pages["Depth of crossover in recall"].text("typed_graph", "interval by")
    assert method.startswith("no interval: 1 cluster")  # 16 tasks of two corpora


def hitting_time(jobs: list[Job], pages: dict[str, Printed], text: str) -> None:
    """1 over every recall; and what the theorem has at the paper's constants, worked by hand."""
    table = pages["Retrievals until the decision is found, by depth"]
    for job in jobs:
        recalls = [mean(job, "recall", at(level)) for level in range(1, 9)]
        for level, recall in enumerate(recalls, start=1):
            if recall:
                near(table.number(job.arm, f"d{level}"), 1 / recall, 1)
            else:
                assert table.text(job.arm, f"d{level}").startswith("none found")
        if all(recalls):
            near(table.number(job.arm, "growth"), recalls[0] / recalls[-1], 1)
        else:
            assert table.text(job.arm, "growth") == "–"
    # 1 / (.7 * .67), 1 / (.49 * .67^3), 1 / (.343 * .67^6)
    told = [table.text("theorem: similarity, at least", f"d{level}") for level in (1, 2, 3)]
    assert told == ["2.1", "6.8", "32.2"]
    assert [table.number("theorem: traversal, operations", f"d{level}") for level in (1, 8)] == [
        1,
        8,
    ]
    assert table.number("theorem: traversal, operations", "growth") == 8


def fragments(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    """Of the records: the share of parts in the views, and of cases with both."""
    table = pages["Fragments in the view, and decisions of which all are"]
    places = pages["Bits and probes to locate all fragments"]
    best = {}
    for job in jobs:
        sigma = setting(job, "domain.scatter")
        kept = [record["retained"] for record in answer_records(job.path)]
        names = [f"part:{i}" for i in range(1, sigma + 1)] if sigma > 1 else ["decision"]
        assert all(set(names) <= held.keys() for held in kept)
        p = sum(held[name] for held in kept for name in names) / len(names) / len(kept)
        best[sigma] = p
        if sigma == 2:
            assert table.text(job.arm, "sigma") == "2"
            near(table.number(job.arm, "fragments held (p)"), p, 3)
            both = sum(held["part:1"] and held["part:2"] for held in kept) / len(kept)
            assert both == mean(job, "recall")
            near(table.number(job.arm, "all held"), both, 3)
            near(table.number(job.arm, "bound p^sigma"), p * p, 3)
            assert table.text(job.arm, "all held is") == "no limits"  # one corpus
    assert [row[0] for row in table.rows] == ["typed_graph"]
    assert [row[:4] for row in places.rows] == [
        ["1", "400", "8.6", "8.6"],  # log2 400
        ["2", "800", "18.3", "17.3"],  # log2 (800 * 799 / 2), 2 log2 400
    ]
    for row in places.rows:
        near(float(row[4]), best[int(row[0])], 3)
        assert row[5] == (f"{int(row[0]) / best[int(row[0])]:.1f}" if best[int(row[0])] else "–")


def rate(jobs: list[Job], pages: dict[str, Printed], text: str) -> None:
    """Bits of the views over records, and recall; only of the arm that is not asked."""
    (table,) = pages.values()
    seen = [job for job in jobs if job.arm == "oldest_first"]
    assert {row[0] for row in table.rows} == {"oldest_first"}
    assert len(table.rows) == len(seen) == 2
    for job, row in zip(
        sorted(seen, key=lambda job: float(setting(job, "domain.items"))), table.rows, strict=True
    ):
        items = int(setting(job, "domain.items"))
        views = [record["view"] for record in answer_records(job.path)]
        packed = [len(zlib.compress("\n".join(i["text"] for i in v).encode(), 9)) for v in views]
        bits = 8 * (sum(packed) / len(packed) - 6)  # without zlib's header and checksum
        assert row[1] == str(items)
        near(float(row[3]), bits / items)
        assert row[2] == f"{bits / (sum(map(len, views)) / len(views)):,.0f}"
        near(float(row[5].split()[0]), mean(job, "recall"), 3)
        # About 8,000 bits over 300 or 400 records are far more than 7.66 a record.
        assert row[4] == "1.000"
        assert row[6] == "not bounded"
    assert "H is 7.66 bits here, of the 231 values" in text


def regret(jobs: list[Job], pages: dict[str, Printed], text: str) -> None:
    """Errors counted task after task; the floor worked by hand in test_regret.py."""
    blind, others = pages["Errors without context"], pages["Errors with context"]
    assert [row[0] for row in blind.rows] == ["none†"]
    assert [row[0] for row in others.rows] == ["typed_graph†"]
    for job in jobs:
        table = blind if job.arm == "none" else others
        errors = [1 - value for _, value in sorted(values(job, "compliance").items())]
        assert len(errors) == 6
        # 2 (1.5 to even), 3, 4 (4.5 to even) and 6 tasks
        stops = dict(zip(("1/4 of the tasks", "2/4 of the tasks", "3/4 of the tasks", "all tasks"),
                         (2, 3, 4, 6), strict=True))  # fmt: skip
        for column, stop in stops.items():
            told = f"{sum(errors[:stop]):.0f} of {stop} floor {0.9565 * stop:.1f}"
            assert table.text(f"{job.arm}†", column) == told
        near(table.number(f"{job.arm}†", "errors a task"), sum(errors) / 6, 3)
    assert "The floor of a task is 0.9565 here" in text


def decay(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    """The error of each law with the parameters beside it, and the weights of the criteria."""
    (table,) = pages.values()
    by_arm = {job.arm: job for job in jobs}
    above, weights = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    arm = ""
    for row in table.rows:
        arm = row[0] or arm
        levels = sorted({depth(r) for r in by_arm[arm].rows})
        recalls = np.array([mean(by_arm[arm], "recall", at(level)) for level in levels])
        parameters = dict(text.split(" ") for text in row[2].split(", "))
        law = LAWS[row[1].replace(" ", "_")]
        said = law.recall(np.array(levels, float), **{k: float(v) for k, v in parameters.items()})
        near(float(row[5]), float(np.sqrt(np.mean((said - recalls) ** 2))), 1)
        above[arm].append(float(row[3]))
        weights[arm].append(float(row[4]))
    assert above
    for arm, found in above.items():
        support = np.exp(-np.array(found) / 2)
        assert np.allclose(weights[arm], support / support.sum(), atol=0.03)


def phase(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    table = pages["Recall of typed_graph minus bm25 by drift (rows) and depth (columns)"]
    by_place = {(job.arm, setting(job, "domain.rho")): job for job in jobs}
    for rho in (0.5, 0.9):
        ours, theirs = by_place["typed_graph", rho], by_place["bm25", rho]
        for level in range(1, 9):
            gain = mean(ours, "recall", at(level)) - mean(theirs, "recall", at(level))
            near(table.number(f"rho = {rho}", f"d = {level}"), gain)
            # Equation 9 with the domain's visibility of .9 and intact edges.
            predicted = 1 - 0.9**level * rho ** (level * (level + 1) / 2)
            assert f"predicted {predicted:+.2f}" in table.text(f"rho = {rho}", f"d = {level}")


def look_alikes(jobs: list[Job], pages: dict[str, Printed], text: str) -> None:
    by_knob("domain.distractors", "recall", "distractor_share")(jobs, pages, text)
    table = pages["recall kept by domain.distractors"]
    by_place = {(job.arm, setting(job, "domain.distractors")): job for job in jobs}
    for arm in ("bm25", "typed_graph"):
        share = mean(by_place[arm, 8], "recall") / mean(by_place[arm, 0], "recall")
        near(table.number(arm, "8"), share)


def surface(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    table = pages["Recall of dense(lexical) by budget in tokens and look-alike chains a task"]
    for job in jobs:
        tokens, chains = setting(job, "budget.tokens"), setting(job, "domain.distractors")
        near(table.number(f"{tokens} tokens", f"{chains} chains"), mean(job, "recall"))


def printed_table(number: str, axes: dict[str, str]) -> Check:
    """A table beside a printed one, whose columns are axes."""

    def check(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
        table = next(t for caption, t in pages.items() if caption.startswith(f"{number}."))
        for job in jobs:
            for column, axis in axes.items():
                near(table.number(job.arm, column), mean(job, axis), 3)
        assert "printed" in table.text("bm25", next(iter(axes)))

    return check


def depth_table(number: str, axis: str) -> Check:
    """A table beside a printed one, by depth and with what the paper calls a slope."""

    def check(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
        table = next(t for caption, t in pages.items() if caption.startswith(f"{number}."))
        for job in jobs:
            means = {level: mean(job, axis, at(level)) for level in (1, 2, 3)}
            for level, exact in means.items():
                near(table.number(job.arm, f"d={level}"), exact, 3)
            if "slope" in table.columns:
                near(table.number(job.arm, "slope"), means[3] - means[1], 3)

    return check


def _lost(row: Row) -> float:
    return float(row.axes["kappa"] is None and row.axes["compliance"] == 0)


def _unused(row: Row) -> float:
    return float(row.axes["kappa"] is not None and row.axes["compliance"] == 0)


def failures(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    table = next(t for caption, t in pages.items() if caption.startswith("Table 34."))
    for job in jobs:
        lost, unused = mean(job, _lost), mean(job, _unused)
        if lost + unused:
            near(table.number(job.arm, "not retrieved %"), 100 * lost / (lost + unused), 1)
            near(table.number(job.arm, "retrieved and not used %"),
                 100 * unused / (lost + unused), 1)  # fmt: skip


def failures_drawn(jobs: list[Job], _: dict[str, Printed], text: str) -> None:
    for job in jobs:
        told = f"{job.arm} at absolute: {mean(job, _lost):.2f} and {mean(job, _unused):.2f}"
        assert told in text


def ranks(jobs: list[Job], pages: dict[str, Printed], text: str) -> None:
    """Mean ranks by compliance, ties sharing theirs."""
    (table,) = pages.values()
    columns = [values(job, "compliance") for job in jobs]
    by_case = np.array([[column[case] for column in columns] for case in columns[0]])
    expected = stats.rankdata(-by_case, axis=1).mean(axis=0)
    for job, rank in zip(jobs, expected, strict=True):
        near(table.number(job.arm, "budget absolute"), rank)


def forest(jobs: list[Job], _: dict[str, Printed], text: str) -> None:
    """Every pair of arms on every headline axis that has a better direction and a value."""
    drawn = [
        row for row in load(jobs[0].path.parent).sweep["comparisons"] if row["delta"] is not None
    ]
    assert f"Forest plot of {len({(r['arm_a'], r['arm_b']) for r in drawn})} paired" in text
    assert all(f" {row['axis']}" in text for row in drawn if row["axis"] in ("recall", "f1"))


def pareto(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    table = next(t for caption, t in pages.items() if "and cost an answer" in caption)

    def tokens(row: Row) -> float:
        spent = [row.usage[phase] for phase in ("recall", "answer") if phase in row.usage]
        return float(sum(usage.tokens_in + usage.tokens_out for usage in spent))

    for job in jobs:
        near(table.number(job.arm, "success"), mean(job, "compliance"), 3)
        assert table.text(job.arm, "cost") == f"{mean(job, tokens):,.0f}"


def returns(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    """Successes per 1,000 tokens of recall and answer."""
    table = next(t for caption, t in pages.items() if caption.startswith("Figure 32."))

    def tokens(row: Row) -> float:
        spent = [row.usage[phase] for phase in ("recall", "answer") if phase in row.usage]
        return float(sum(usage.tokens_in + usage.tokens_out for usage in spent))

    for job in jobs:
        near(table.number(job.arm, "RoT"), 1000 * mean(job, "compliance") / mean(job, tokens), 3)


def returns_by_depth(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    """Successes per 1,000 tokens of recall and answer, at each depth."""
    table = next(t for caption, t in pages.items() if caption.startswith("Table 26."))
    for job in jobs:
        for level in (1, 2, 3):
            rows = [row for row in job.rows if row.depth == level]
            used = [u for row in rows for p, u in row.usage.items() if p in ("recall", "answer")]
            spent = sum(usage.tokens_in + usage.tokens_out for usage in used)
            right = sum(row.axes["compliance"] or 0 for row in rows)
            near(table.number(job.arm, f"d={level}"), 1000 * right / spent, 3)


def tokens_by_depth(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    table = next(t for caption, t in pages.items() if caption.startswith("Figure 31."))
    for job in jobs:
        for level in (1, 2, 3):
            found = [row.view_tokens for row in job.rows if row.depth == level]
            near(table.number(job.arm, f"d={level}"), float(np.mean(found)), 0)


def effect_sizes(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    table = pages["Cohen's h by axis"]
    typed = next(job for job in jobs if job.arm == "typed_graph")
    assert {row[1] for row in table.rows} == {job.arm for job in jobs} - {"typed_graph"}
    for row in table.rows:
        other = next(job for job in jobs if job.arm == row[1])
        for axis, cell in zip(table.columns[2:], row[2:], strict=True):
            angles = [2 * np.arcsin(np.sqrt(mean(job, axis))) for job in (typed, other)]
            near(float(cell), float(angles[0] - angles[1]))


def scorecard(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    table = next(t for caption, t in pages.items() if caption == "Comparisons by result")
    rows = load(jobs[0].path.parent).sweep["comparisons"]
    for job in jobs:
        own = sum(job.arm in (row["arm_a"], row["arm_b"]) for row in rows)
        assert table.number(job.arm, "all") == own
        assert sum(float(cell) for cell in next(r for r in table.rows if r[0] == job.arm)[1:-1]) \
            == own  # fmt: skip


def readers(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    table = pages["Compliance by arm and reader"]
    orders: dict[str, list[float]] = {}
    for job in jobs:
        model = str(job.summary["run"]["model"])
        orders.setdefault(model, []).append(mean(job, "compliance"))
        near(table.number(job.arm, model), mean(job, "compliance"))
    tau = stats.kendalltau(*orders.values()).statistic
    agreed = next(t for caption, t in pages.items() if caption.startswith("Kendall's tau-b"))
    near(agreed.number("rule_based", "tau-b"), tau)


def maintenance(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    table = pages["Repairs a corpus, and what they earn"]
    by_place = {(job.arm, setting(job, "domain.fidelity")): job for job in jobs}
    first, last = (by_place["typed_graph_pruned", q] for q in (0.5, 1))
    reports = (last.path / "answers.jsonl").read_text().splitlines()
    edges = json.loads(reports[0])["arch_report"]["edges"]
    assert edges_of(last) == edges
    row = next(row for row in table.rows if row[1] == "1")
    assert row[2] == f"{edges * 0.5:.0f}"
    gained = (mean(last, "recall") - mean(first, "recall")) / (edges * 0.5)
    near(float(row[4].split()[0].rstrip("\\*")), 100 * gained, 3)
    without = pages["recall of arms without edges"]
    near(without.number("bm25", "0.5"), mean(by_place["bm25", 0.5], "recall"))


def lifts(jobs: list[Job], pages: dict[str, Printed], text: str) -> None:
    table = pages["Lift over no memory by axis"]
    by_arm = {job.arm: job for job in jobs}
    told = {row[1].partition(" (")[0]: row for row in table.rows}
    # Not the headline alone, and nothing that describes the task.
    assert {"precision", "f1", "map", "recall_at_5", "distractor_share"} <= told.keys()
    assert "Without a task where both define it: entry_rank" in text
    assert not {"depth", "achieved_rho", "gold_tokens"} & told.keys()
    for axis, row in told.items():
        ours, none = values(by_arm["typed_graph"], axis), values(by_arm["none"], axis)
        both = ours.keys() & none.keys()
        lift = sum(ours[case] - none[case] for case in both) / len(both)
        near(float(row[4].split()[0].rstrip("\\*")), lift, 3)
        assert row[5] == str(len(both))
    deep = pages["Lift in compliance over no memory by depth"]
    level = int(deep.columns[1].removeprefix("d = "))
    ours, none = (mean(by_arm[arm], "compliance", at(level)) for arm in ("typed_graph", "none"))
    near(deep.number("typed_graph", deep.columns[1]), ours - none, 3)


def four_cells(jobs: list[Job], pages: dict[str, Printed], text: str) -> None:
    table = captioned(pages, "Compliance with and without the specification")
    for job in jobs:
        spec = "full_spec" if setting(job, "domain.spec") == "full" else "stripped"
        for column, axis in (("compliance", "compliance"), ("merge ready", "merge_ready")):
            near(table.number(f"{spec}/{job.arm}", column), mean(job, axis), 3)
    assert "domain.spec full, stripped" in text


def on_real_code(jobs: list[Job], pages: dict[str, Printed], text: str) -> None:
    """The stripped cells alone: with the whole specification another arm would have the row."""
    assert not all(setting(job, "domain.spec") == "stripped" for job in jobs)
    shown = {"Table 9.": ("recall", "compliance", "precision"), "Table 35.": (), "Table 58.": ()}
    for start, columns in shown.items():
        (table,) = (page for caption, page in pages.items() if caption.startswith(start))
        for job in jobs:
            if setting(job, "domain.spec") == "stripped":
                for column in columns:
                    near(table.number(job.arm, column), mean(job, column), 3)
    assert {f"{axis} by depth" for axis in ("compliance", "recall", "precision")} <= pages.keys()


def agentic(jobs: list[Job], pages: dict[str, Printed], text: str) -> None:
    name = "{job.arm}, {reader}"
    by_depth(
        "{axis} by depth", "recall", "compliance",
        label=lambda job: name.format(job=job, reader=job.summary["run"]["reader"]),
    )(jobs, pages, text)  # fmt: skip


def doses(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    """Means by dose, and slopes per tenth, which over two doses are a fifth of the difference."""
    seen = 0
    for axis in ("recall", "compliance"):
        for kind in ("missing", "wrong"):
            table = pages[f"{axis} by share {kind}"]
            for arm in ("none", "typed_graph_pruned"):
                found = {
                    dose: mean(job, axis)
                    for job in jobs
                    for dose in [setting(job, f"domain.capture_noise.{kind}")]
                    if job.arm == arm and no_other(job, kind)
                }
                assert sorted(found) == [0, 0.5]
                for dose, value in found.items():
                    near(table.number(arm, f"{dose:g}"), value)
                near(table.number(arm, "per .1"), (found[0.5] - found[0]) / 5, 3)
                seen += found[0.5] != found[0]
                if arm == "none":
                    assert found[0.5] == found[0]
                    assert table.text(arm, "p") == "1.0000"
    assert seen


def no_other(job: Job, kind: str) -> bool:
    others = {"missing", "wrong", "duplicated"} - {kind}
    return not any(setting(job, f"domain.capture_noise.{other}") for other in others)


def under_intervention(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    """Kappa and leak as observed and under intervention, and the difference of the means."""
    table = pages["kappa and leak as observed, and under intervention"]
    for job in jobs:
        for column, axis in (("gold put in", "kappa_inserted"), ("gold taken out", "leak_removed")):
            near(table.number(job.arm, column), mean(job, axis))
        assert table.number(job.arm, "n") == len(values(job, "use_effect")) > 0
        if values(job, "kappa"):
            gap = mean(job, "kappa_inserted") - mean(job, "kappa")
            near(table.number(job.arm, "difference"), gap)


CHECKS: dict[str, tuple[str, Check]] = {
    "depth/F016": ("crossover", crossover),
    "depth/hitting_time": ("crossover", hitting_time),
    "depth/fragments": ("scatter", fragments),
    "depth/regret": ("intervention", regret),
    "depth/rate": ("rate", rate),
    "depth/F035": ("crossover", decay),
    "depth/F036": ("phase", phase),
    "depth/F040": ("distractors", look_alikes),
    "depth/F042": ("corpus_size", by_knob("domain.items", "recall")),
    "depth/F089": ("supersession", by_knob("domain.versions", "supersession", "recall")),
    "depth/capture": ("capture", by_knob("domain.capture", "recall", "compliance")),
    "depth/capture_noise": ("capture_noise", doses),
    "depth/F046": ("hops", by_knob("arch.hops", "recall")),
    "depth/decay": ("decay_ablation", by_knob("arch.decay", "recall")),
    "depth/edge_noise": ("edge_noise", by_knob("domain.edge_noise", "recall")),
    "depth/visibility": ("visibility", by_knob("domain.visibility", "recall", "entry_rank")),
    "depth/fidelity": ("fidelity", by_knob("domain.fidelity", "recall")),
    "depth/scatter": ("scatter", by_knob("domain.scatter", "recall")),
    "depth/surface": ("budget_surface", surface),
    "depth/table4": (
        "organisation",
        organisations,
    ),
    "depth/pruning": ("pruning", by_depth("{axis} by depth", "recall", "precision")),
    "depth/agentic": ("agentic", agentic),
    "depth/cross_model": ("cross_model", readers),
    "depth/maintenance": ("maintenance", maintenance),
    "depth/table39": ("seed_traversal", by_depth("{axis} by depth", "recall")),
    "depth/F017": ("intervention", lifts),
    "depth/causal_use": ("causal_use", under_intervention),
    "depth/table6": (
        "paper_geometry",
        printed_table("Table 6", {"compliance": "compliance", "recall": "recall", "F1": "f1",
                                  "merge-ready": "merge_ready"}),
    ),
    "depth/table7": ("paper_geometry", depth_table("Table 7", "compliance")),
    "depth/table67": ("paper_geometry", depth_table("Table 67", "recall")),
    "depth/table34": ("paper_geometry", failures),
    "depth/figure32": ("paper_geometry", returns),
    "depth/table26": ("paper_geometry", returns_by_depth),
    "depth/figure31": ("paper_geometry", tokens_by_depth),
    "depth/figure50": ("paper_geometry", effect_sizes),
    "depth/F023": ("paper_geometry", ranks),
    "depth/F024": ("paper_geometry", forest),
    "depth/F027": ("paper_geometry", failures_drawn),
    "depth/F020": ("paper_geometry", pareto),
    "depth/table10": ("paper_geometry", scorecard),
    "depth/F049": ("four_cell", four_cells),
    "depth/table9": ("four_cell", on_real_code),
    **VIEWS,
}  # fmt: skip
"""By recipe: the experiment that it is of, and what is made again of its page."""
OF_TWO = {"depth/F087"}
"""Recipes that set sweeps side by side."""


@pytest.fixture(scope="module")
def sweeps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The sweeps made so far, by experiment."""
    return {"": tmp_path_factory.mktemp("depth")}


def sweep(sweeps: dict[str, Path], name: str) -> Path:
    if name not in sweeps:
        sweeps[name] = sweeps[""] / name
        given = {s.split("=")[0] for s in SWEEPS[name]}
        small = [o for o in SMALL if o.split("=")[0] not in given]
        if name == "four_cell":  # another domain
            small = [o for o in small if o not in CORPUS]
        place = f"hydra.sweep.dir={sweeps[name]}"
        argv = ["-m", f"+experiment=depth/{name}", *SWEEPS[name], *small, "baseline=null", place]
        assert command.main(argv) == 0
    return sweeps[name]


def as_printed(recipe: type, jobs: list[Job], pages: dict[str, Printed]) -> None:
    """Every number of the paper's tables that a recipe has beside or below its own."""
    for name in getattr(recipe, "beside", ()):
        source = printed("depth")[name]
        table = captioned(pages, f"{source.source} as the paper prints it")
        for label, row in source.values.items():
            for column, value in zip(source.columns, row, strict=True):
                assert table.text(label, column) == (value or "–")
    for name in getattr(recipe, "also", ()):
        source = printed("depth")[name]
        table = captioned(pages, f"{source.source}.")
        both = [job.arm for job in jobs if job.arm in source.values]
        assert both
        for arm in both:
            for column, value in source.row(arm).items():
                assert not value or f"printed {value}" in table.text(arm, column)


def test_every_recipe_is_checked_on_its_experiment() -> None:
    found = (p for p in plugins("recipe") if p.name.startswith("depth/"))
    depth_recipes = {p.name: p.cls for p in found if p.cls.needs}
    assert CHECKS.keys() == depth_recipes.keys()
    for name, (experiment, _) in CHECKS.items():
        assert depth_recipes[name].needs.endswith(f"+experiment=depth/{experiment}")


@pytest.mark.parametrize("name", SWEEPS)
def test_what_a_recipe_is_checked_on_is_a_part_of_its_experiment(name: str) -> None:
    """A page of arms that its experiment does not run could not be made as `needs` says."""
    shipped = yaml.safe_load((EXPERIMENTS / f"{name}.yaml").read_text())
    varied = shipped["hydra"]["sweeper"]["params"]
    for word in SWEEPS[name]:
        key, _, value = word.partition("=")
        if key == "arch":
            assert set(value.split(",")) <= set(re.split(r",\s*", varied["arch"].strip())), word
        elif "," in value and not value.startswith("{"):
            assert key in varied, word


@pytest.mark.slow
@pytest.mark.parametrize("recipe", CHECKS)
def test_what_a_recipe_prints_is_what_the_rows_say(
    recipe: str,
    sweeps: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name, check = CHECKS[recipe]
    if name == "four_cell" and available() is not None:
        pytest.skip(f"no sandbox: {available()}")
    path = sweep(sweeps, name)
    sources = [str(path)] * (2 if recipe in OF_TWO else 1)
    done = framework(capsys, "report", "--recipe", recipe, *sources, "--to", str(tmp_path / "p"))
    assert done.status == 0, done.err
    text = (tmp_path / "p" / "report.md").read_text()
    pages = tables(text)
    jobs = list(load(path).jobs)
    assert jobs
    assert all(not row.error for job in jobs for row in job.rows)
    check(jobs, pages, text)
    as_printed(find("recipe", recipe).cls, jobs, pages)
    assert "Measured here: domain " in text
    assert "://" not in (tmp_path / "p" / "report.html").read_text()


@pytest.mark.slow
def test_a_sweep_of_something_else_is_refused_in_one_line(
    sweeps: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(sweep(sweeps, "maintenance"))
    target = ["--to", str(tmp_path / "p")]

    def refused(recipe: str) -> str:
        return framework(capsys, "report", "--recipe", recipe, path, *target).mistake

    assert "measured twice" in refused("depth/visibility")
    assert "at least two models" in refused("depth/cross_model")
    assert "vary something else" in refused("depth/F016")
    assert "at least two sweeps" in refused("depth/F087")
    assert "no success of an arm" in refused("depth/table66")
    plain = str(sweep(sweeps, "seed_traversal"))
    page = ("report", "--recipe", "{}", plain, *target)
    for recipe, why in (
        ("depth/fragments", "more than one fragment"),
        ("depth/regret", "whose views are all empty"),
        ("depth/rate", "that sees no query"),
    ):
        assert why in framework(capsys, *(part.format(recipe) for part in page)).mistake
    assert "lacks typed_graph_no_edges, typed_graph" in refused("depth/table44")
    assert not (tmp_path / "p").exists()
    # An axis that no run has is no panel left out in silence.
    with pytest.raises(UserError, match="no job has the axis distractor_retention"):
        by_setting(load(Path(path)).jobs, "domain.fidelity", "distractor_retention")


@pytest.mark.slow
def test_arms_measured_on_other_cases_are_no_rivals_of_a_lead(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The memory of `raptor` is of the forms that the model reads, the others' of all."""
    small = [o for o in SMALL if not o.startswith(("domain.forms", "n_cases"))]
    path = tmp_path / "sweep"
    sample = ("arch=bm25,raptor,typed_graph", "n_cases=16", "baseline=null")
    argv = ["-m", "+experiment=depth/crossover", *sample, *small, f"hydra.sweep.dir={path}"]
    assert command.main(argv) == 0
    page = ("report", "--recipe", "depth/F016", str(path), "--to", str(tmp_path / "p"))
    assert framework(capsys, *page).status == 0
    text = (tmp_path / "p" / "report.md").read_text()
    assert "so left out: raptor." in text
    assert "each of 1 arm without edges" in text
