"""Questions about money, about occasions of one thing, and for advice."""

from __future__ import annotations

from typing import Final

from plugins.domains.longmemeval.asked import MISSING, Asked, tally
from plugins.domains.longmemeval.scene import Scene
from plugins.domains.longmemeval.wording import LIKINGS, SHOPS, SPENDINGS, Pair


def price(scene: Scene, why: str) -> Asked:
    """What one thing cost."""
    return _spent(scene, why, 1)


def total(scene: Scene, why: str) -> Asked:
    """What several things cost together."""
    return _spent(scene, why, scene.rng.randint(2, 3))


def _spent(scene: Scene, why: str, n: int) -> Asked:
    bought = scene.rng.choice(scene.free(SPENDINGS, lambda one: (one.key, "")))
    scene.topics.append((bought.key, ""))
    amounts = scene.rng.sample(range(5, 96), n + 1)
    if why or scene.rng.random() < 0.4:
        (place,) = scene.places(1)
        when = scene.spoken(scene.days[place], place)
        said = scene.word(bought.other, who=scene.relative(), value=amounts.pop(), when=when)
        if why != "absent":
            scene.tell(place, said, gold=bool(why))
    text = scene.word(bought.ask)
    if why:
        return Asked(text=text, answer=MISSING)
    for place, amount in zip(scene.places(n), amounts[:n], strict=True):
        when = scene.spoken(scene.days[place], place)
        shop = scene.rng.choice(SHOPS)
        said = scene.word(bought.say, value=amount, shop=shop, when=when)
        scene.tell(place, said, gold=True)
    return Asked(text=text, answer=f"${sum(amounts[:n])}")


def running(scene: Scene, why: str) -> Asked:
    """A sum that is told as it grows: the last one told holds."""
    bought = scene.rng.choice(scene.free(SPENDINGS, lambda one: (one.key, "")))
    scene.topics.append((bought.key, ""))
    text = scene.word(bought.ask)
    amounts = sorted(scene.rng.sample(range(20, 200), 3))
    if why:
        if why == "misleading":
            (place,) = scene.places(1)
            when = scene.spoken(scene.days[place], place)
            said = scene.word(bought.other, who=scene.relative(), value=amounts[0], when=when)
            scene.tell(place, said, gold=True)
        return Asked(text=text, answer=MISSING)
    for place, amount in zip(scene.places(3), amounts, strict=True):
        scene.tell(place, scene.word(bought.running, value=amount), gold=True)
    return Asked(text=text, answer=f"${amounts[-1]}")


_SHOES: Final = ("black Converse", "hiking boots", "linen jacket", "red scarf", "straw hat")


def worn(scene: Scene, why: str) -> Asked:
    """Occasions of one thing, told one by one; labelled `knowledge-update` as in the benchmark."""
    item = scene.rng.choice(scene.free(_SHOES, lambda one: (one, "")))
    scene.topics.append((item, ""))
    put: Pair = (f"I put on my new {item} {{when}}.", f"My new {item} came along {{when}}.")
    ask: Pair = (
        f"How many times did I put on my new {item}?",
        f"On how many occasions did my new {item} come along?",
    )
    if why:
        if why == "misleading":
            (place,) = scene.places(1)
            scene.tell(place, f"I plan to put on my new {item} at a party.", gold=True)
        return Asked(text=scene.word(ask), answer=MISSING)
    n = scene.rng.randint(2, 5)
    places = scene.places(n)
    for place in places:
        when = scene.spoken(scene.days[place], place)
        scene.tell(place, scene.word(put, when=when), gold=True)
    times = (f"I put on my new {item} {n} times so far.", f"My new {item} came out {n} times.")
    tally(scene, scene.word(times), places[-1])
    return Asked(text=scene.word(ask), answer=str(n))


def preference(scene: Scene, why: str) -> Asked:
    """A recommendation that fits what the user likes."""
    liking = scene.rng.choice(scene.free(LIKINGS, lambda one: (one.key, "")))
    scene.topics.append((liking.key, ""))
    like, dislike = scene.rng.choice(liking.likes), scene.rng.choice(liking.dislikes)
    text = scene.word(liking.ask)
    (place,) = scene.places(1)
    scene.tell(place, scene.word(liking.say, like=like, dislike=dislike), gold=True)
    return Asked(text=text, answer=liking.rubric.format(like=like, dislike=dislike))
