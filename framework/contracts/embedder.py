"""Embedders: texts as points whose inner product says how similar they are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from framework.contracts.configured import Configured, S

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Configured[S], group="embedder"):
    """Turns texts into vectors. One instance serves a whole run.

    kind : `lexical` for hashed words, where similarity is overlap of words and a result is marked a
        check of the generator; `model` for what was learned.

    default : whether a configuration that names no embedder has this one; labels leave it out.

    What an embedder takes of a provider it books on the phase under way
    (`framework.models.client.book`): a history on ingest, a query on recall.
    """

    kind: ClassVar[Literal["lexical", "model"]]
    default: ClassVar[bool] = False
    in_process: ClassVar[bool] = False
    """Whether a model is loaded in the process: a sweep's jobs then run one after the other."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Length d of every vector."""

    @abstractmethod
    def embed(self, texts: Sequence[str]) -> Awaitable[NDArray[np.float32]] | NDArray[np.float32]:
        """An (n, d) array, row i for text i, of Euclidean length 1 or, for an empty text, 0.

        The same text gets the same row whatever stands beside it. Raises as `Model.run` does.
        """

    def embed_queries(
        self, texts: Sequence[str]
    ) -> Awaitable[NDArray[np.float32]] | NDArray[np.float32]:
        """The same for what a memory is asked with, where the model was trained to tell them apart.

        By default a query is embedded as any text.
        """
        return self.embed(texts)

    async def close(self) -> None:
        """Release connections."""
        return None
