"""Checks of the recipes that show the same rows in other ways: by bin, by data set, by pair."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from framework.analysis.evidence import Job, higher_is_better
from plugins.recipes.depth._superiority import beta_superiority
from tests.plugins.recipes.pages import Printed, at, mean, near, values

Check = Callable[[list[Job], dict[str, Printed], str], None]
AXES: Final = {
    20: "compliance", 21: "recall", 22: "precision", 23: "f1", 24: "merge_ready",
    25: "chain_recovery",
}  # fmt: skip


def captioned(pages: dict[str, Printed], start: str) -> Printed:
    return next(table for caption, table in pages.items() if caption.startswith(start))


def grids(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    for number, axis in AXES.items():
        table = captioned(pages, f"Table {number}.")
        for job in jobs:
            for level in (1, 2, 3):
                near(table.number(job.arm, f"{axis}, d={level}"), mean(job, axis, at(level)), 3)
    assert "printed 0.93" in captioned(pages, "Table 20.").text("bm25", "compliance, d=1")
    assert "printed 0.00" in captioned(pages, "Figure 25.").text("none", "chain_recovery, d=3")
    assert captioned(pages, "Table 20.").text("rerank_ce", "compliance, d=1").startswith("– ")


def ranking(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    table = captioned(pages, "Table 27.")
    for job in jobs:
        for axis in ("ndcg_at_10", "mrr", "map"):
            near(table.number(job.arm, axis), mean(job, axis), 3)
    assert "printed 0.881" in table.text("bm25", "ndcg_at_10")


def cutoffs(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    """Where the axes keep a cutoff, the curve goes through it."""
    for job in jobs:
        for axis, at_, name in (("ndcg_at_10", 10, "nDCG"), ("recall_at_2", 2, "recall")):
            near(pages[f"{name} by cutoff"].number(job.arm, str(at_)), mean(job, axis))
        # A task has one piece of evidence.
        near(pages["precision by cutoff"].number(job.arm, "5"), mean(job, "recall_at_5") / 5)


def tokens(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    for job in jobs:
        spent = sum(row.view_tokens for row in job.rows) / len(job.rows)
        for number in (31, 62):
            near(captioned(pages, f"Table {number}.").number(job.arm, "tokens"), spent, 0)


def deepest(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    table = captioned(pages, "Table 33.")
    for job in jobs:
        near(table.number(job.arm, "compliance"), mean(job, "compliance", at(3)), 3)
    assert "printed 0.63" in table.text("bm25", "low")


def bins(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    inside: Final = {
        "r = 0": lambda r: r == 0,
        "0 \\< r \\<= 0.5": lambda r: 0 < r <= 0.5,
        "0.5 \\< r \\< 1": lambda r: 0.5 < r < 1,
        "r = 1": lambda r: r == 1,
    }
    for axis in ("recall", "chain_recall"):
        table = captioned(pages, f"Compliance by {axis},")
        for name, holds in inside.items():
            found = [
                values(job, "compliance")[case]
                for job in jobs
                for case, value in values(job, axis).items()
                if holds(value)
            ]
            assert table.number(name, "n") == len(found)
            if found:
                near(table.number(name, "compliance"), sum(found) / len(found), 3)
    assert "printed 47" in captioned(pages, "Compliance by recall,").text("r = 0", "n")


def conversion(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    table = captioned(pages, "Table 46.")
    for job in jobs:
        recall, compliance = mean(job, "recall"), mean(job, "compliance")
        if recall:
            near(table.number(job.arm, "conversion"), compliance / recall, 3)
        else:
            assert table.text(job.arm, "conversion").startswith("–")


def components(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    table = captioned(pages, "Recall of the seeds")
    by_arm = {job.arm: job for job in jobs}
    order = [by_arm[f"typed_graph{end}"] for end in ("_no_edges", "", "_pruned")]
    for level in (1, 3):
        seeds, walked, pruned = (mean(job, "recall", at(level)) for job in order)
        near(table.number("similarity seed (vs none)", f"d = {level}"), seeds, 3)
        near(table.number("link traversal", f"d = {level}"), walked - seeds, 3)
        near(table.number("dependency pruning", f"d = {level}"), pruned - walked, 3)
    assert table.text("link traversal", "printed, depth 3") == "0.15"


def spread(jobs: list[Job], pages: dict[str, Printed], text: str) -> None:
    table = captioned(pages, "Share of the cases at 0")
    for arm, axis, n, *shares in table.rows:
        found = list(values(next(job for job in jobs if job.arm == arm), axis).values())
        assert int(n) == len(found)
        for shown, count in zip(
            shares,
            (found.count(0), sum(0 < value < 1 for value in found), found.count(1)),
            strict=True,
        ):
            near(float(shown), count / len(found))
    assert {row[1] for row in table.rows} == {"compliance", "recall", "precision"}
    assert "precision of typed\\_graph: mean" in text.replace("typed_graph", "typed\\_graph")


def win_rates(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    table = captioned(pages, "Mean win rate")
    means = {job.arm: {axis: entry["mean"] for axis, entry in job.summary["axes"].items()
                       if entry["mean"] is not None} for job in jobs}  # fmt: skip
    for arm in means:
        rates = []
        for other in means.keys() - {arm}:
            points = []
            for axis in means[arm].keys() & means[other].keys():
                if (better := higher_is_better(axis)) is not None:
                    mine, theirs = means[arm][axis], means[other][axis]
                    points.append(0.5 if mine == theirs else float((mine > theirs) is better))
            rates.append(sum(points) / len(points))
        near(table.number(arm, "mean win rate"), sum(rates) / len(rates))


def arms_by_depth(jobs: list[Job], _: dict[str, Printed], text: str) -> None:
    for job in jobs:
        told = ", ".join(f"{mean(job, 'recall', at(level)):.2f}" for level in (1, 2, 3))
        assert f"recall of {job.arm}: {told}" in text.replace("\\", "")


def lollipop(jobs: list[Job], _: dict[str, Printed], text: str) -> None:
    for job in jobs:
        assert f"{job.arm} {mean(job, 'compliance'):.2f}" in text.replace("\\", "")


def bumps(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    table = captioned(pages, "Rank by mean success")
    means = {job.arm: mean(job, "compliance") for job in jobs}
    for arm, own in means.items():
        rank = 1 + sum(other > own for other in means.values())
        assert next(row for row in table.rows if row[0] == arm)[1:] == [str(rank)] * 2


def difficulty(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    table = captioned(pages, "Mean success over arms")
    near(table.number("1: governance", "mean"), _over(jobs, None))
    for level in (1, 2, 3):
        near(table.number("1: governance", f"d = {level}"), _over(jobs, level))
    best = max(jobs, key=lambda job: mean(job, "compliance"))
    assert table.text("1: governance", "best arm").startswith(best.arm)


def _over(jobs: list[Job], level: int | None) -> float:
    where = None if level is None else at(level)
    return sum(mean(job, "compliance", where) for job in jobs) / len(jobs)


def mediated(jobs: list[Job], pages: dict[str, Printed], text: str) -> None:
    table = captioned(pages, "Gain in compliance")
    by_arm = {job.arm: job for job in jobs}
    assert [row[:2] for row in table.rows] == [["typed_graph", "none"], ["typed_graph", "bm25"]]
    for arm, other, total, indirect, direct, *_ in table.rows:
        gain = mean(by_arm[arm], "compliance") - mean(by_arm[other], "compliance")
        near(float(total.split()[0]), gain, 3)
        if indirect != "–":
            parts = float(indirect.split()[0]) + float(direct)
            assert abs(parts - gain) < 0.0021
    assert "An association, and no proof" in text


def posteriors(jobs: list[Job], pages: dict[str, Printed], _: str) -> None:
    table = captioned(pages, "P(rate of the typed graph is higher)")
    counts = {}
    for job in jobs:
        found = list(values(job, "compliance", at(3)).values())
        counts[job.arm] = (int(sum(found)), len(found))
    assert len(table.rows) == 2
    for arm, won, of, other, lost, against, shown in table.rows:
        assert (int(won), int(of)) == counts[arm]
        assert (int(lost), int(against)) == counts[other]
        near(float(shown), beta_superiority(*counts[arm], *counts[other]), 3)


VIEWS: Final[dict[str, tuple[str, Check]]] = {
    "depth/table20": ("paper_geometry", grids),
    "depth/table27": ("paper_geometry", ranking),
    "depth/figure8": ("paper_geometry", cutoffs),
    "depth/table31": ("paper_geometry", tokens),
    "depth/table33": ("paper_geometry", deepest),
    "depth/table44": ("pruning", components),
    "depth/table45": ("paper_geometry", bins),
    "depth/table46": ("paper_geometry", conversion),
    "depth/table66": ("paper_geometry", difficulty),
    "depth/F025": ("paper_geometry", posteriors),
    "depth/F028": ("paper_geometry", win_rates),
    "depth/F038": ("paper_geometry", mediated),
    "depth/F054": ("paper_geometry", spread),
    "depth/F062": ("paper_geometry", arms_by_depth),
    "depth/F074": ("paper_geometry", lollipop),
    "depth/F087": ("paper_geometry", bumps),
}
"""By recipe: the experiment that it is of, and what is made again of its page."""
