"""OpenAI's embedding models through its own SDK, and every server that speaks its protocol."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final

from framework.bounds import at_least
from framework.contracts import Embedder
from framework.errors import ModelError
from framework.models.cache import Response
from framework.models.client import book
from framework.models.dry_run import current_dry_run, likely_tokens
from framework.models.sdk import ThroughSDK, tokens_of
from framework.models.transport import ServedSettings
from framework.records import Usage
from framework.registry import register

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_OPERATION: Final = "embed"
"""What a call is called in the cache and in messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIEmbedderSettings(ServedSettings):
    """Settings of `embedder=openai`, besides those of everything served.

    base_url : also the address of vLLM, Ollama or llama.cpp, such as `http://127.0.0.1:8000/v1`.
    dimension : length of the model's vectors, at least 1; another length in an answer is an error.
    batch : texts per call, at least 1. A text's numbers may depend on it in the last digits, and
        calls are counted by it.
    """

    name: str = "text-embedding-3-small"
    base_url: str = "https://api.openai.com/v1"
    dimension: Annotated[int, at_least(1)] = 1536
    batch: Annotated[int, at_least(1)] = 128
    api_key_env: str | None = field(default="OPENAI_API_KEY", metadata={"operational": True})


@register("embedder", "openai")
class OpenAIEmbedder(ThroughSDK[OpenAIEmbedderSettings], Embedder[OpenAIEmbedderSettings]):
    """OpenAI's embedding models, and any OpenAI-compatible server (`/embeddings`).

    Responses are cached, capped and tried again as a language model's are, and booked on the phase
    under way. Texts of one call to `embed` are sent once each, in order, `batch` at a time; empty
    ones are not sent. Raises ModelError, StopRun and UserError as `Model` does.
    The text of a stored response is its numbers, little-endian float32 in base64.
    Source: https://developers.openai.com/api/reference/resources/embeddings.
    """

    kind = "model"
    group = "embedder"
    provider = "openai"
    sdk = "openai"
    client = "AsyncOpenAI"
    path = "/embeddings"

    @property
    def dimension(self) -> int:
        return self.settings.dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        distinct = list(dict.fromkeys(text for text in texts if text.strip()))
        place = {text: i for i, text in enumerate(distinct)}
        size = self.settings.batch
        batches = [distinct[i : i + size] for i in range(0, len(distinct), size)]
        if not batches:
            return rows
        parts = await asyncio.gather(*map(self._batch, batches), return_exceptions=True)
        for part in parts:
            if isinstance(part, BaseException):  # the others have ended and are booked
                raise part
        vectors = np.concatenate([part for part in parts if not isinstance(part, BaseException)])
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        for row, text in enumerate(texts):
            if text in place:
                rows[row] = vectors[place[text]]
        return rows

    async def _batch(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        body = {"model": self.settings.name, "input": list(texts), "encoding_format": "float"}
        if (dry_run := current_dry_run()) is not None:
            from framework.models.hashing import hashed_words

            tokens = sum(map(likely_tokens, texts))
            cost = self.cost(Response(text="", stop="end", tokens_in=tokens, tokens_out=0))
            new = dry_run.is_new(self.key(body, 0))
            book(
                Usage(
                    calls=1,
                    tokens_in=tokens,
                    cost_usd=cost,
                    paid_usd=cost if new else 0.0,
                    paid_calls=int(new),
                )
            )
            return hashed_words(texts, self.dimension)
        try:
            response, usage = await self.answer(_OPERATION, body, 0, Usage())
        except ModelError as error:
            book(error.usage)
            raise
        book(usage)
        vectors = np.frombuffer(base64.b64decode(response.text), dtype="<f4")
        if vectors.size != len(texts) * self.dimension:
            found = vectors.size / len(texts)
            raise ValueError(
                f"embedder.dimension: {self.dimension} given, {self.settings.name} gives {found:g}"
            )
        return vectors.reshape(len(texts), self.dimension).copy()

    def response(self, answer: Any, request: Mapping[str, Any]) -> Response:
        import numpy as np

        texts = request["input"]
        ordered = sorted(answer["data"], key=lambda entry: int(entry["index"]))
        if [int(entry["index"]) for entry in ordered] != list(range(len(texts))):
            raise ValueError("not one vector for each text")
        vectors = np.array([entry["embedding"] for entry in ordered], dtype="<f4")
        if vectors.ndim != 2 or not np.isfinite(vectors).all():
            raise ValueError("no vectors of one length")
        tokens = tokens_of(answer.get("usage"), "prompt_tokens")
        return Response(
            text=base64.b64encode(vectors.tobytes()).decode(),
            stop="end",
            tokens_in=tokens,
            tokens_out=0,
            model=str(answer.get("model", "")),
        )
