"""Whether an answer does what is to be done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from framework.contracts import Axis, Scored
from framework.records import AxisScore
from framework.registry import NoSettings, register
from plugins.domains.bank_support.actions import Action, met, parsed

HIGHER: Final = True


@register("axis", "actions")
class Actions(Axis[NoSettings]):
    """The actions of an answer against the expected ones (tau2-bench, without a user).

    Each value lies in [0, 1], higher is better. An action is a tool's name with its arguments; each
    given one counts for one expected one at most, in any order. A case without expected actions has
    no value; an answer that is no list of actions has none of them.

    actions_correct : 1 if the answer has every expected action that changes something, with its
        arguments, and no other action that changes anything: the domain's success.
    actions_f1 : harmonic mean of recall (share of the expected actions that are given) and
        precision (share of the given actions that are expected), arguments compared.
    actions_precision : that precision alone, which shows the cost of listing many actions.
    action_names_f1 : like actions_f1, comparing only the tools' names.
    action_names_precision : like actions_precision, comparing only the tools' names.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "actions_correct": HIGHER,
        "actions_f1": HIGHER,
        "actions_precision": HIGHER,
        "action_names_f1": HIGHER,
        "action_names_precision": HIGHER,
    }
    needs: ClassVar[tuple[str, ...]] = ("actions",)
    precision: ClassVar[Mapping[str, str]] = {
        "actions_f1": "actions_precision",
        "action_names_f1": "action_names_precision",
    }

    def score(self, scored: Scored) -> AxisScore:
        answer, wanted = scored.answer, parsed(scored.case.gold.answer)
        if answer is None or not wanted:
            return self.undefined()
        given = parsed(answer.text) or ()
        found = met(wanted, given)
        names = sum((_names(wanted) & _names(given)).values())
        values = {
            "actions_correct": float(scored.domain.success(answer, scored.case.gold)),
            "actions_f1": _f1(len(found), len(wanted), len(given)),
            "actions_precision": len(found) / len(given) if given else None,
            "action_names_f1": _f1(names, len(wanted), len(given)),
            "action_names_precision": names / len(given) if given else None,
        }
        evidence = tuple(
            f"{'given' if action in found else 'not given'}: {action.name}" for action in wanted
        )
        return AxisScore(values=values, evidence=(*evidence, f"{len(given)} actions given"))


def _names(actions: Sequence[Action]) -> Counter[str]:
    return Counter(action.name for action in actions)


def _f1(shared: int, wanted: int, given: int) -> float:
    return 2 * shared / (wanted + given)
