"""Whether the facts that the answer states are the case's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from framework.contracts import Axis, Scored
from framework.records import ABSTAIN, Answer, AxisScore, GoldItem
from framework.registry import NoSettings, register
from framework.retention import claims, facts, states_fact
from framework.text.sentences import sentences
from framework.text.values import find_values, same_value
from plugins.axes._answers import HIGHER, LOWER, committed, folded, own_words, share


@register("axis", "frp")
class FRP(Axis[NoSettings]):
    """Factual precision: whether the value claimed for a fact is the gold value (LongHorizon 3.2).

    All values lie in [0, 1]. Claims are `Answer.facts`, compared as typed values (`$147,500` and
    `147500` are one amount); two values for one key are wrong, as is a paraphrase.

    frp : right facts / gold facts (the paper's formula, a recall). Abstaining scores 0, unless
        abstaining is the gold decision. Higher is better.
    frp_critical : like frp, over the facts that the decision depends on.
    frp_precision : right facts / facts claimed, over the keys that have a gold value. Higher is
        better; None if nothing is claimed.
    frp_prose : share of the gold facts that rationale or notice states in its own words (the
        paper's formula over the text for the decision's reader; `frp` is over the form): a sentence
        names the fact with its gold value, and no sentence gives it another value (see `told`).
        Sentences copied from the view do not count. Abstaining scores as in `frp`. Higher is
        better.
    frp_guessed : share of the right facts that were not in the view, and so were guessed. Lower is
        better; None if no fact is right.

    A case without facts (without critical ones) has no value.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "frp": HIGHER,
        "frp_precision": HIGHER,
        "frp_critical": HIGHER,
        "frp_prose": HIGHER,
        "frp_guessed": LOWER,
    }
    needs: ClassVar[tuple[str, ...]] = ("facts",)
    precision: ClassVar[Mapping[str, str]] = {
        "frp": "frp_precision",
        "frp_critical": "frp_precision",
    }

    def score(self, scored: Scored) -> AxisScore:
        answer, gold = scored.answer, scored.case.gold
        asked = facts(gold)
        if answer is None or not asked:
            return self.undefined()
        right = {item.id for item in asked if states_fact(answer, item)}
        claimed = [item for item in asked if item.key in answer.facts]
        critical = [item for item in asked if item.critical]
        prose = told(answer, asked, scored.view.text)
        guessed = [id for id in right if not scored.retained[id]]
        counts = committed(answer) or gold.decision == ABSTAIN
        values = {
            "frp": len(right) / len(asked) if counts else 0.0,
            "frp_precision": share(len(right), len(claimed)),
            "frp_critical": share(
                sum(item.id in right for item in critical) if counts else 0, len(critical)
            ),
            "frp_prose": len(prose) / len(asked) if counts else 0.0,
            "frp_guessed": share(len(guessed), len(right)),
        }
        evidence = tuple(
            f"{item.key}: gold {', '.join(item.anchors)}, "
            f"claimed {answer.facts.get(item.key, 'nothing')}: "
            f"{'right' if item.id in right else 'wrong'}"
            f"{', not in the view: guessed' if item.id in guessed else ''}"
            for item in asked
        )
        evidence += (f"in prose: {', '.join(item.key for item in prose) or 'none'}",)
        if not counts:
            evidence += ("abstained: frp, frp_critical and frp_prose are 0",)
        return AxisScore(values=values, evidence=evidence)


_OPEN: Final = re.compile(r"\b(\w+) or (?:\1 )?not\b", re.IGNORECASE)
_NOT: Final = re.compile(r"\bit is not true that\b|\bnot\b", re.IGNORECASE)


def told(answer: Answer, asked: Sequence[GoldItem], view: str) -> list[GoldItem]:
    """The facts of `asked` that rationale or notice states in words that are not the view's.

    A sentence states a fact that names it and has its values, each as current and as no bound. The
    fact is not told where a sentence that names it gives it another value of its type which is no
    fact of the case: a former one, or one of a list. What is also denied in the same words states
    nothing, nor does what `is or is not` so.
    """
    prose = sentences(own_words(f"{answer.rationale}\n{answer.notice}", view))
    said = [sentence for sentence in prose if not _OPEN.search(sentence)]
    bare = {one: (folded(_NOT.sub(" ", one)), bool(_NOT.search(one))) for one in said}
    both = {words for words, denied in bare.values() if (words, not denied) in bare.values()}
    held = [one for one, (words, _) in bare.items() if words not in both]
    return [item for item in asked if _told(item, held, asked)]


def _told(item: GoldItem, said: Sequence[str], asked: Sequence[GoldItem]) -> bool:
    names = (*item.bindings, item.key)
    own = [(anchor, one.type) for one in asked for anchor in one.anchors]

    def strays(sentence: str) -> bool:
        return any(
            claims(sentence, value.text, value.type, names)
            for value in find_values(sentence)
            if value.type == item.type
            and not any(same_value(value.text, anchor, type) for anchor, type in own)
        )

    return any(
        all(claims(sentence, anchor, item.type, names) for anchor in item.anchors)
        for sentence in said
    ) and not any(map(strays, said))
