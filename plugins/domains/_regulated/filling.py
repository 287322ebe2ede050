"""Bringing a history to its length with supporting documents and filler, and setting its order.

None of it depends on facts, rules or label. `filler_share` is the share of all tokens in office
filler; what the necessary documents leave of the rest goes to records and reports of the case.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from plugins.domains._regulated.drafts import Draft, Writer
from plugins.domains._regulated.spec import DocumentSpec

_LEAST: Final = 30
_REFERS: Final = 0.12
_REPLACES: Final = 0.05


def fill_up(
    writer: Writer, drafts: Sequence[Draft], written: int, tokens: int, filler_share: float
) -> list[Draft]:
    """All documents of a history of about `tokens` tokens, in order of arrival.

    `written` : the tokens that `drafts` count as; for a twin, those of the case it is the twin of.
    """
    filler = min(round(tokens * filler_share), max(0, tokens - written))
    supporting = max(0, tokens - written - filler)
    spec = writer.spec
    added: list[Draft] = []
    left = 0
    for uses, room in ((("record", "supporting"), supporting), (("filler",), filler)):
        documents = [d for use in uses for d in spec.used(use)]
        left = _add(writer, drafts, added, documents, room + left)
    return sorted((*drafts, *added), key=lambda draft: (draft.arrival, draft.order))


def _add(
    writer: Writer,
    drafts: Sequence[Draft],
    added: list[Draft],
    documents: Sequence[DocumentSpec],
    room: int,
) -> int:
    """Add documents into `added` until `room` is used; returns the tokens left over.

    First come as many of each type as there are due, then any.
    """
    rng = writer.rng
    due: list[DocumentSpec] = []
    for document in documents:
        present = sum(draft.spec_id == document.id for draft in drafts)
        due += [document] * max(0, rng.randint(*document.count) - present)
    rng.shuffle(due)
    while room >= _LEAST:
        document = due.pop() if due else documents[int(rng.random() * len(documents))]
        draft = writer.start(f"filling/{len(added)}", document)
        _link(writer, draft, drafts, added)
        used = writer.fill(draft, document.sentences, limit=room)
        if not draft.lines:
            break
        added.append(draft)
        room -= used
    return room


def _link(writer: Writer, draft: Draft, drafts: Sequence[Draft], added: Sequence[Draft]) -> None:
    """Now and then a reference to an earlier document, so that edges do not tell what matters."""
    spec, rng = writer.spec, writer.rng
    point = rng.random()
    if point < _REFERS:
        target = drafts[int(rng.random() * len(drafts))]
        relation, forms = "cites", spec.references
    elif point < _REFERS + _REPLACES and added:
        target = added[int(rng.random() * len(added))]
        relation, forms = "supersedes", spec.replacements
    else:
        return
    if target.day > draft.day:
        return
    form = forms[int(rng.random() * len(forms))]
    text = form.replace("{title}", target.title).replace("{date}", target.day.isoformat())
    draft.lines.append((text, False))
    draft.edges.append((relation, target.id))
