"""Tickets and change plans, and the gold that hangs on them."""

from __future__ import annotations

from typing import Final

from framework.records import Gold, GoldItem, Retired, Span, TaskCard
from framework.text.canonical import canonical_json
from plugins.domains.governance.invariant import invariant_of
from plugins.domains.governance.lexicon import UNIT, Value
from plugins.domains.governance.plans import plan_of
from plugins.domains.precedents.series import Series, Task, Written
from plugins.domains.precedents.texts import phrases, steps, written

INSTRUCTION: Final = (
    "You decide change plans for the components of a service, one after the other. Fill in the "
    "change plan: give a value for every setting. Keep a value that is asked for. Where a value is "
    "only proposed, follow the precedent that governs the setting, and keep the proposal where "
    "there is none. A component is governed by the decision that it is built under, and by every "
    "decision that this one is derived from; each fixes one setting. Your own decisions become "
    "precedents for later plans. A decision that was replaced no longer holds; what replaced it "
    "does."
)


def card_of(series: Series, task: Task) -> TaskCard:
    """The public task: ticket and plan are handed over, memory is asked with the plan."""
    rng = series.stream("ticket", task.place)
    about = phrases(series, task.area, rng)
    ticket = " ".join(rng.choice(part) for part in series.words.tickets).format(*about)
    said = {True: "asked for", False: "proposed"}
    listed = "; ".join(f"{p.setting.label} {p.value} {UNIT}, {said[p.asked]}" for p in task.plan)
    return TaskCard(
        instruction=INSTRUCTION,
        query=f"Change plan of component {task.component}: {listed}.",
        operation="propose_edit",
        material={"ticket": ticket, "change_plan": plan_of(task.component, task.plan)},
    )


def gold_of(series: Series, task: Task) -> Gold:
    """What must be found and what must come out of it.

    Items: `entry`, the sentence that puts the component under a record; `hop:k`, which states the
    k-th link from there; `replacement`, where the ruling was corrected; and `decision`, critical,
    what the governing record fixes.
    """
    records = series.records
    texts = {n: written(series, records[n]) for n in (*task.path, task.governing)}
    head = records[task.governing]
    items = [_item("entry", texts[task.path[0]], f"component:{task.component}")]
    items += [_item(f"hop:{k}", texts[n], "link") for k, n in enumerate(task.path[:-1], start=1)]
    if task.corrected:
        items.append(_item("replacement", texts[head.number], "replaces"))
    items.append(
        GoldItem(
            id="decision",
            kind="rule",
            key=head.name,
            anchors=(head.setting.label, steps(head.value)),
            spans=(_span(texts[head.number], "constraint"),),
            critical=True,
        )
    )
    governing = texts[head.number].event.id
    ids = [texts[n].event.id for n in task.path]
    retired = (
        Retired(
            key=head.setting.key,
            type="",
            value=str(records[series.wrong].value),
            source_ids=(ids[-1],),
        ),
    )
    others = [
        written(series, record).event.id
        for record in series.before(task.place)
        if record.setting == head.setting and record.number not in (*task.path, head.number)
    ]
    return Gold(
        items=tuple(items),
        provisions=(head.name,),
        governing=(governing,),
        chain=tuple(dict.fromkeys((*ids, governing))),
        entry=ids[0],
        retired=retired if task.corrected else (),
        evidence=(governing,),
        distractors=tuple(others),
        answer=canonical_json(
            [
                {
                    "component": task.component,
                    "setting": p.setting.key,
                    "value": str(head.value) if p.setting == head.setting else p.value,
                }
                for p in task.plan
            ]
        ),
        invariant=invariant_of(
            task.component,
            head.setting,
            Value(low=head.value, high=head.value),
            task.plan,
            head.name,
        ),
    )


def _item(identity: str, text: Written, what: str) -> GoldItem:
    return GoldItem(id=identity, kind="rule", key=identity, spans=(_span(text, what),))


def _span(text: Written, what: str) -> Span:
    return Span(source_id=text.event.id, text=text.said[what])
