"""Operations and the models that answer them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

from framework.contracts.configured import Configured, S
from framework.records import EMPTY, Usage
from framework.text.reading import read_json

Req = TypeVar("Req")
Res = TypeVar("Res")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What an operation sends to a language model.

    shared : the first so many characters of `user` are the same in other requests of one history
        (the log that is projected under three budgets): a provider may be told to keep them.
    chat : a request of OpenAI's chat protocol (`messages`, `response_format`, `temperature`,
        `tools` and such), asked in place of `system` and `user`, which then only show it.
    """

    system: str
    user: str
    shared: int = 0
    chat: Mapping[str, Any] = EMPTY

    @property
    def text(self) -> str:
        """System and user text as one, for counting and for the record."""
        return f"{self.system}\n\n{self.user}"


class Operation(ABC, Generic[Req, Res]):
    """A typed question to a model: a prompt, and how the answer is read.

    A rule-based model answers by the rule of the same name (`framework.contracts.Rule`). Models
    only dispatch, so third parties add operations and rules without touching one.
    """

    name: ClassVar[str]

    @abstractmethod
    def prompt(self, request: Req) -> Prompt:
        """The text sent to a language model."""

    def schema(self, request: Req) -> Mapping[str, Any] | None:
        """JSON schema of the answer, for a provider's structured output; None asks for plain text.

        Where every object lists all its properties as required and forbids others, a provider that
        can will hold the answer to it strictly.
        """
        return None

    @abstractmethod
    def parse(self, text: str, request: Req) -> Res:
        """The response in a model's text. Raises ValueError when it can't be read as one."""

    def parse_cut(self, text: str, request: Req, tokens: int) -> Res:
        """The response in a text that was cut off at so many tokens: by default a ValueError."""
        raise ValueError(f"it was cut off at {tokens} tokens; answer in fewer words")

    def render(self, response: Res) -> str:
        """The response as text: counted as output tokens when the rule-based model answered."""
        from framework.text.canonical import canonical_json

        return canonical_json(response)

    @staticmethod
    def json_object(text: str) -> dict[str, Any]:
        """The one JSON object in `text`. Raises ValueError when there is none."""
        start, end = text.find("{"), text.rfind("}")
        if start < 0 or end < start:
            raise ValueError("no JSON object in the response")
        value = read_json(text[start : end + 1])
        if not isinstance(value, dict):
            raise ValueError("the response is not a JSON object")
        return value


class Client(Protocol):
    """What an arch, reader or judge asks a model through: phase and ledger are already bound."""

    @property
    def kind(self) -> str:
        """The model's: `rule-based` or `llm`."""
        ...

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model's plugin and the settings that may change what it answers, as plain data."""
        ...

    async def ask(self, operation: Operation[Req, Res], request: Req) -> Res:
        """The model's response. Raises ModelError when the call fails for good."""
        ...

    def choose(self, options: Sequence[str]) -> str:
        """One of the options, by a hash of the run's seed and the case: evenly over cases.

        It is the same for every arm and repeat of a case, and no model is asked.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Generic[Res]):
    """A model's response, its raw text, and what it took.

    usage : tokens as the provider counted them, dollars at list price and as paid, seconds; None
        for a rule-based model, whose tokens are then counted with our own counter at price 0.
    """

    response: Res
    text: str
    usage: Usage | None = None


class Model(Configured[S], group="model"):
    """Answers operations. `kind` is `rule-based` or `llm` and marks every row and report.

    reads_forms : the forms of wording (`form` among the tags of a case) that it was made to read;
    None for all. What it answers in another form is shown apart, never pooled with these.
    """

    kind: ClassVar[Literal["rule-based", "llm"]]
    reads_forms: ClassVar[frozenset[str] | None] = None
    in_process: ClassVar[bool] = False
    """Whether it is loaded in the process: the jobs of a sweep then run one after the other."""

    @abstractmethod
    async def run(self, operation: Operation[Req, Res], request: Req, sample: int) -> Reply[Res]:
        """The reply, for sample index `sample` of the same request.

        Raises ModelError when the call failed for good, ValueError when the response can't be
        read, and StopRun when nothing more may be asked in this run.
        """

    @property
    def concurrency(self) -> int:
        """Cases that may be under way at once."""
        return 1

    @property
    def described(self) -> str:
        """What names the language model on its rows; empty for a rule-based one."""
        return ""

    async def close(self) -> None:
        """Release connections."""
        return None
