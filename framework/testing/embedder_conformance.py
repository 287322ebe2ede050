"""The laws of an embedder, as one check that any author can run.

    from framework.testing.embedder_conformance import check_embedder

    def test_my_embedder() -> None:
        check_embedder(MyEmbedder, MySettings())

It embeds a few texts in several batches and raises AssertionError with the law that failed: the
shape and type of the array, rows of length 1 (0 where there is no text), and that a text gets the
same row whatever stands beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from framework.contracts import Embedder
from framework.models.client import Ledger, track_usage
from framework.testing.arch_conformance import settle

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TEXTS: Final = (
    "The credit score is 655. Two accounts are open.",
    "Correction: the credit score is 610, not 655.",
    "Überweisung über 4.500 €",
    "",
    "The office opens at nine.",
    "The credit score is 655. Two accounts are open.",
)


def check_embedder(
    embedder: type[Embedder[Any]], settings: Any, *, tolerance: float = 1e-5
) -> None:
    """Hold an embedder with these settings to every law, or raise AssertionError.

    tolerance : largest difference of one number between two batches. Asks nothing of quality. Must
    not be called from a running event loop.
    """
    import numpy as np

    assert isinstance(settings, embedder.Settings), f"settings are not {embedder.Settings.__name__}"
    assert (embedder.__doc__ or "").strip(), "a docstring says what it is and where it is from"
    assert embedder.kind in ("lexical", "model"), f"kind is {embedder.kind!r}"
    used = embedder(settings)
    rows = embedded(used, TEXTS)
    assert rows.dtype == np.float32, f"{rows.dtype} given, float32 expected"
    assert rows.shape == (len(TEXTS), used.dimension), f"the shape is {rows.shape}"
    assert embedded(used, []).shape == (0, used.dimension), "no texts, no rows"
    lengths = np.linalg.norm(rows, axis=1)
    for text, length in zip(TEXTS, lengths, strict=True):
        whole = abs(length - 1) <= 1e-4
        assert whole or (not text and length == 0), f"a row of length {length} for {text!r}"
    assert np.array_equal(rows[0], rows[-1]), "the same text has two rows"
    alone = np.concatenate([embedded(used, [text]) for text in TEXTS])
    assert np.abs(alone - rows).max() <= tolerance, "a row depends on what stands beside it"
    fresh = embedded(embedder(settings), TEXTS[::-1])[::-1]
    assert np.abs(fresh - rows).max() <= tolerance, "another instance gives other rows"


def embedded(embedder: Embedder[Any], texts: Sequence[str]) -> NDArray[np.float32]:
    """What the embedder makes of the texts, booked on a ledger of its own."""

    async def wait() -> Any:
        value = embedder.embed(texts)
        rows = await value if hasattr(value, "__await__") else value
        await embedder.close()
        return rows

    with track_usage(Ledger(), "ingest", 0):
        rows: NDArray[np.float32] = settle(wait())
    return rows
