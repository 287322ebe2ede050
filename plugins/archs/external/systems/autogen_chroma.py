"""AutoGen's vector memory over Chroma, on disk.

Deviations from its defaults: the vectors are the run's embedder's (the default downloads a model),
and `k`, a setting of the memory (3), is what the search asks for.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import bridge
from autogen_core.memory import MemoryContent, MemoryMimeType
from autogen_ext.memory.chromadb import (
    ChromaDBVectorMemory,
    CustomEmbeddingFunctionConfig,
    PersistentChromaDBVectorMemoryConfig,
)
from chromadb import EmbeddingFunction


class Embedder(EmbeddingFunction):  # type: ignore[misc]  # of a package that is not ours
    """The run's, as Chroma asks for it."""

    def __init__(self) -> None: ...

    def __call__(self, input: Any) -> Any:
        return bridge.embed(list(input))


class ChromaMemory:
    """A folder of its own for each history."""

    def __init__(self) -> None:
        self._stores, self._loop = itertools.count(), asyncio.new_event_loop()
        self.reset()

    def reset(self) -> None:
        self._folder = f"store{next(self._stores)}"
        self._memories: dict[int, ChromaDBVectorMemory] = {}

    def _memory(self, k: int) -> ChromaDBVectorMemory:
        if k not in self._memories:
            config = PersistentChromaDBVectorMemoryConfig(
                persistence_path=self._folder,
                k=k,
                embedding_function_config=CustomEmbeddingFunctionConfig(
                    function=Embedder, params={}
                ),
            )
            self._memories[k] = ChromaDBVectorMemory(config=config)
        return self._memories[k]

    def write(self, event: dict[str, Any]) -> None:
        content = MemoryContent(
            content=event["text"], mime_type=MemoryMimeType.TEXT, metadata={"event": event["id"]}
        )
        self._loop.run_until_complete(self._memory(1).add(content))

    def retrieve(self, query: str, limit: int) -> list[dict[str, Any]]:
        found = self._loop.run_until_complete(self._memory(limit).query(query)).results
        return [
            {"text": one.content, "id": one.metadata["event"], "score": one.metadata["score"]}
            for one in found
        ]


if __name__ == "__main__":
    bridge.serve(ChromaMemory())
