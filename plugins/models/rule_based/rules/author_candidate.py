"""How an edit is drafted: a patch of the target's library."""

from __future__ import annotations

import re
from typing import Final

from framework.contracts import Assignment, Profile, Rule
from framework.registry import register
from framework.text.canonical import canonical_json, digest

_WORD: Final = re.compile(r"[^\W\d_]{4,}")


@register("rule", "author_candidate")
class AuthorCandidateRule(Rule[Assignment, str]):
    """The untried patch whose words and note share most with the failed questions.

    The first of equals; empty when all were tried. A language model is never shown the library.
    """

    def answer(self, request: Assignment, profile: Profile) -> str:
        tried = {digest([t.seam, t.payload]) for t in request.tried}
        asked = _words(" ".join(f.question for f in request.failures))
        best, shared = "", -1
        for patch in request.library:
            if patch.seam in request.seams and digest([patch.seam, patch.payload]) not in tried:
                draft = canonical_json({"seam": patch.seam, **patch.payload, "why": patch.id})
                common = len(asked & _words(f"{draft} {patch.note}"))
                if common > shared:
                    best, shared = draft, common
        return best


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text))
