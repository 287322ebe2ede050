"""The offline author: patches from the target's fixed library."""

from __future__ import annotations

from random import Random

from framework.contracts import Assignment, Author, Client
from framework.registry import NoSettings, register
from framework.text.canonical import canonical_json, digest


@register("author", "rules")
class Rules(Author[NoSettings]):
    """Proposes the library's patches at the assigned seams, in an order drawn from the seed.

    It does not look at the failures: which patches are worth anything is for the gates to find. A
    patch comes once until something is promoted, and then again, since it is another pipeline.
    """

    async def draft(self, assignment: Assignment, client: Client) -> str | None:
        tried = {digest([t.seam, t.payload]) for t in assignment.tried}
        patches = [p for p in assignment.library if p.seam in assignment.seams]
        Random(f"rules:{assignment.seed}").shuffle(patches)
        for patch in patches:
            if digest([patch.seam, patch.payload]) not in tried:
                return canonical_json({"seam": patch.seam, **patch.payload, "why": patch.id})
        return None
