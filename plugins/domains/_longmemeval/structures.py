"""What a drawn question really needs of the sessions, and how each kind is drawn.

A structure is finer than the benchmark's question type, and not always of one mind with it: a
question labelled `knowledge-update` may need a count (Regimes 5.9).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from plugins.domains._longmemeval.days import written
from plugins.domains._longmemeval.scene import Scene
from plugins.domains._longmemeval.wording import (
    ATTRIBUTES,
    HAPPENINGS,
    LIKINGS,
    SHOPS,
    SPENDINGS,
    Attribute,
    Happening,
    Pair,
)

__all__ = ["ABSENCES", "ATTRIBUTE_ABSENCES", "STRUCTURES", "Asked", "Structure"]

ABSENCES: Final = ("absent", "misleading")
"""Why a question has no answer: nothing on it is said; something like it is said of another."""
ATTRIBUTE_ABSENCES: Final = (*ABSENCES, "stale", "contradictory")
"""And of an attribute: what was said holds no more; two values are said on one day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question and its answer."""

    text: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """A kind of question. `draw` fills a scene; its second argument is the absence, empty for none.

    share : of questions by default; the types come out as in the benchmark.
    """

    type: str
    share: float
    absences: tuple[str, ...]
    draw: Callable[[Scene, str], Asked]


# --------------------------------------------------------------------------------------- attributes


_MISSING: Final = "You did not mention it: the information is not available."


def _attribute(scene: Scene) -> tuple[Attribute, str, list[str]]:
    """An attribute, an item, and its values in random order."""
    attribute = scene.rng.choice(ATTRIBUTES)
    item = scene.rng.choice(attribute.items)
    scene.topic = (attribute.key, item)
    return attribute, item, scene.rng.sample(attribute.values, 4)


def _around(scene: Scene, attribute: Attribute, item: str, values: list[str]) -> None:
    """What is said of the same thing by or of others, or in praise of it, each by chance."""
    _praise(scene, f"my {item}")
    for pair, role in ((attribute.other, "user"), (attribute.assistant, "assistant")):
        if scene.rng.random() < 0.4:
            (place,) = scene.places(1)
            text = scene.word(pair, item=item, value=values.pop(), who=scene.relative())
            scene.tell(place, text, role=role)


def _praise(scene: Scene, what: str) -> None:
    if scene.rng.random() < 0.4:
        (place,) = scene.places(1)
        scene.tell(place, scene.word((f"I like {what} a lot.", f"I always enjoy {what} so much.")))


def _no_attribute(
    scene: Scene, attribute: Attribute, item: str, values: list[str], why: str
) -> Asked:
    if why == "misleading":
        (place,) = scene.places(1)
        who = scene.relative()
        text = scene.word(attribute.other, item=item, value=values.pop(), who=who)
        scene.tell(place, text, gold=True)
    elif why == "stale":
        first, last = scene.places(2)
        said = scene.word(attribute.say, item=item, value=values.pop())
        scene.tell(first, said, gold=True)
        scene.tell(last, scene.word(attribute.ended, item=item), gold=True)
    elif why == "contradictory":
        (place,) = scene.places(1)
        for _ in range(2):
            said = scene.word(attribute.say, item=item, value=values.pop())
            scene.tell(place, said, gold=True)
    return Asked(text=scene.word(attribute.ask, item=item), answer=_MISSING)


def _fact(scene: Scene, why: str) -> Asked:
    attribute, item, values = _attribute(scene)
    if why:
        return _no_attribute(scene, attribute, item, values, why)
    value = values.pop()
    (place,) = scene.places(1)
    scene.tell(place, scene.word(attribute.say, item=item, value=value), gold=True)
    _around(scene, attribute, item, values)
    text = scene.word(attribute.ask, item=item)
    if scene.rng.random() < 0.3:
        # What was told before still holds: the time in the question is none of the telling.
        text = text.replace("?", " in the past 2 weeks?")
    return Asked(text=text, answer=value)


def _other(scene: Scene, why: str) -> Asked:
    attribute, item, values = _attribute(scene)
    who, value = scene.relative(), values.pop()
    own, place = scene.rng.sample(range(len(scene.days)), 2)
    own_value = values.pop()
    scene.tell(own, scene.word(attribute.say, item=item, value=own_value), gold=bool(why))
    if not why:
        text = scene.word(attribute.other, item=item, value=value, who=who)
        scene.tell(place, text, gold=True)
    text = scene.word(attribute.ask_other, item=item, who=who)
    return Asked(text=text, answer=_MISSING if why else value)


def _update(scene: Scene, why: str) -> Asked:
    attribute, item, values = _attribute(scene)
    if why:
        return _no_attribute(scene, attribute, item, values, why)
    current = _updates(scene, attribute, item, values)[-1]
    _around(scene, attribute, item, values)
    return Asked(text=scene.word(attribute.ask, item=item), answer=current)


def _original(scene: Scene, why: str) -> Asked:
    attribute, item, values = _attribute(scene)
    if why:
        asked = _no_attribute(scene, attribute, item, values, why)
        return Asked(text=scene.word(attribute.ask_first, item=item), answer=asked.answer)
    first = _updates(scene, attribute, item, values)[0]
    return Asked(text=scene.word(attribute.ask_first, item=item), answer=first)


def _updates(scene: Scene, attribute: Attribute, item: str, values: list[str]) -> list[str]:
    """Two values one after the other; half the time the later one is not called a change."""
    held = [values.pop(), values.pop()]
    for number, place in enumerate(scene.places(2)):
        changes = number == 1 and scene.rng.random() < 0.5
        pair = attribute.change if changes else attribute.say
        scene.tell(place, scene.word(pair, item=item, value=held[number]), gold=True)
    return held


def _assistant(scene: Scene, why: str) -> Asked:
    attribute, item, values = _attribute(scene)
    value = values.pop()
    (place,) = scene.places(1)
    if not why:
        text = scene.word(attribute.assistant, item=item, value=value)
        scene.tell(place, text, role="assistant", gold=True)
    if why == "misleading" or scene.rng.random() < 0.5:
        (place,) = scene.places(1)
        said = scene.word(attribute.say, item=item, value=values.pop())
        scene.tell(place, said, gold=why == "misleading")
    ask: Pair = (
        f"What did you tell me about {item} earlier?",
        f"Remind me what you said of {item} in general.",
    )
    return Asked(text=scene.word(ask), answer=_MISSING if why else value)


# --------------------------------------------------------------------------------------- happenings


def _happening(scene: Scene, n: int) -> tuple[Happening, list[str]]:
    event = scene.rng.choice(HAPPENINGS)
    scene.topic = (event.key, "")
    return event, scene.rng.sample(event.names, n + 3)


def _told(scene: Scene, event: Happening, name: str, place: int, day: date) -> None:
    when = scene.spoken(day, place)
    scene.tell(place, scene.word(event.say, name=name, when=when), gold=True)


def _beside(scene: Scene, event: Happening, names: list[str]) -> None:
    """A plan, someone else's, the assistant's mention: each by chance and of another name."""
    _praise(scene, f"a good {event.each.rsplit(' ', 1)[1].lower()}")
    for pair, role in (
        (event.plan, "user"),
        (event.other, "user"),
        (event.assistant, "assistant"),
    ):
        if scene.rng.random() < 0.3:
            _mention(scene, pair, names.pop(), role=role)


def _mention(
    scene: Scene, pair: Pair, name: str, *, role: str = "user", gold: bool = False
) -> None:
    (place,) = scene.places(1)
    when = scene.spoken(scene.day(place), place)
    text = scene.word(pair, name=name, when=when, who=scene.relative())
    scene.tell(place, text, role=role, gold=gold)


def _elsewhere(scene: Scene, event: Happening, names: list[str], why: str) -> None:
    """What misleads: someone else did it, or it is only planned."""
    if why == "misleading":
        pair = scene.rng.choice((event.other, event.plan))
        _mention(scene, pair, names.pop(), gold=True)


def _count(scene: Scene, why: str) -> Asked:
    n = scene.rng.randint(2, 4)
    event, names = _happening(scene, n)
    text = scene.word(event.ask_count)
    if why:
        _elsewhere(scene, event, names, why)
        return Asked(text=text, answer=_MISSING)
    places = scene.places(n)
    for place in places:
        name, day = names.pop(), scene.day(place)
        _told(scene, event, name, place, day)
        later = [p for p in range(len(scene.days)) if p > place]
        if later and scene.rng.random() < 0.3:
            again = scene.rng.choice(later)
            when = scene.spoken(day, again)
            scene.tell(again, scene.word(event.again, name=name, when=when))
    _tally(scene, scene.word(event.tally, n=n), places[-1])
    _beside(scene, event, names)
    return Asked(text=text, answer=str(n))


def _tally(scene: Scene, text: str, last: int) -> None:
    """Half the time how many there were is told too, not before the last of them."""
    if scene.rng.random() < 0.5:
        scene.tell(scene.rng.randrange(last, len(scene.days)), text, gold=True)


def _times(scene: Scene, why: str) -> Asked:
    """Occasions, of which several may bear one name."""
    n = scene.rng.randint(3, 4)
    event, names = _happening(scene, n)
    one = event.each.rsplit(" ", 1)[1].lower()
    do = event.ask_count[scene.form].rsplit(" I ", 1)[1].rstrip("?")
    ask = (f"How many times did I {do} a {one}?", f"On how many occasions did I {do} a {one}?")
    if why:
        _elsewhere(scene, event, names, why)
        return Asked(text=scene.word(ask), answer=_MISSING)
    repeated, places = names.pop(), scene.places(n)
    for number, place in enumerate(places):
        name = repeated if number < 2 else names.pop()
        _told(scene, event, name, place, scene.days[place])
    times = (f"That makes {n} times I {event.say[0].split()[1]} a {one}.", f"So {n} by now.")
    _tally(scene, scene.word(times), places[-1])
    _beside(scene, event, names)
    return Asked(text=scene.word(ask), answer=str(n))


def _list(scene: Scene, why: str) -> Asked:
    n = scene.rng.randint(2, 3)
    event, names = _happening(scene, n)
    text = scene.word(event.ask_list)
    if why:
        _elsewhere(scene, event, names, why)
        return Asked(text=text, answer=_MISSING)
    chosen = [names.pop() for _ in range(n)]
    for place, name in zip(scene.places(n), chosen, strict=True):
        _told(scene, event, name, place, scene.days[place])
    _beside(scene, event, names)
    return Asked(text=text, answer="; ".join(_title(event, name) for name in chosen))


def _plan(scene: Scene, why: str) -> Asked:
    event, names = _happening(scene, 2)
    if why:
        if why == "misleading":
            _mention(scene, event.say, names.pop(), gold=True)
        return Asked(text=scene.word(event.ask_plan), answer=_MISSING)
    name = names.pop()
    _mention(scene, event.plan, name, gold=True)
    for _ in range(scene.rng.randint(0, 2)):
        _mention(scene, event.say, names.pop())
    return Asked(text=scene.word(event.ask_plan), answer=_title(event, name))


def _ago(scene: Scene, why: str) -> Asked:
    event, names = _happening(scene, 1)
    name, unit = names.pop(), scene.rng.choice(("day", "week"))
    text = scene.word(event.ask_ago, unit=unit, name=name)
    if why:
        _elsewhere(scene, event, [name], why)
        return Asked(text=text, answer=_MISSING)
    (place,) = scene.places(1)
    day = scene.day(place)
    if unit == "week":
        day -= timedelta(days=(scene.asked_on - day).days % 7)
    _told(scene, event, name, place, day)
    _beside(scene, event, names)
    ago = (scene.asked_on - day).days // (7 if unit == "week" else 1)
    return Asked(text=text, answer=_units(ago, unit))


def _between(scene: Scene, why: str) -> Asked:
    event, names = _happening(scene, 2)
    one, other = names.pop(), names.pop()
    text = scene.word(event.ask_between, unit="day", name=one, other=other)
    first, last = scene.places(2)
    days = [scene.day(first), scene.day(last)]
    _told(scene, event, one, first, days[0])
    if why:
        _elsewhere(scene, event, [other], why)
        return Asked(text=text, answer=_MISSING)
    _told(scene, event, other, last, days[1])
    return Asked(text=text, answer=_units(abs((days[1] - days[0]).days), "day"))


def _when(scene: Scene, why: str) -> Asked:
    event, names = _happening(scene, 1)
    name = names.pop()
    text = scene.word(event.ask_when, name=name)
    if why:
        _elsewhere(scene, event, [name], why)
        return Asked(text=text, answer=_MISSING)
    (place,) = scene.places(1)
    day = scene.day(place)
    _told(scene, event, name, place, day)
    _beside(scene, event, names)
    return Asked(text=text, answer=written(day))


def _window(scene: Scene, why: str) -> Asked:
    """What happened within a span of time, with the like of it before."""
    event, names = _happening(scene, 3)
    weeks = scene.rng.choice((1, 2))
    span = "in the past week" if weeks == 1 else "in the past 2 weeks"
    text = scene.word(event.ask_window, span=span)
    start = scene.asked_on - timedelta(days=7 * weeks)
    last = len(scene.days) - 1
    early = [p for p in range(last) if scene.days[p] < start - timedelta(days=1)]
    for place in scene.rng.sample(early, min(len(early), scene.rng.randint(1, 2))):
        when = scene.spoken(scene.days[place], place)
        said = scene.word(event.say, name=names.pop(), when=when)
        scene.tell(place, said, gold=why == "misleading")
    if why:
        return Asked(text=text, answer=_MISSING)
    scene.days = (*scene.days[:-1], max(scene.days[-1], start + timedelta(days=1)))
    name = names.pop()
    _told(scene, event, name, last, scene.days[last])
    return Asked(text=text, answer=_title(event, name))


def _order(scene: Scene, why: str) -> Asked:
    event, names = _happening(scene, 2)
    one, other = names.pop(), names.pop()
    asked = [one, other] if scene.rng.random() < 0.5 else [other, one]
    text = scene.word(event.ask_order, name=asked[0], other=asked[1])
    first, last = scene.places(2)
    days = (scene.day(first), scene.day(last))
    _told(scene, event, one, first, days[0])
    if why:
        _elsewhere(scene, event, [other], why)
        return Asked(text=text, answer=_MISSING)
    if days[0] == days[1]:
        days = (days[0], scene.days[last])
    _told(scene, event, other, last, days[1])
    earlier = one if days[0] < days[1] else other
    return Asked(text=text, answer=_title(event, earlier))


def _title(event: Happening, name: str) -> str:
    return event.each.format(name=name).removeprefix("the ")


def _units(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"


# ------------------------------------------------------------------------------------ amounts, rest


def _price(scene: Scene, why: str) -> Asked:
    return _spent(scene, why, 1)


def _total(scene: Scene, why: str) -> Asked:
    return _spent(scene, why, scene.rng.randint(2, 3))


def _spent(scene: Scene, why: str, n: int) -> Asked:
    bought = scene.rng.choice(SPENDINGS)
    scene.topic = (bought.key, "")
    amounts = scene.rng.sample(range(5, 96), n + 1)
    if why or scene.rng.random() < 0.4:
        (place,) = scene.places(1)
        when = scene.spoken(scene.days[place], place)
        said = scene.word(bought.other, who=scene.relative(), value=amounts.pop(), when=when)
        if why != "absent":
            scene.tell(place, said, gold=bool(why))
    text = scene.word(bought.ask)
    if why:
        return Asked(text=text, answer=_MISSING)
    for place, amount in zip(scene.places(n), amounts[:n], strict=True):
        when = scene.spoken(scene.days[place], place)
        shop = scene.rng.choice(SHOPS)
        said = scene.word(bought.say, value=amount, shop=shop, when=when)
        scene.tell(place, said, gold=True)
    return Asked(text=text, answer=f"${sum(amounts[:n])}")


def _running(scene: Scene, why: str) -> Asked:
    """A sum that is told as it grows: the last one told holds."""
    bought = scene.rng.choice(SPENDINGS)
    scene.topic = (bought.key, "")
    text = scene.word(bought.ask)
    amounts = sorted(scene.rng.sample(range(20, 200), 3))
    if why:
        if why == "misleading":
            (place,) = scene.places(1)
            when = scene.spoken(scene.days[place], place)
            said = scene.word(bought.other, who=scene.relative(), value=amounts[0], when=when)
            scene.tell(place, said, gold=True)
        return Asked(text=text, answer=_MISSING)
    for place, amount in zip(scene.places(3), amounts, strict=True):
        scene.tell(place, scene.word(bought.running, value=amount), gold=True)
    return Asked(text=text, answer=f"${amounts[-1]}")


_SHOES: Final = ("black Converse", "hiking boots", "linen jacket", "red scarf", "straw hat")


def _worn(scene: Scene, why: str) -> Asked:
    """Occasions of one thing, told one by one; labelled `knowledge-update` as in the benchmark."""
    item = scene.rng.choice(_SHOES)
    put: Pair = (f"I put on my new {item} {{when}}.", f"My new {item} came along {{when}}.")
    ask: Pair = (
        f"How many times did I put on my new {item}?",
        f"On how many occasions did my new {item} come along?",
    )
    if why:
        if why == "misleading":
            (place,) = scene.places(1)
            scene.tell(place, f"I plan to put on my new {item} at a party.", gold=True)
        return Asked(text=scene.word(ask), answer=_MISSING)
    n = scene.rng.randint(2, 5)
    places = scene.places(n)
    for place in places:
        when = scene.spoken(scene.days[place], place)
        scene.tell(place, scene.word(put, when=when), gold=True)
    times = (f"I put on my new {item} {n} times so far.", f"My new {item} came out {n} times.")
    _tally(scene, scene.word(times), places[-1])
    return Asked(text=scene.word(ask), answer=str(n))


def _preference(scene: Scene, why: str) -> Asked:
    liking = scene.rng.choice(LIKINGS)
    scene.topic = (liking.key, "")
    like, dislike = scene.rng.choice(liking.likes), scene.rng.choice(liking.dislikes)
    text = scene.word(liking.ask)
    (place,) = scene.places(1)
    scene.tell(place, scene.word(liking.say, like=like, dislike=dislike), gold=True)
    return Asked(text=text, answer=liking.rubric.format(like=like, dislike=dislike))


_USER, _ASSISTANT = "single-session-user", "single-session-assistant"
_MULTI, _UPDATE, _TIME = "multi-session", "knowledge-update", "temporal-reasoning"


def _structure(
    type_: str,
    share: float,
    draw: Callable[[Scene, str], Asked],
    absences: tuple[str, ...] = ABSENCES,
) -> Structure:
    return Structure(type=type_, share=share, absences=absences, draw=draw)


STRUCTURES: Final = {
    "fact": _structure(_USER, 0.06, _fact, ATTRIBUTE_ABSENCES),
    "price": _structure(_USER, 0.03, _price),
    "plan": _structure(_USER, 0.03, _plan),
    "other": _structure(_USER, 0.03, _other, ("misleading",)),
    "assistant": _structure(_ASSISTANT, 0.11, _assistant),
    "preference": _structure("single-session-preference", 0.06, _preference, ()),
    "count": _structure(_MULTI, 0.09, _count),
    "times": _structure(_MULTI, 0.05, _times),
    "total": _structure(_MULTI, 0.07, _total),
    "list": _structure(_MULTI, 0.05, _list),
    "update": _structure(_UPDATE, 0.07, _update, ATTRIBUTE_ABSENCES),
    "original": _structure(_UPDATE, 0.03, _original, ATTRIBUTE_ABSENCES[:2]),
    "running": _structure(_UPDATE, 0.03, _running),
    "worn": _structure(_UPDATE, 0.03, _worn),
    "ago": _structure(_TIME, 0.07, _ago),
    "between": _structure(_TIME, 0.05, _between),
    "when": _structure(_TIME, 0.05, _when),
    "window": _structure(_TIME, 0.04, _window),
    "order": _structure(_TIME, 0.05, _order),
}
"""By name. The shares of the six types are near those of the benchmark's 500 questions."""
