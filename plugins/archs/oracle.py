"""The gold's own source spans: the upper bound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from framework.contracts import Arch, Query
from framework.records import Event, Gold, Item, Span
from framework.registry import NoSettings, register
from framework.text.tokens import count_tokens


@register("arch", "oracle")
class Oracle(Arch[NoSettings]):
    """Exactly the gold's source spans, under the budget: the upper limit of any memory.

    Any one span carries its item, so the order is: the shortest span of every critical item, the
    shortest span of every other item, shorter ones first, then their further spans. A span within
    one already given from the same event is left out. Where the gold names evidence events that no
    span comes from (question answering), those events follow whole. Only what arrived, word for
    word, counts.
    """

    sees_gold = True
    query = "none"
    control = "ceiling"

    def ingest(self, events: Iterable[Event]) -> None:
        self._texts = {event.id: event.text for event in events}

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        if query.gold is None:
            return []
        items: list[Item] = []
        seen: dict[str, list[str]] = {}
        for span in self._wanted(query.gold):
            given = seen.setdefault(span.source_id, [])
            if len(items) < k and not any(span.text in text for text in given):
                given.append(span.text)
                items.append(
                    Item(
                        id=f"{span.source_id}#{len(given)}",
                        text=span.text,
                        signals={"rank": len(items) + 1},
                        source_ids=(span.source_id,),
                    )
                )
        return items

    def _wanted(self, gold: Gold) -> Iterator[Span]:
        carried = [
            (item.critical, sorted(arrived, key=lambda span: count_tokens(span.text)))
            for item in gold.items
            if (arrived := [s for s in item.spans if s.text in self._texts.get(s.source_id, "")])
        ]
        carried.sort(key=lambda one: (not one[0], count_tokens(one[1][0].text)))
        first = [spans[0] for _, spans in carried]
        yield from (span for span in first if not _within_another(span, first))
        yield from (span for _, spans in carried for span in spans[1:])
        covered = {span.source_id for item in gold.items for span in item.spans}
        for source_id in gold.evidence:
            if source_id in self._texts and source_id not in covered:
                yield Span(source_id=source_id, text=self._texts[source_id])


def _within_another(span: Span, spans: Sequence[Span]) -> bool:
    """Whether a longer span of the same event holds this one, so that giving both would waste."""
    return any(
        span.text in other.text and len(span.text) < len(other.text)
        for other in spans
        if other.source_id == span.source_id
    )
