"""What domains of change plans share: an answer is a structured edit, checked by executing it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from framework.contracts import Domain
from framework.records import Answer, Case, Event, Gold
from framework.text.canonical import canonical_json, digest
from framework.text.reading import read_json
from plugins.domains.governance.content import Planned
from plugins.domains.governance.invariant import checks, complies, dishonours, reviewed
from plugins.domains.governance.lexicon import SCALE, UNIT, lexicon, next_blind

S = TypeVar("S")


class ChangePlans(Domain[S]):
    """Cases whose task hands over a change plan and whose gold holds the invariant of its edit."""

    def success(self, answer: Answer, gold: Gold) -> bool:
        """Compliance: the invariant holds on the edit."""
        return complies(answer.edit, gold.invariant)

    def checks(self, answer: Answer, case: Case) -> Mapping[str, bool | None]:
        said = f"{answer.rationale}\n{answer.text}"
        return checks(answer.edit, said, case.gold.invariant)

    def reply(self, case: Case, answer: Answer) -> tuple[bool, str]:
        """What a reviewer says who knows the decisions: which settings are wrong, not how."""
        return reviewed(answer.edit, case.gold.invariant, case.task.material["change_plan"])

    def reference(self, case: Case) -> Answer | None:
        return Answer(edit=case.gold.answer)

    def guess(self, case: Case, replies: Sequence[str]) -> Answer:
        """The plan as it is, then, of what its review names, the step that is likeliest left."""
        plan = read_json(case.task.material["change_plan"])
        values = {planned["setting"]: planned["value"] for planned in plan["settings"]}
        tried: dict[str, list[int]] = {}
        for reply in replies:
            for planned in plan["settings"]:
                if dishonours(reply, planned["label"]):
                    setting = planned["setting"]
                    steps = tried.setdefault(setting, [])
                    steps.append(int(values[setting]))
                    values[setting] = str(next_blind(steps))
        edit = [{"component": plan["component"], "setting": setting, "value": value}
                for setting, value in values.items()]  # fmt: skip
        return Answer(edit=canonical_json(edit))

    def tools(self, case: Case) -> Mapping[str, str]:
        return {}

    def use(self, case: Case, tool: str, argument: str, answer: Answer | None) -> str:
        raise KeyError(tool)


def plan_of(component: str, settings: Iterable[Planned]) -> str:
    """The change plan that a task hands over, canonical JSON."""
    return canonical_json(
        {"component": component, "settings": [_planned(planned) for planned in settings]}
    )


def _planned(planned: Planned) -> Mapping[str, object]:
    setting = planned.setting
    return {
        "setting": setting.key,
        "label": setting.label,
        "unit": UNIT,
        "options": [],
        "least": SCALE[0],
        "greatest": SCALE[-1],
        "value": planned.value,
        "status": "asked" if planned.asked else "proposed",
    }


def digest_of(events: Iterable[Event], cases: Sequence[Case]) -> str:
    """Digest of the words that texts are made from, of a history and of the cases asked of it."""
    told = [[event.id, event.time, event.text, list(event.edges)] for event in events]
    tasks = [[case.id, case.task.query, dict(case.task.material), case.gold.invariant, case.depth,
              list(case.gold.chain)] for case in cases]  # fmt: skip
    return digest([lexicon().digest, told, tasks])
