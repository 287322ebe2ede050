"""The judge that asks a model of its own, blinded: entailment, audit, equivalence."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, TypeVar

from framework.contracts import Client, Judge, Model, Operation, Req, Res, Verdict
from framework.contracts.calibration import ErrorRates, calibration_in, judge_digest, plain_rates
from framework.errors import UserError
from framework.models.client import ModelClient
from framework.operations.audit import Audit, AuditRequest
from framework.operations.entail import Entail, EntailRequest
from framework.operations.equivalent import Equivalent, EquivalentRequest
from framework.operations.prompted import PromptSet
from framework.operations.verdicts import Finding
from framework.records import Answer, ReasoningPoint, Standard
from framework.registry import Plugin, find, identity_of, register, settings_of
from framework.text.canonical import digest
from plugins.judges._blind import check_blind

T = TypeVar("T")

_ASKED: Final = (Entail, Audit, Equivalent)


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMJudgeSettings:
    """Settings of `judge=llm`, `judge=anthropic` and `judge=openai`.

    model : the judging model: `plugin`, a name of the group `model`, and that plugin's settings.
    prompts : the rubric: a directory of prompts or the name of a shipped set (`paraphrase`,
        `longmemeval`, `locomo`); None for the default one. The run's own `prompt_set` does not
        apply.
    order : order of the demands: `shuffled` for each answer by `seed`, as `listed` in the gold, or
        `reversed`.
    per_call : most demands per call; 0: all demands of an answer in one call.
    calibration : a file that `calibrate JUDGE --out FILE` wrote for this judge, or several files,
        of sets of different kinds: its error on answers of known truth, which then is part of the
        intervals of its verdicts. A run stores the content, so it does not need the file later.
    """

    model: Mapping[str, Any] = field(default_factory=lambda: {"plugin": "rule_based"})
    prompts: str | None = None
    order: Literal["shuffled", "listed", "reversed"] = "shuffled"
    seed: int = 0
    per_call: int = 0
    calibration: str | Mapping[str, Any] | tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        if self.per_call < 0:
            raise ValueError(f"per_call: {self.per_call} given, 0 or more expected")
        self.judging()
        PromptSet(self.prompts or "")

    def judging(self) -> tuple[Plugin, Any]:
        """The judging model's plugin and settings. Raises UserError naming what is wrong."""
        if not isinstance(self.model.get("plugin"), str):
            raise UserError("judge.model.plugin: the name of a model plugin expected")
        try:
            plugin = find("model", self.model["plugin"])
            rest = {key: value for key, value in self.model.items() if key != "plugin"}
            return plugin, settings_of(plugin, rest)
        except UserError as error:
            raise UserError(f"judge.{error}") from None

    def identity(self) -> dict[str, Any]:
        """What may change a verdict, or what is concluded of it.

        No operational setting of the model, prompts by their text, the calibration by its rates.
        """
        rates = self.error_rates
        return {**self._asking(), "calibration": plain_rates(rates)} if rates else self._asking()

    @property
    def error_rates(self) -> Mapping[str, ErrorRates]:
        """What the calibrations say. Raises UserError as `ErrorRates.read`."""
        found: dict[str, ErrorRates] = {}
        for given in self._calibrations():
            rates = ErrorRates.read(given, judge_digest("llm", self._asking()))
            if (other := found.get(rates.demand)) is not None:
                raise UserError(
                    f"judge.calibration: {other.set} and {rates.set} are of one kind; give one"
                )
            found[rates.demand] = rates
        return found

    def inlined(self) -> dict[str, Any]:
        """What is in the files that settings name. Raises UserError as `ErrorRates.read`."""
        given = self._calibrations()
        if not self.error_rates or not any(isinstance(one, str) for one in given):
            return {}
        read = [calibration_in(one) if isinstance(one, str) else one for one in given]
        return {"calibration": read if len(read) > 1 else read[0]}

    def _calibrations(self) -> list[str | Mapping[str, Any]]:
        given = self.calibration
        if given is None:
            return []
        return [given] if isinstance(given, str | Mapping) else list(given)

    def asked(self) -> tuple[Any, ...]:
        """The operations that it asks, in the order of `_ASKED`, each under its prompts."""
        prompts = PromptSet(self.prompts or "")
        return tuple(prompts.bind(operation()) for operation in _ASKED)

    def _asking(self) -> dict[str, Any]:
        plugin, settings = self.judging()
        return {
            "model": {"plugin": plugin.name, **identity_of(plugin, settings)},
            "prompts": digest([one.files.digest for one in self.asked()]),
            "order": self.order,
            "seed": self.seed,
            "per_call": self.per_call,
        }


