"""Going along the same path with rule-based answers in a language model's place, unsent.

An estimate is made so, and the local server for tests learns its answers so: whatever the run will
ask, in its own words, is asked here first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeVar

from framework.contracts import Operation, Prompt, answer_by_rule
from framework.text.canonical import canonical_json, digest

Req = TypeVar("Req")
Res = TypeVar("Res")

_PIECE: Final = re.compile(r" ?[^\W\d_]{1,9}|\d{1,3}| ?[^\s\w]+|_|\s+")
"""Where byte-pair tokenizers first cut a text: words with the space before them, runs of marks."""


class DryRun:
    """The rule-based answers to what would be asked, by their prompt."""

    def __init__(self) -> None:
        self.answers: dict[str, str] = {}
        self._asked: set[str] = set()

    def ask(
        self,
        operation: Operation[Req, Res],
        request: Req,
        prompt: Prompt,
        body: Mapping[str, Any],
    ) -> tuple[Res, str, int, int]:
        """The response, its text, and the tokens that a provider might count in and out.

        What a request says besides its prompt, as the schema of the answer, counts as well.
        """
        text = operation.render(answer_by_rule(operation, request))
        self.answers[prompt_key(prompt.system, prompt.user)] = text
        form = {k: body[k] for k in ("tools", "response_format", "output_config") if k in body}
        asked = prompt.system + prompt.user + (canonical_json(form) if form else "")
        # Read as an answer of the provider's would be: what follows may depend on its order.
        return operation.parse(text, request), text, likely_tokens(asked), likely_tokens(text)

    def is_new(self, key: str) -> bool:
        """Whether a request is asked for the first time."""
        known = key in self._asked
        self._asked.add(key)
        return not known


def likely_tokens(text: str) -> int:
    """About as many tokens as a provider will count; within some 10% of four bytes each.

    Our own counter, made for budgets, takes every mark of JSON for a token: up to twice too many.
    """
    return sum(1 for _ in _PIECE.finditer(text))


def prompt_key(system: str, user: str) -> str:
    """What names a prompt among the answers."""
    return digest([system, user])


_on: ContextVar[DryRun | None] = ContextVar("decisionbench_dry_run", default=None)


@contextmanager
def as_dry_run(dry_run: DryRun) -> Iterator[DryRun]:
    """Inside, language models answer from the rules and send nothing; they need no key."""
    token = _on.set(dry_run)
    try:
        yield dry_run
    finally:
        _on.reset(token)


def current_dry_run() -> DryRun | None:
    """The dry run that is on."""
    return _on.get()
