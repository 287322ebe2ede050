"""What holds whichever model reads."""

from __future__ import annotations

from collections.abc import Iterator

from framework.analysis.evidence import Evidence
from framework.analysis.summary import SETTING
from framework.contracts.section import AddFigure, Section, no_figure
from framework.registry import register
from framework.reporting.blocks import Block, Heading, Text
from framework.reporting.cells import count, number_cell
from framework.reporting.tables import table


@register("section", "models")
class Models(Section):
    """Which orders of arms hold under every model of the sweep."""

    place, place_at_end = 340, 320

    def blocks(self, evidence: Evidence, add_figure: AddFigure) -> Iterator[Block]:
        found = evidence.sweep.get("reader_agreement") or []
        if not found:
            return
        yield Heading("Orders that survive all models", "models")
        yield Text(
            "An order of two arms deserves mention only if it is the same with every model. "
            "Ordered: pairs of arms whose means differ with every model. Surviving: pairs that all "
            "models order in the same way, the higher first."
        )
        apart = [key for key in SETTING if len({str(entry.get(key)) for entry in found}) > 1]
        yield table(
            "models-table",
            f"Models: {', '.join(found[0]['models'])}.",
            {
                **{key: key for key in apart},
                "axis": "axis",
                "budget": "budget",
                "ordered": ("ordered_pairs", count),
                "surviving": ("surviving", lambda pairs: count(len(pairs))),
                "which": ("surviving", lambda pairs: ", ".join(f"{a} > {b}" for a, b in pairs)),
            },
            found,
        )
        if pairs := evidence.sweep.get("model_agreement"):
            yield table(
                "models-pairs",
                "Means of the arms with one model compared with those with another.",
                {
                    "axis": "axis",
                    "budget": "budget",
                    "models": lambda pair: f"{pair['model_a']}, {pair['model_b']}",
                    "arms": ("n", count),
                    "Pearson": ("pearson", number_cell),
                    "Spearman": ("spearman", number_cell),
                    "Kendall tau": ("kendall", number_cell),
                    "mean |difference|": ("mean_difference", number_cell),
                    "largest": ("largest_difference", number_cell),
                    "of arm": "largest_arm",
                    "same order": ("same_order", count),
                    "pairs told apart": ("pairs", count),
                },
                pairs,
            )

    def at_end(self, evidence: Evidence) -> Iterator[Block]:
        yield from self.blocks(evidence, no_figure)
