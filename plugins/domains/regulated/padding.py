"""Bringing a history to its length with supporting documents and filler, and setting its order.

None of it depends on facts, rules or label. `filler_share` is the share of all tokens in office
filler; what the necessary documents leave of the rest goes to records and reports of the case.
References between documents come last, over necessary and added ones alike, so that the edges of
a history do not tell what matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from framework.text.tokens import count_tokens
from plugins.domains.regulated.near_misses import NearMisses
from plugins.domains.regulated.rendering import Draft, Writer
from plugins.domains.regulated.spec import DocumentSpec

_LEAST: Final = 30
_REFERENCES: Final = 0.03
"""Share of a history's tokens in sentences that refer to another document: assumed."""
_RELATIONS: Final = ("cites", "cites", "supports", "supersedes")
"""What a reference is, drawn with equal chances; `supersedes` falls away where none is possible."""


def pad(
    writer: Writer,
    drafts: Sequence[Draft],
    written: int,
    tokens: int,
    filler_share: float,
    near_misses: NearMisses | None = None,
) -> list[Draft]:
    """All documents of a history of about `tokens` tokens, in order of arrival.

    `written` : the tokens that `drafts` count as; for the second of a pair, those of the first.
    `near_misses` : what some of the added documents say that is no fact of the case.
    """
    free = max(0, tokens - written)
    references = min(round(tokens * _REFERENCES), free)
    filler = min(round(tokens * filler_share), free - references)
    supporting = free - references - filler
    spec = writer.spec
    added: list[Draft] = []
    left = 0
    for uses, room in ((("record", "supporting"), supporting), (("filler",), filler)):
        documents = [d for use in uses for d in spec.used(use)]
        left = _add(writer, drafts, added, documents, room + left, near_misses)
    _refer(writer, [*drafts, *added], added, references)
    return sorted((*drafts, *added), key=lambda draft: (draft.arrival, draft.order))


def _add(
    writer: Writer,
    drafts: Sequence[Draft],
    added: list[Draft],
    documents: Sequence[DocumentSpec],
    room: int,
    near_misses: NearMisses | None,
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
        said = near_misses.sentence(draft) if near_misses else ""
        if said and count_tokens(draft.text) + count_tokens(said) <= room:
            draft.lines.append((said, False))
        used = writer.fill(draft, document.sentences, limit=room)
        if not draft.lines:
            break
        added.append(draft)
        room -= used
    return room


def _refer(writer: Writer, drafts: Sequence[Draft], added: Sequence[Draft], room: int) -> None:
    """References from one document to an earlier-dated one until `room` tokens are used.

    What is referred to is drawn first, out of all documents that have a later one, and then which
    later one refers to it: drawn the other way round, old documents, the policy above all, would be
    referred to most. Only added documents supersede one another, within one type: a necessary one
    would lose its standing.
    """
    rng, spec = writer.rng, writer.spec
    ahead = sorted(drafts, key=lambda draft: draft.day)
    last = ahead[-1].day
    targets = [draft for draft in ahead if draft.day < last]
    newest = {draft.spec_id: draft.day for draft in sorted(added, key=lambda draft: draft.day)}
    replaced = [draft for draft in added if draft.day < newest[draft.spec_id]]
    linked = {(draft.id, target) for draft in drafts for _, target in draft.edges}
    while targets and room >= _LEAST:
        relation = _RELATIONS[int(rng.random() * len(_RELATIONS))]
        if relation == "supersedes":
            if not replaced:
                continue
            target = replaced[int(rng.random() * len(replaced))]
            sources = [d for d in added if d.spec_id == target.spec_id and d.day > target.day]
            forms = spec.replacements
        else:
            target = targets[int(rng.random() * len(targets))]
            sources = [draft for draft in ahead if draft.day > target.day]
            forms = spec.references if relation == "cites" else spec.enclosures
        source = sources[int(rng.random() * len(sources))]
        form = forms[int(rng.random() * len(forms))]
        text = form.replace("{title}", target.title).replace("{date}", target.day.isoformat())
        room -= count_tokens(text)
        if (source.id, target.id) not in linked:
            linked.add((source.id, target.id))
            source.lines.append((text, False))
            source.edges.append((relation, target.id))
