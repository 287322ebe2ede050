"""Going along the same path with rule-based answers in a language model's place, unsent.

An estimate is made so, and the local server for tests learns its answers so: whatever the run will
ask, in its own words, is asked here first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from framework.canonical import canonical_json, digest
from framework.contracts import Operation, Profile, Prompt
from framework.tokens import count_tokens

Req = TypeVar("Req")
Res = TypeVar("Res")

_PROMPT, _FORM, _ANSWER = 1.0, 0.5, 0.85
"""Tokens of a byte-pair tokenizer for one of our own, in prose, a JSON schema, a JSON answer.

Of JSON it takes several marks at once. Measured on prompts of every shipped operation against
such a tokenizer's rule of cutting (that of `framework.testing.server`) and four bytes a token.
"""


class Rehearsal:
    """The rule-based answers to what would be asked, by their prompt."""

    def __init__(self) -> None:
        self.answers: dict[str, str] = {}
        self._asked: set[str] = set()
        self._profile = Profile()

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
        response = operation.offline(request, self._profile)
        text = operation.render(response)
        self.answers[prompt_key(prompt.system, prompt.user)] = text
        form = {k: body[k] for k in ("tools", "response_format", "output_config") if k in body}
        tokens_in = _PROMPT * (count_tokens(prompt.system) + count_tokens(prompt.user))
        if form:
            tokens_in += _FORM * count_tokens(canonical_json(form))
        return response, text, round(tokens_in), round(_ANSWER * count_tokens(text))

    def is_new(self, key: str) -> bool:
        """Whether a request is asked for the first time."""
        known = key in self._asked
        self._asked.add(key)
        return not known


def prompt_key(system: str, user: str) -> str:
    """What names a prompt among the answers."""
    return digest([system, user])


_on: ContextVar[Rehearsal | None] = ContextVar("decisionbench_rehearsal", default=None)


@contextmanager
def rehearsed(rehearsal: Rehearsal) -> Iterator[Rehearsal]:
    """Inside, language models answer from the rules and send nothing; they need no key."""
    token = _on.set(rehearsal)
    try:
        yield rehearsal
    finally:
        _on.reset(token)


def rehearsing() -> Rehearsal | None:
    """The rehearsal that is on."""
    return _on.get()
