"""Decide a case from a view: the decision, the facts and provisions it rests on, and the notice."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from framework.contracts import Prompt
from framework.operations import _json
from framework.operations._card import card_text
from framework.operations.answering import UNDETERMINED, AnswerRequest
from framework.operations.prompted import PromptedAnswering, PromptFiles
from framework.records import ABSTAIN, EMPTY, Answer, TaskCard
from framework.registry import register
from framework.text.canonical import canonical_json

_PARTS: Final = (
    ("decision", "confidence", "amount"),
    ("facts",),
    ("reasons", "provisions", "rationale", "notice"),
)
_KEY: Final = re.compile(r'^"(\w+)":')
"""A line of the prompt that says what a key of the answer means."""
_PLACEHOLDER: Final = re.compile(r"\{[a-z_]+(?::\w+)?\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class DecideResponse:
    """The decision with its grounds.

    decision : one of the card's decisions, `ABSTAIN` (the policy refers the case to a person) or
        `UNDETERMINED`.
    confidence : probability that the decision is right, in [0, 1]; None when not given.
    amount : in the unit of the domain; None when there is none.
    facts : field key to the value found, as text.
    reasons, provisions : principal reasons in the policy's words, codes of the rules relied on.
    notice : empty where no notice is due.
    """

    decision: str
    confidence: float | None = None
    amount: float | None = None
    facts: Mapping[str, str] = EMPTY
    reasons: tuple[str, ...] = ()
    provisions: tuple[str, ...] = ()
    rationale: str = ""
    notice: str = ""


_NOT_ASKED: Final = DecideResponse(decision=UNDETERMINED)
"""What a part says of the keys of the others."""


@register("operation", "decide")
class Decide(PromptedAnswering[DecideResponse]):
    """Decide a case from a view under the task card's rules."""

    response = DecideResponse
    slots = frozenset({"task", "record", "decisions", "notice"})
    part: tuple[str, ...] = ()
    """The keys that are asked for; none for all of them."""

    @property
    def files(self) -> PromptFiles:
        files = super().files
        if not self.part:
            return files
        schema: Any = copy.deepcopy(files.schema)
        schema["properties"] = {k: v for k, v in schema["properties"].items() if k in self.part}
        schema["required"] = list(schema["properties"])
        told = files.user.splitlines()
        lines = [x for x in told if not (key := _KEY.match(x)) or key[1] in self.part]
        return replace(files, user="\n".join(lines), schema=schema)

    def apart(self) -> Sequence[Decide]:
        """The decision, the facts, the grounds with the notice: each asked alone, in this order."""
        return [self._only(part) for part in _PARTS]

    def joined(self, responses: Sequence[DecideResponse]) -> DecideResponse:
        said = zip(_PARTS, responses, strict=True)
        own = {key: getattr(response, key) for part, response in said for key in part}
        return DecideResponse(**own)

    def _only(self, part: tuple[str, ...]) -> Decide:
        one = copy.copy(self)
        one.part = part
        return one

    def prompt(self, request: AnswerRequest) -> Prompt:
        prompt = super().prompt(request)
        if "decision" in self.part or not request.answered:
            return prompt
        told = f"\nThe decision is {request.answered[0].decision}."
        return replace(prompt, user=prompt.user + told)

    def render(self, response: DecideResponse) -> str:
        keys = self.part or _json.asked(response)
        return canonical_json({key: getattr(response, key) for key in keys})

    def answer_of(self, response: DecideResponse, task: TaskCard) -> Answer:
        return Answer(**{key: getattr(response, key) for key in _json.asked(response)})

    def fill(self, request: AnswerRequest) -> Mapping[str, str]:
        task = request.task
        forced = f"; where it would be {UNDETERMINED}, the one that is most likely right"
        return {
            "task": card_text(task),
            "record": request.view,
            "decisions": ", ".join(_decisions(task)) + (forced if task.must_decide else ""),
            "notice": _notice(task.notice),
        }

    def schema(self, request: AnswerRequest) -> Mapping[str, Any] | None:
        schema: Any = super().schema(request)
        if "decision" in schema["properties"]:
            schema["properties"]["decision"]["enum"] = list(_decisions(request.task))
        if "facts" in schema["properties"]:
            fields = {field.key: field for field in request.task.fields}
            schema["properties"]["facts"].update(_json.nullable_texts(fields))
        return dict(schema)

    def parse(self, text: str, request: AnswerRequest) -> DecideResponse:
        if self.part:
            data = self.json_object(text)
            if set(data) != set(self.part):
                raise ValueError(f"the keys {sorted(self.part)} expected, got {sorted(data)}")
            others = {key: getattr(_NOT_ASKED, key) for key in _json.asked(_NOT_ASKED)}
            text = canonical_json({**others, **data})
        found = super().parse(text, request)
        # A model that leaves it open though it must not is taken at its word: the reader chooses.
        if found.decision not in (*_decisions(request.task), UNDETERMINED):
            raise ValueError(f"decision {found.decision!r} is not one of the card")
        _json.check_probability(found.confidence)
        unknown = sorted(found.facts.keys() - {field.key for field in request.task.fields})
        if unknown:
            raise ValueError(f"facts for unknown fields {unknown}")
        return found


def _decisions(task: TaskCard) -> tuple[str, ...]:
    open_ = () if task.must_decide else (UNDETERMINED,)
    return (*task.decisions, ABSTAIN, *open_)


def _notice(told: str) -> str:
    """What is asked for as the notice, by what the card says of it."""
    if not told:
        return "an empty text"
    if _PLACEHOLDER.search(told):
        return (
            "a text: the notice of an adverse decision on the form below, every placeholder "
            f"filled in; empty for any other decision. The form:\n{told}\n(end of the form)"
        )
    return (
        "a text: the whole notice of an adverse decision, as the applicant gets it; empty for any "
        f"other decision. What is said of it:\n{told}\n(end of what is said)"
    )
