"""Questions about something that has one value at a time."""

from __future__ import annotations

from plugins.domains.longmemeval.asked import MISSING, Asked, praise
from plugins.domains.longmemeval.scene import Scene
from plugins.domains.longmemeval.wording import ATTRIBUTES, Attribute, Pair


def _attribute(scene: Scene) -> tuple[Attribute, str, list[str]]:
    """An attribute, an item, and its values in random order."""
    pairs = [(one, item) for one in ATTRIBUTES for item in one.items]
    attribute, item = scene.rng.choice(scene.free(pairs, lambda pair: (pair[0].key, pair[1])))
    scene.topics.append((attribute.key, item))
    return attribute, item, scene.rng.sample(attribute.values, 4)


def _around(scene: Scene, attribute: Attribute, item: str, values: list[str]) -> None:
    """What is said of the same thing by or of others, or in praise of it, each by chance."""
    praise(scene, f"my {item}")
    for pair, role in ((attribute.other, "user"), (attribute.assistant, "assistant")):
        if scene.rng.random() < 0.4:
            (place,) = scene.places(1)
            text = scene.word(pair, item=item, value=values.pop(), who=scene.relative())
            scene.tell(place, text, role=role)


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
    return Asked(text=scene.word(attribute.ask, item=item), answer=MISSING)


def fact(scene: Scene, why: str) -> Asked:
    """A fact that the user told of themselves."""
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


def other(scene: Scene, why: str) -> Asked:
    """A fact that the user told of someone else."""
    attribute, item, values = _attribute(scene)
    who, value = scene.relative(), values.pop()
    own, place = scene.rng.sample(range(len(scene.days)), 2)
    own_value = values.pop()
    scene.tell(own, scene.word(attribute.say, item=item, value=own_value), gold=bool(why))
    if not why:
        text = scene.word(attribute.other, item=item, value=value, who=who)
        scene.tell(place, text, gold=True)
    text = scene.word(attribute.ask_other, item=item, who=who)
    return Asked(text=text, answer=MISSING if why else value)


def update(scene: Scene, why: str) -> Asked:
    """The latest of several values."""
    attribute, item, values = _attribute(scene)
    if why:
        return _no_attribute(scene, attribute, item, values, why)
    current = _updates(scene, attribute, item, values)[-1]
    _around(scene, attribute, item, values)
    return Asked(text=scene.word(attribute.ask, item=item), answer=current)


def original(scene: Scene, why: str) -> Asked:
    """The first of several values."""
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


def assistant(scene: Scene, why: str) -> Asked:
    """What the assistant said."""
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
    return Asked(text=scene.word(ask), answer=MISSING if why else value)
