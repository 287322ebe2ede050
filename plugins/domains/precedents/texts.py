"""Records as sentences, sentences as events."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random
from typing import Final

from framework.records import Event
from framework.text.canonical import digest
from plugins.domains.governance.content import PHRASES
from plugins.domains.governance.lexicon import UNIT
from plugins.domains.precedents.series import Record, Series, Written

_BEGAN: Final = date(2016, 3, 1)
_APART: Final = 9
"""Days between two records."""
_APPLIED: Final = (
    "Component {component} keeps the {label} at {value}.",
    "For component {component} the {label} stays at {value}.",
    "The {label} of component {component} was left at {value}.",
)


def event_id(series: Series, number: int) -> str:
    """Names neither seed nor place."""
    return f"rec-{digest([series.settings, series.seed, series.number, number])[7:17]}"


def written(series: Series, record: Record) -> Written:
    """The record in the wording of its series, made once."""
    if record.number not in series.texts:
        series.texts[record.number] = _written(series, record)
    return series.texts[record.number]


def _written(series: Series, record: Record) -> Written:
    rng = series.stream("words", record.number)
    form = "held_out" if series.held_out else "development"

    def say(what: str, **slots: str) -> str:
        return rng.choice(series.words.said[what][form]).format(**slots)

    names = series.records
    said = {
        f"component:{one}": say("component", component=one, name=record.name)
        for one in record.components
    }
    said["constraint"] = say(
        "constraint", name=record.name, label=record.setting.label, value=steps(record.value)
    )
    edges = []
    if record.parent is not None:
        target = names[record.parent]
        said["link"] = say("derived_from", source=record.name, target=target.name)
        edges.append(("derived_from", event_id(series, target.number)))
    if record.replaces is not None:
        target = names[record.replaces]
        said["replaces"] = say("supersedes", source=record.name, target=target.name)
        edges.append(("supersedes", event_id(series, target.number)))
    stated = list(said.values())
    if record.applied is not None:
        component, setting, value = record.applied
        applied = rng.choice(_APPLIED)
        stated.append(applied.format(component=component, label=setting.label, value=steps(value)))
    rng.shuffle(stated)
    about = phrases(series, record.area, rng)
    topic = rng.choice(series.words.topics).format(*about, name=record.name)
    rationale = rng.choice(series.words.rationales).format(*about)
    day = _BEGAN + timedelta(days=_APART * record.number + rng.randrange(_APART))
    event = Event(
        id=event_id(series, record.number),
        text=" ".join((topic, *stated, rationale)),
        time=day.isoformat(),
        kind="decision",
        edges=tuple(edges),
    )
    return Written(event=event, said=said)


def phrases(series: Series, area: str, rng: Random) -> list[str]:
    """Content phrases of an area, as many as a ticket or a record has."""
    nouns = rng.sample(series.words.nouns[area], PHRASES)
    return [f"{rng.choice(series.words.modifiers)} {noun}" for noun in nouns]


def steps(value: int) -> str:
    """A value as sentences say it."""
    return f"{value} {UNIT}"
