"""What a judge was asked and said, kept beside the answer it judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from framework.contracts import Client, Judge, Verdict, maybe_await
from framework.records import Answer, ReasoningPoint, Standard


class RecordingJudge(Judge[Any]):
    """Passes every question on to a judge and keeps the verdicts, each with its demand.

    `verdicts` holds plain data, in the order of asking: `question` (entail, audit or equivalent),
    `id`, `demand`, `met`, `evidence`, `supported`.
    """

    def __init__(self, judge: Judge[Any]) -> None:
        super().__init__(judge.settings)
        self._judge = judge
        self.verdicts: list[dict[str, Any]] = []

    async def entail(
        self, rationale: str, points: Sequence[ReasoningPoint], client: Client
    ) -> Sequence[Verdict]:
        verdicts = await maybe_await(self._judge.entail(rationale, points, client))
        self._keep("entail", [(point.id, point.text) for point in points], verdicts)
        return verdicts

    async def audit(self, answer: Answer, standard: Standard, client: Client) -> Sequence[Verdict]:
        verdicts = await maybe_await(self._judge.audit(answer, standard, client))
        self._keep("audit", [(item.id, item.text) for item in standard.items], verdicts)
        return verdicts

    async def equivalent(
        self, question: str, expected: str, given: str, kind: str, client: Client
    ) -> Verdict:
        verdict = await maybe_await(self._judge.equivalent(question, expected, given, kind, client))
        self._keep("equivalent", [(verdict.id, f"{question} Expected: {expected}")], [verdict])
        return verdict

    def _keep(
        self, question: str, demands: Sequence[tuple[str, str]], verdicts: Sequence[Verdict]
    ) -> None:
        told, asked = [verdict.id for verdict in verdicts], [id_ for id_, _ in demands]
        if told != asked:
            said = ", ".join(told) or "nothing"
            raise ValueError(f"judge: verdicts on {said}, not on {', '.join(asked)}")
        for (_, demand), verdict in zip(demands, verdicts, strict=True):
            self.verdicts.append({"question": question, "demand": demand, **asdict(verdict)})
