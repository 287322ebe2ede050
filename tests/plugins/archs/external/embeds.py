"""A memory that embeds with the run's embedder, and asks no language model.

python embeds.py FOLDER_OF_BRIDGE
"""

from __future__ import annotations

import sys
from typing import Any

sys.path.insert(0, sys.argv[1])
import bridge


class Embeds:
    """The texts, and their vectors."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.texts: list[tuple[str, list[float], str]] = []

    def write(self, event: dict[str, Any]) -> None:
        self.texts.append((event["text"], bridge.embed([event["text"]])[0], event["id"]))

    def retrieve(self, query: str, limit: int) -> list[dict[str, Any]]:
        asked = bridge.embed([query])[0]

        def near(one: tuple[str, list[float], str]) -> float:
            return -sum(a * b for a, b in zip(asked, one[1], strict=True))

        return [{"text": text, "id": id_} for text, _, id_ in sorted(self.texts, key=near)[:limit]]


if __name__ == "__main__":
    bridge.serve(Embeds())
