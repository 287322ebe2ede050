"""What to search for next, with what has been read so far (IRCoT, Trivedi et al. 2023)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from framework.operations.prompted import PromptedOperation
from framework.registry import register


@dataclass(frozen=True, slots=True, kw_only=True)
class NextQueryRequest:
    """The task's instruction, the queries asked so far, and the passages read, in their order."""

    instruction: str
    asked: tuple[str, ...]
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NextQueryResponse:
    """The next query; empty when nothing more is to be searched for."""

    query: str


@register("operation", "next_query")
class NextQuery(PromptedOperation[NextQueryRequest, NextQueryResponse]):
    """Propose the next query, or stop."""

    response = NextQueryResponse
    slots = frozenset({"instruction", "asked", "passages"})

    def fill(self, request: NextQueryRequest) -> Mapping[str, str]:
        return {
            "instruction": request.instruction,
            "asked": "\n".join(f"{n}. {query}" for n, query in enumerate(request.asked, 1)),
            "passages": "\n".join(f"<passage>\n{text}\n</passage>" for text in request.passages),
        }

    def parse(self, text: str, request: NextQueryRequest) -> NextQueryResponse:
        return NextQueryResponse(query=" ".join(super().parse(text, request).query.split()))
