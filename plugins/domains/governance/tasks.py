"""Tickets and change plans, and the gold that hangs on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from framework.records import Gold, GoldItem, Retired, Span, TaskCard
from framework.text.canonical import canonical_json
from plugins.domains.governance.content import Contents, Planned
from plugins.domains.governance.invariant import invariant_of
from plugins.domains.governance.layout import Chain, Layout
from plugins.domains.governance.lexicon import UNIT, Value
from plugins.domains.governance.plans import plan_of
from plugins.domains.governance.render import Writer, Written

INSTRUCTION: Final = (
    "You change one component of a service. Decisions that were taken over the years may govern "
    "the change; the ticket does not name them. Fill in the change plan: give a value for every "
    "setting. Keep a value that is asked for. Where a value is only proposed, follow the decision "
    "that governs the setting, and keep the proposal where there is none. A component is governed "
    "by the record that it is built under, and by every record above that one: what it implements, "
    "what it is derived from, what constrains it. Of several that fix the same setting the nearest "
    "governs. A record that was replaced no longer holds; what replaced it does. Records may call "
    "each other by a description in the place of a name."
)


def card_of(layout: Layout, contents: Contents, chain: Chain) -> TaskCard:
    """The public task of a gold chain: ticket and plan are handed over, the query is as set."""
    content = contents.of(chain)
    rng = layout.stream("ticket", chain.index)
    phrases = list(content.surface)
    rng.shuffle(phrases)
    ticket = " ".join(rng.choice(part) for part in layout.words.tickets).format(*phrases)
    component = layout.component(chain.start)
    asked = _in_words(component, content.plan)
    return TaskCard(
        instruction=INSTRUCTION,
        query={"plan": asked, "ticket": ticket, "both": f"{ticket} {asked}"}[layout.settings.query],
        operation="propose_edit",
        material={"ticket": ticket, "change_plan": plan_of(component, content.plan)},
    )


def ticket_of(task: TaskCard) -> str:
    """The ticket, whatever a memory is asked with."""
    return task.material["ticket"]


def _in_words(component: str, plan: Sequence[Planned]) -> str:
    """The plan as a request: component, labels and values; without what each setting can be."""
    said = {True: "asked for", False: "proposed"}
    parts = (f"{p.setting.label} {p.value} {UNIT}" for p in plan)
    listed = (f"{part}, {said[p.asked]}" for part, p in zip(parts, plan, strict=True))
    return f"Change plan of component {component}: {'; '.join(listed)}."


def gold_of(layout: Layout, contents: Contents, writer: Writer, chain: Chain) -> Gold:
    """What must be found and what must come out of it.

    Items: `entry`, the sentence that puts the component under the entry record; `hop:k`, the one
    that states the k-th link; with versions, `version:k`, what states the k-th replacement; and
    `decision`, critical, what the governing record fixes, which follows from its parts where it is
    scattered.
    """
    content = contents.of(chain)
    entry = writer.write(chain.start)
    items = [_item(layout, "entry", "rule", chain.start, entry, "component")]
    chain_ids = [_id(layout, chain.start, entry, "component")]
    for k in range(1, chain.depth + 1):
        stated_by, what = writer.tie(chain.start + k - 1)
        items.append(_item(layout, f"hop:{k}", "rule", stated_by, writer.write(stated_by), what))
    for record in range(chain.start + 1, chain.start + chain.length):
        written = writer.write(record)
        if k_version := max(0, record - chain.start - chain.depth):
            items.append(_item(layout, f"version:{k_version}", "rule", record, written, "older"))
        chain_ids.append(_id(layout, record, written, "topic"))
    head = writer.write(chain.head)
    fixing = ["constraint", *(what for what in head.said if what.startswith("mark:"))]
    governed, required = content.governed, content.fixed[-1][1]
    stated = (layout.label(governed), *_values(required))
    items += _decision(layout, chain.head, head, fixing, stated)
    governing = tuple(dict.fromkeys(_id(layout, chain.head, head, what) for what in fixing))
    chain_ids[-1] = governing[0]
    retired = [
        Retired(
            key=content.governed.key,
            type="",
            value=content.fixed[record - chain.start][1].text,
            source_ids=(_id(layout, record, writer.write(record), "constraint"),),
        )
        for record in range(chain.start + chain.depth, chain.head)
    ]
    look_alikes = [
        _id(layout, other.head, writer.write(other.head), "constraint")
        for other in layout.chains
        if other.role == "look_alike" and other.task == chain.task
    ]
    component = layout.component(chain.start)
    return Gold(
        items=tuple(items),
        provisions=(layout.name(chain.head),),
        governing=governing,
        chain=tuple(dict.fromkeys(chain_ids)),
        entry=chain_ids[0],
        retired=tuple(retired),
        evidence=governing,
        distractors=tuple(look_alikes),
        answer=canonical_json(
            [
                {
                    "component": component,
                    "setting": planned.setting.key,
                    "value": _right(planned, content.governed.key, required.low),
                }
                for planned in content.plan
            ]
        ),
        invariant=invariant_of(
            component, content.governed, required, content.plan, layout.name(chain.head)
        ),
    )


def _right(planned: Planned, governed: str, low: int) -> str:
    """The reference value: what the decision fixes, else what the plan has."""
    if planned.setting.key != governed:
        return planned.value
    return str(low)


def _values(value: Value) -> tuple[str, ...]:
    """The values that a statement of what is fixed must have, however it is worded."""
    ends = (value.low, value.high) if value.low < value.high else (value.low,)
    return (*map(str, ends[:-1]), f"{ends[-1]} {UNIT}")


def _decision(
    layout: Layout, record: int, written: Written, fixing: list[str], stated: tuple[str, ...]
) -> list[GoldItem]:
    """The governing constraint: one span, or what follows from one span in each part.

    In one piece it also counts where another sentence with the record's name has all of `stated`.
    """
    if len(fixing) == 1:
        span = _span(layout, record, written, fixing[0])
        return [
            GoldItem(
                id="decision",
                kind="rule",
                key=layout.name(record),
                anchors=stated,
                spans=(span,),
                critical=True,
            )
        ]
    parts = [
        GoldItem(
            id=f"part:{i}",
            kind="rule",
            key=f"part:{i}",
            spans=(_span(layout, record, written, what),),
        )
        for i, what in enumerate(fixing, start=1)
    ]
    whole = GoldItem(
        id="decision",
        kind="rule",
        key="decision",
        derived_from=tuple(part.id for part in parts),
        critical=True,
    )
    return [*parts, whole]


def _item(
    layout: Layout, identity: str, kind: str, record: int, written: Written, what: str
) -> GoldItem:
    span = _span(layout, record, written, what)
    return GoldItem(id=identity, kind=kind, key=identity, spans=(span,))


def _span(layout: Layout, record: int, written: Written, what: str) -> Span:
    sentence, part = written.said[what]
    return Span(source_id=layout.event_id(record, part), text=sentence)


def _id(layout: Layout, record: int, written: Written, what: str) -> str:
    """The id of the event in which the record says this."""
    return layout.event_id(record, written.said[what][1])
