"""Whether an adverse decision comes with a notice that the regulatory standard accepts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Final

from framework.contracts import Axis, Scored, Verdict, maybe_await
from framework.records import Answer, AxisScore, ChecklistItem, Gold, Row
from framework.registry import NoSettings, register
from plugins.axes._answers import HIGHER, LOWER, right_by_rule, share

_DENIED: Final = re.compile(r",?\s+(?:is|was|are|were)\s+(?:not|no)\b")
"""After a reason, what says that it was none."""


@register("axis", "crr")
class CRR(Axis[NoSettings]):
    """Compliance reconstruction: whether the notice meets the standard, by the answer alone.

    The judge audits decision, rationale and notice against the standard's checklist (LongHorizon
    3.4; 12 CFR 1002.9 for loans). Values lie in [0, 1], higher is better, but lower for
    `wrongful_adverse`.

    crr : over cases whose gold decision is adverse: 1 if the decision is right (as for `eda`),
        every item of the checklist is met, and no reason of the policy is stated that was not a
        principal one (a reason from outside the policy can't be detected in a text); else 0, so a
        wrong decision or an abstention is 0. A notice that offers the right to ask for reasons
        instead of stating them is 0 too, although 12 CFR 1002.9(a)(2)(ii) allows it: it needs no
        memory of the case.
    crr_corrected, crr_quote_corrected, crr_fcra_corrected, crr_published_corrected : the column
        without `_corrected`, corrected for the judge's error on notices of known truth (Rogan and
        Gladen 1978). Only its verdicts on notices are corrected: a wrong decision, an abstention, a
        false reason and (for crr_published) a decision that is not adverse need no verdict. None if
        the judge has no calibration of this kind.
    crr_quote : like crr, for the items that demand provisions word for word: quoting the whole
        policy states reasons that were not principal. None if the standard has no such items.
    crr_fcra : like crr, for the items of FCRA 615(a); None if the standard has none.
    crr_published : the paper's convention, over all cases: 1 for every decision that is not
        adverse, right or wrong; for an adverse one, 1 if the checklist is met.
    audited : 1 if the judge was asked about the notice, which it is when the answer is adverse.
    wrongful_adverse : over cases whose gold decision is not adverse: 1 if the answer is adverse.
    reason_score : share of the principal reasons that are stated, minus the share of the policy's
        other reasons that are stated (Youden's J), at least 0, over cases whose gold decision is
        adverse: naming every reason scores 0. Stated are the answer's reasons and those of the
        policy that the notice names. A decision that is not adverse states none. None if there is
        no other reason.
    reason_precision : share of the stated reasons that are principal; None if no reason is stated.
        A part of reason_score, with no better direction alone.
    reason_recall : share of the principal reasons that are stated. A part of reason_score, with no
        better direction alone.

    A domain without adverse decisions has no value; without a judge the audits have none.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "crr": HIGHER,
        "crr_published": HIGHER,
        "crr_quote": HIGHER,
        "crr_fcra": HIGHER,
        "audited": None,
        "wrongful_adverse": LOWER,
        "reason_score": HIGHER,
        "reason_precision": None,
        "reason_recall": None,
    }
    needs: ClassVar[tuple[str, ...]] = ("notice",)
    judged: ClassVar[frozenset[str]] = frozenset({"crr", "crr_published", "crr_quote", "crr_fcra"})
    demands: ClassVar[Mapping[str, str]] = {
        "crr": "audit",
        "crr_quote": "audit_quote",
        "crr_fcra": "audit_fcra",
        "crr_published": "audit",
    }
    corrected: ClassVar[Mapping[str, str]] = {f"{name}_corrected": name for name in demands}

    @staticmethod
    def has_verdict(row: Row, column: str) -> bool:
        """Whether the value rests on the audit.

        That of crr_published does where there was one. The others are 0 without a right decision,
        and but for crr_fcra where a false reason is stated, whatever the judge says.
        """
        if column == "crr_published":
            return row.axes.get("audited") == 1
        no_false = row.axes.get("reason_precision") in (None, 1.0)
        return row.success == 1 and (column == "crr_fcra" or no_false)

    async def score(self, scored: Scored) -> AxisScore:
        answer, gold, judge = scored.answer, scored.case.gold, scored.judge
        values = dict(self.undefined().values)
        if answer is None or not gold.adverse:
            return AxisScore(values=values)
        is_adverse = answer.decision in gold.adverse
        right = right_by_rule(scored, answer)
        verdicts: Sequence[Verdict] | None = None
        if is_adverse and judge is not None and gold.standard is not None:
            verdicts = await maybe_await(judge.audit(answer, gold.standard, scored.client))
        if judge is not None and gold.standard is not None:
            values["audited"] = float(is_adverse)
        items = {item.id: item for item in gold.standard.items} if gold.standard else {}
        evidence = [_line(verdict, items[verdict.id]) for verdict in verdicts or ()]
        if not is_adverse:
            values["crr_published"] = 1.0
        elif verdicts is not None:
            values["crr_published"] = float(_met(verdicts, gold, "crr"))
        if gold.decision not in gold.adverse:
            values["wrongful_adverse"] = float(is_adverse)
            return AxisScore(values=values, evidence=tuple(evidence))

        stated = _stated(answer, gold) if is_adverse else frozenset()
        principal = frozenset(map(_folded, gold.principal_reasons))
        false = stated - principal
        right_reasons = len(stated & principal)
        others = set(map(_folded, gold.all_reasons)) - principal
        if principal and others:
            hits, misses = right_reasons / len(principal), len(false) / len(others)
            values["reason_score"] = max(0.0, hits - misses)
        values["reason_precision"] = share(right_reasons, len(stated))
        values["reason_recall"] = share(right_reasons, len(principal))
        if judge is not None and gold.standard is not None:
            for name in ("crr", "crr_quote", "crr_fcra"):
                if any((item.axis or "crr") == name for item in gold.standard.items):
                    met = right and verdicts is not None and _met(verdicts, gold, name)
                    values[name] = float(met and not (name != "crr_fcra" and false))
        evidence += [
            f"decision: gold {gold.decision}, given {answer.decision or 'none'}: "
            f"{'right' if right else 'wrong'}",
            f"reasons stated that were principal: {_listed(stated & principal)}; "
            f"principal but not stated: {_listed(principal - stated)}; "
            f"stated but not principal: {_listed(false)}",
        ]
        return AxisScore(values=values, evidence=tuple(evidence))