@register("judge", "llm")
class LLMJudge(Judge[LLMJudgeSettings]):
    """Asks a language model, with a rubric, about numbered demands in shuffled order.

    Blinded: a question holds the answer, the demands' texts and nothing else of the case, and one
    that names an arm is not sent (`Unblinded`). A verdict comes with its reason and with quotes;
    where these do not stand in the answer it is not met and counted as unsupported (LongHorizon
    3.3, 3.4). With `model: {plugin: rule_based}` the rules answer, which shows that the judge
    works. Calls are booked in the phase `judge`.
    """

    kind: ClassVar[Literal["rule-based", "llm"]] = "llm"

    def __init__(self, settings: LLMJudgeSettings) -> None:
        super().__init__(settings)
        plugin, own = settings.judging()
        try:
            self._model: Model[Any] = plugin.cls(own)
        except UserError as error:
            raise UserError(f"judge.{error}") from None
        self._client = ModelClient(self._model)
        self._entail, self._audit, self._equivalent = settings.asked()

    @property
    def model(self) -> Model[Any]:
        return self._model

    @property
    def error_rates(self) -> Mapping[str, ErrorRates]:
        return self.settings.error_rates

    async def entail(
        self, rationale: str, points: Sequence[ReasoningPoint], client: Client
    ) -> Sequence[Verdict]:
        findings: list[Finding] = []
        for group in self._groups(points, rationale):
            request = EntailRequest(rationale=rationale, points=group)
            found = await self._ask(self._entail, request)
            findings.extend(found)
        return _verdicts(findings, [point.id for point in points])

    async def audit(self, answer: Answer, standard: Standard, client: Client) -> Sequence[Verdict]:
        findings: list[Finding] = []
        for group in self._groups(standard.items, f"{answer.rationale}\n{answer.notice}"):
            request = AuditRequest.of(answer, standard, group)
            found = await self._ask(self._audit, request)
            findings.extend(found)
        return _verdicts(findings, [item.id for item in standard.items])

    async def equivalent(
        self, question: str, expected: str, given: str, kind: str, client: Client
    ) -> Verdict:
        request = EquivalentRequest(question=question, expected=expected, given=given, kind=kind)
        response = await self._ask(self._equivalent, request)
        return Verdict(id="answer", met=response.met, evidence=response.why)

    async def _ask(self, operation: Operation[Req, Res], request: Req) -> Res:
        check_blind(operation.prompt(request).text)
        return await self._client.ask(operation, request)

    def _groups(self, demands: Sequence[T], answer: str) -> list[tuple[T, ...]]:
        """The demands in the order chosen, so many a call; the same answer always alike."""
        listed = list(demands)
        if self.settings.order == "reversed":
            listed.reverse()
        elif self.settings.order == "shuffled":
            random.Random(digest([self.settings.seed, answer])).shuffle(listed)
        size = self.settings.per_call or max(1, len(listed))
        return [tuple(listed[i : i + size]) for i in range(0, len(listed), size)]


def _verdicts(findings: Sequence[Finding], ids: Sequence[str]) -> list[Verdict]:
    """In the order in which they were asked for."""
    found = {f.id: f for f in findings}
    return [
        Verdict(id=f.id, met=f.met, evidence=f.evidence, supported=f.supported)
        for f in (found[demand] for demand in ids)
    ]
