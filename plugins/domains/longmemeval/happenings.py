"""Questions about what happened: how often, what, when, how long ago, in what order."""

from __future__ import annotations

from datetime import date, timedelta

from plugins.domains.longmemeval.asked import MISSING, Asked, praise, tally
from plugins.domains.longmemeval.days import written
from plugins.domains.longmemeval.scene import Scene
from plugins.domains.longmemeval.wording import HAPPENINGS, Happening, Pair


def _happening(scene: Scene, n: int) -> tuple[Happening, list[str]]:
    event = scene.rng.choice(scene.free(HAPPENINGS, lambda one: (one.key, "")))
    scene.topics.append((event.key, ""))
    return event, scene.rng.sample(event.names, n + 3)


def _told(scene: Scene, event: Happening, name: str, place: int, day: date) -> None:
    when = scene.spoken(day, place)
    scene.tell(place, scene.word(event.say, name=name, when=when), gold=True)


def _beside(scene: Scene, event: Happening, names: list[str]) -> None:
    """A plan, someone else's, the assistant's mention: each by chance and of another name."""
    praise(scene, f"a good {event.each.rsplit(' ', 1)[1].lower()}")
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


def count(scene: Scene, why: str) -> Asked:
    """How often something happened."""
    n = scene.rng.randint(2, 4)
    event, names = _happening(scene, n)
    text = scene.word(event.ask_count)
    if why:
        _elsewhere(scene, event, names, why)
        return Asked(text=text, answer=MISSING)
    places = scene.places(n)
    for place in places:
        name, day = names.pop(), scene.day(place)
        _told(scene, event, name, place, day)
        later = [p for p in range(len(scene.days)) if p > place]
        if later and scene.rng.random() < 0.3:
            again = scene.rng.choice(later)
            when = scene.spoken(day, again)
            scene.tell(again, scene.word(event.again, name=name, when=when))
    tally(scene, scene.word(event.tally, n=n), places[-1])
    _beside(scene, event, names)
    return Asked(text=text, answer=str(n))


def times(scene: Scene, why: str) -> Asked:
    """Occasions, of which several may bear one name."""
    n = scene.rng.randint(3, 4)
    event, names = _happening(scene, n)
    one = event.each.rsplit(" ", 1)[1].lower()
    do = event.ask_count[scene.form].rsplit(" I ", 1)[1].rstrip("?")
    ask = (f"How many times did I {do} a {one}?", f"On how many occasions did I {do} a {one}?")
    if why:
        _elsewhere(scene, event, names, why)
        return Asked(text=scene.word(ask), answer=MISSING)
    repeated, places = names.pop(), scene.places(n)
    for number, place in enumerate(places):
        name = repeated if number < 2 else names.pop()
        _told(scene, event, name, place, scene.days[place])
    times = (f"That makes {n} times I {event.say[0].split()[1]} a {one}.", f"So {n} by now.")
    tally(scene, scene.word(times), places[-1])
    _beside(scene, event, names)
    return Asked(text=scene.word(ask), answer=str(n))


def listed(scene: Scene, why: str) -> Asked:
    """Everything that was done."""
    n = scene.rng.randint(2, 3)
    event, names = _happening(scene, n)
    text = scene.word(event.ask_list)
    if why:
        _elsewhere(scene, event, names, why)
        return Asked(text=text, answer=MISSING)
    chosen = [names.pop() for _ in range(n)]
    for place, name in zip(scene.places(n), chosen, strict=True):
        _told(scene, event, name, place, scene.days[place])
    _beside(scene, event, names)
    return Asked(text=text, answer="; ".join(_title(event, name) for name in chosen))


def plan(scene: Scene, why: str) -> Asked:
    """What is planned."""
    event, names = _happening(scene, 2)
    if why:
        if why == "misleading":
            _mention(scene, event.say, names.pop(), gold=True)
        return Asked(text=scene.word(event.ask_plan), answer=MISSING)
    name = names.pop()
    _mention(scene, event.plan, name, gold=True)
    for _ in range(scene.rng.randint(0, 2)):
        _mention(scene, event.say, names.pop())
    return Asked(text=scene.word(event.ask_plan), answer=_title(event, name))


def ago(scene: Scene, why: str) -> Asked:
    """How long ago something happened."""
    event, names = _happening(scene, 1)
    name, unit = names.pop(), scene.rng.choice(("day", "week"))
    text = scene.word(event.ask_ago, unit=unit, name=name)
    if why:
        _elsewhere(scene, event, [name], why)
        return Asked(text=text, answer=MISSING)
    (place,) = scene.places(1)
    day = scene.day(place)
    if unit == "week":
        day -= timedelta(days=(scene.asked_on - day).days % 7)
    _told(scene, event, name, place, day)
    _beside(scene, event, names)
    ago = (scene.asked_on - day).days // (7 if unit == "week" else 1)
    return Asked(text=text, answer=_units(ago, unit))


def between(scene: Scene, why: str) -> Asked:
    """How long it was between two of them."""
    event, names = _happening(scene, 2)
    one, other = names.pop(), names.pop()
    text = scene.word(event.ask_between, unit="day", name=one, other=other)
    first, last = scene.places(2)
    days = [scene.day(first), scene.day(last)]
    _told(scene, event, one, first, days[0])
    if why:
        _elsewhere(scene, event, [other], why)
        return Asked(text=text, answer=MISSING)
    _told(scene, event, other, last, days[1])
    return Asked(text=text, answer=_units(abs((days[1] - days[0]).days), "day"))


def when(scene: Scene, why: str) -> Asked:
    """When something happened."""
    event, names = _happening(scene, 1)
    name = names.pop()
    text = scene.word(event.ask_when, name=name)
    if why:
        _elsewhere(scene, event, [name], why)
        return Asked(text=text, answer=MISSING)
    (place,) = scene.places(1)
    day = scene.day(place)
    _told(scene, event, name, place, day)
    _beside(scene, event, names)
    return Asked(text=text, answer=written(day))


def window(scene: Scene, why: str) -> Asked:
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
        return Asked(text=text, answer=MISSING)
    scene.days = (*scene.days[:-1], max(scene.days[-1], start + timedelta(days=1)))
    name = names.pop()
    _told(scene, event, name, last, scene.days[last])
    return Asked(text=text, answer=_title(event, name))


def order(scene: Scene, why: str) -> Asked:
    """Which of them came first."""
    event, names = _happening(scene, 2)
    one, other = names.pop(), names.pop()
    asked = [one, other] if scene.rng.random() < 0.5 else [other, one]
    text = scene.word(event.ask_order, name=asked[0], other=asked[1])
    first, last = scene.places(2)
    days = (scene.day(first), scene.day(last))
    _told(scene, event, one, first, days[0])
    if why:
        _elsewhere(scene, event, [other], why)
        return Asked(text=text, answer=MISSING)
    if days[0] == days[1]:
        days = (days[0], scene.days[last])
    _told(scene, event, other, last, days[1])
    earlier = one if days[0] < days[1] else other
    return Asked(text=text, answer=_title(event, earlier))


def _title(event: Happening, name: str) -> str:
    return event.each.format(name=name).removeprefix("the ")


def _units(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"