def _met(verdicts: Sequence[Verdict], gold: Gold, axis: str) -> bool:
    met = {verdict.id: verdict.met for verdict in verdicts}
    items = gold.standard.items if gold.standard is not None else ()
    return all(met[item.id] for item in items if (item.axis or "crr") == axis)


def _stated(answer: Answer, gold: Gold) -> frozenset[str]:
    """The reasons that the answer lists and those of the policy that its notice names as reasons.

    Of reasons one of which is part of another the longest counts where it stands.
    """
    listed = {folded for reason in answer.reasons if (folded := _folded(reason))}
    known = {_folded(reason) for reason in (*gold.all_reasons, *gold.principal_reasons)} - {""}
    if not known:
        return frozenset(listed)
    longest_first = sorted(known, key=lambda reason: (-len(reason), reason))
    phrase = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, longest_first)) + r")(?!\w)")
    text = _folded(answer.notice)
    found = (match for match in phrase.finditer(text) if not _DENIED.match(text, match.end()))
    return frozenset(listed | {match.group() for match in found})


def _folded(reason: str) -> str:
    return " ".join(reason.casefold().split()).strip(" .;")


def _listed(reasons: Iterable[str]) -> str:
    return "; ".join(sorted(reasons)) or "none"


def _line(verdict: Verdict, item: ChecklistItem) -> str:
    """The verdict on an item, with its provision, and the axis that counts it where not `crr`."""
    axis = "" if item.axis in ("", "crr") else f"{item.axis}, "
    said = f" ({verdict.evidence})" if verdict.evidence else ""
    return f"{axis}{item.id}, {item.citation}: {'met' if verdict.met else 'not met'}{said}"
