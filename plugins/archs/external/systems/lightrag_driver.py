"""lightrag-hku: `ainsert` for an event, `aquery_data` in its default mode (`mix`) for a query.

    python lightrag_driver.py

Defaults of the product, but for:
- a tokenizer of words and marks, since its own (tiktoken) downloads a vocabulary; it only measures
  lengths, of chunks of 1,200 tokens and of what a search may give;
- no time limit of its own for a model's answer.
Results are what the product would put before a model, in its order: entities, relations, pieces of
texts. An event's id is the name of its file, which the product keeps with all that it made of it.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from pathlib import Path
from typing import Any

import bridge

# isort: split
import numpy as np
from lightrag import LightRAG, QueryParam
from lightrag.utils import EmbeddingFunc, Tokenizer

FOREVER = 10**6
"""Seconds: the run has limits of its own."""
SEPARATOR = "<SEP>"
"""Between the files' names of one entity, as the product joins them."""


class Words:
    """Words and marks with the space before them: what joins to the text that it was."""

    def __init__(self) -> None:
        self.known: list[str] = []
        self.numbers: dict[str, int] = {}

    def encode(self, content: str) -> list[int]:
        """A number for each."""
        found = re.findall(r"\s*(?:\w+|[^\w\s])|\s+$", content)
        for word in found:
            if word not in self.numbers:
                self.numbers[word] = len(self.known)
                self.known.append(word)
        return [self.numbers[word] for word in found]

    def decode(self, tokens: list[int]) -> str:
        """The text again."""
        return "".join(self.known[token] for token in tokens)


async def ask(
    prompt: str,
    system_prompt: str | None = None,
    history_messages: list[dict[str, str]] | None = None,
    **options: Any,
) -> str:
    """What the run's model answers."""
    turns = [{"role": "system", "content": system_prompt}] if system_prompt else []
    turns += [*(history_messages or []), {"role": "user", "content": prompt}]
    form = options.get("response_format")
    asked = {"response_format": form} if isinstance(form, dict) else {}
    return await asyncio.to_thread(bridge.chat, turns, **asked)


async def embed(texts: list[str], **_: Any) -> Any:
    """The run's vectors."""
    return np.array(await asyncio.to_thread(bridge.embed, list(texts)), dtype=np.float32)


class Graph:
    """One working directory's graph."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.folder = Path(os.environ["HOME"]) / "graph"
        self.rag = self._opened()

    def _opened(self) -> LightRAG:
        rag = LightRAG(
            working_dir=str(self.folder),
            tokenizer=Tokenizer("words", Words()),
            llm_model_func=ask,
            embedding_func=EmbeddingFunc(embedding_dim=bridge.DIMENSION, func=embed),
            default_llm_timeout=FOREVER,
            default_embedding_timeout=FOREVER,
        )
        self.loop.run_until_complete(rag.initialize_storages())
        return rag

    def write(self, event: dict[str, Any]) -> None:
        name = event["id"]
        self.loop.run_until_complete(self.rag.ainsert(event["text"], ids=name, file_paths=name))

    def retrieve(self, query: str, limit: int) -> list[dict[str, Any]]:
        found = self.loop.run_until_complete(self.rag.aquery_data(query, QueryParam()))
        data = found.get("data") or {}
        texts = (
            [
                *((f"{one['entity_name']}: {one['description']}", one) for one in data["entities"]),
                *(
                    (f"{one['src_id']}, {one['tgt_id']}: {one['description']}", one)
                    for one in data["relationships"]
                ),
                *((one["content"], one) for one in data["chunks"]),
            ]
            if data
            else []
        )
        named = [(text, one.get("file_path", "").split(SEPARATOR)) for text, one in texts]
        return [{"text": text, "id": names} for text, names in named[:limit]]

    def reset(self) -> None:
        self.loop.run_until_complete(self.rag.finalize_storages())
        shutil.rmtree(self.folder, ignore_errors=True)
        self.rag = self._opened()


if __name__ == "__main__":
    bridge.serve(Graph())
