"""Encoders in the process whose vectors runs share on disk."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, TypeVar

from framework.bounds import Bounded, at_least
from framework.contracts import Embedder
from framework.errors import StopRun, UserError
from plugins.embedders._vectors import VectorCache

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_OPERATIONAL: Final = {"operational": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSettings(Bounded):
    """Settings of an encoder whose vectors are stored.

    cache : the file of vectors that runs share, by model and text; None stores nothing.
    replay : use only vectors from the cache, which needs no package.
    threads : number of computing threads, at least 1; it changes no number.
    """

    cache: str | None = field(default=".cache/embeddings.sqlite", metadata=_OPERATIONAL)
    replay: bool = field(default=False, metadata=_OPERATIONAL)
    threads: Annotated[int, at_least(1)] = field(default=1, metadata=_OPERATIONAL)


S = TypeVar("S", bound=StoredSettings)


class StoredEmbedder(Embedder[S]):
    """An encoder that reads each text alone, so that a vector hangs on nothing beside its text.

    A subclass says what names the model in the cache (`model`), raises UserError from `installed`
    where its package is missing, and encodes one text. Raises UserError for a replay without a
    file, StopRun for one that lacks a text.
    """

    kind = "model"
    in_process = True
    model: ClassVar[str]

    def __init__(self, settings: S) -> None:
        super().__init__(settings)
        if settings.replay and not (settings.cache and Path(settings.cache).is_file()):
            raise UserError(f"embedder.replay: {settings.cache} holds no vectors")
        if not settings.replay:
            self.installed()
        self._vectors = VectorCache(Path(settings.cache) if settings.cache else None, self.model)

    @abstractmethod
    def installed(self) -> None:
        """Raises UserError where the package of the model is not installed."""

    @abstractmethod
    def encoded(self, text: str, asked: bool) -> NDArray[np.float32]:
        """The unit vector of one text; `asked` for what is looked for, else for what is kept."""

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
            found = self.encoded(text, asked)
            self._vectors.put(form, text, found)
        return found
