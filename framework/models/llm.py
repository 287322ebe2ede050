"""Language models: what every provider has in common, from the prompt to the booked reply.

Parse, and at most one repair, over what is common to everything that is served
(`framework.models.transport`). A provider's plugin says how a request looks and how it is sent, and
nothing else.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar, cast

from framework.bounds import at_least
from framework.contracts import Model, Operation, Prompt, Reply
from framework.errors import DoesNotFit, UnreadableError
from framework.models.cache import Response
from framework.models.dry_run import DryRun, current_dry_run
from framework.models.transport import Served, ServedSettings
from framework.records import EMPTY, Usage
from framework.registry import find

Req = TypeVar("Req")
Res = TypeVar("Res")
S = TypeVar("S", bound="LLMSettings")

_REPAIR: Final = (
    "That answer could not be read: {problem}\nAnswer the same question again, in exactly the form "
    "asked for and nothing else."
)
_SAID_AGAIN: Final = "\n[asked again]\n"
"""Between an answer that could not be read and the one given in its place."""
_MOST: Final = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMSettings(ServedSettings):
    """Settings that every language model has, besides those of everything served.

    temperature : sent with every call; None for models that take none.
    max_tokens : of one answer; fewer where the bounds of its form hold it shorter
        (`most_tokens`), unless the model takes no temperature: such a model thinks first.
    max_tokens_of : by operation, of an answer to it, where that is fewer.
    """

    temperature: Annotated[float | None, at_least(0)] = 0.0
    max_tokens: Annotated[int, at_least(1)] = 4096
    max_tokens_of: Annotated[Mapping[str, int], at_least(1)] = field(
        default=EMPTY, metadata={"later": True}
    )

    def __post_init__(self) -> None:
        ServedSettings.__post_init__(self)
        for operation in self.max_tokens_of:
            find("operation", operation)


class LLM(Served[S], Model[S]):
    """A language model behind the typed operations.

    Raises UserError when it is made without a key, or a cache to replay, that it needs. While a
    `DryRun` is on, its answers stand in for the provider's and nothing is sent.
    """

    kind = "llm"
    _by: str = ""

    @abstractmethod
    def request(
        self, operation: str, prompt: Prompt, schema: Mapping[str, Any] | None, sample: int
    ) -> dict[str, Any]:
        """The whole request as the provider takes it, without key or headers.

        Its `messages` end with the user's.
        """

    @property
    def most_out(self) -> int:
        most: int = self.settings.max_tokens
        return most

    @property
    def described(self) -> str:
        name: str = self.settings.name
        return name if self._by in ("", name) else f"{name} (answered by {self._by})"

    def room(self, operation: str, schema: Mapping[str, Any] | None) -> int:
        """Tokens that an answer to an operation, in a form, may have."""
        most = min(self.most_out, self.settings.max_tokens_of.get(operation, self.most_out))
        if schema is None or self.settings.temperature is None:
            return most
        return min(most, most_tokens(schema))

    async def run(self, operation: Operation[Req, Res], request: Req, sample: int) -> Reply[Res]:
        prompt = operation.prompt(request)
        body = self.request(operation.name, prompt, operation.schema(request), sample)
        if (dry_run := current_dry_run()) is not None:
            return self._answered_by_rule(dry_run, operation, request, prompt, body, sample)
        usage = Usage()
        said: list[str] = []
        problem = ""
        for repairs in (0, 1):
            usage = replace(usage, repairs=repairs)
            try:
                answer, usage = await self.answer(operation.name, body, sample, usage)
                self._by = answer.model
            except DoesNotFit as unfit:
                if not said:
                    raise
                # The question did fit, so its case is one that was answered, not readably.
                problem, usage = f"{problem}; the repair {unfit}", unfit.usage
                break
            try:
                response = _as_sure(self._parsed(operation, answer, request), answer.confidence)
                return Reply(response=response, text=answer.text, usage=usage)
            except ValueError as error:
                problem = str(error)
            said.append(answer.text)
            body = asked_again(body, answer.text, problem)
        raise UnreadableError(
            f"{operation.name}: unreadable after a repair: {problem}",
            text=_SAID_AGAIN.join(said),
            usage=replace(usage, unreadable=1),
        )

    def _answered_by_rule(
        self,
        dry_run: DryRun,
        operation: Operation[Req, Res],
        request: Req,
        prompt: Prompt,
        body: dict[str, Any],
        sample: int,
    ) -> Reply[Res]:
        """The rule-based answer, booked as the provider's might be."""
        key = self.key(body, sample)
        cache = self._open_cache() if Path(str(self.settings.cache)).is_file() else None
        response, text, tokens_in, tokens_out = dry_run.ask(operation, request, prompt, body)
        estimated = Response(text=text, stop="end", tokens_in=tokens_in, tokens_out=tokens_out)
        stored = cache.get(key) if cache is not None else None
        paid = stored is None and dry_run.is_new(key)
        cost = self.cost(estimated)
        usage = Usage(
            calls=1,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            cost_usd=cost,
            paid_usd=cost * self.paid_share if paid else 0.0,
            paid_calls=int(paid),
        )
        return Reply(response=response, text=text, usage=usage)

    def _parsed(self, operation: Operation[Req, Res], answer: Response, request: Req) -> Res:
        if answer.stop == "length":
            return operation.parse_cut(answer.text, request, answer.tokens_out)
        return operation.parse(answer.text, request)


def most_tokens(schema: Mapping[str, Any]) -> int:
    """Tokens that are enough for the longest answer in a form: one a character, as of digits.

    What the form does not bound counts as much as any model may write.
    """
    return math.ceil(min(_MOST, _characters(schema))) + 16


def _characters(schema: Any) -> float:
    kinds = schema.get("type", "object")
    if "anyOf" in schema:
        return max(map(_characters, schema["anyOf"]))
    if "enum" in schema:
        return max(len(str(value)) for value in schema["enum"]) + 4.0
    if "object" in kinds:
        inner = schema.get("properties", {}).items()
        return 8 + sum(len(name) + 12 + _characters(entry) for name, entry in inner)
    if "array" in kinds:
        most = schema.get("maxItems", math.inf)
        return float(4 + most * (4 + _characters(schema["items"])))
    if "string" in kinds:
        return float(schema.get("maxLength", math.inf)) + 4
    return 24.0


def _as_sure(response: Res, confidence: float | None) -> Res:
    """The response with the confidence that its log-probabilities give, where it has a place."""
    if confidence is None or not is_dataclass(response) or not hasattr(response, "confidence"):
        return response
    sure: Any = replace(cast(Any, response), confidence=confidence)
    return cast(Res, sure)


def asked_again(body: dict[str, Any], text: str, problem: str) -> dict[str, Any]:
    """The request that follows an answer whose reading ended in `problem`."""
    turns = [
        {"role": "assistant", "content": text.strip() or "(no answer)"},
        {"role": "user", "content": _REPAIR.format(problem=problem)},
    ]
    return {**body, "messages": [*body["messages"], *turns]}
