"""What drawn questions have in common: their answer, and what may be said beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from plugins.domains.longmemeval.scene import Scene

MISSING: Final = "You did not mention it: the information is not available."
"""The answer of a question that has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question and its answer."""

    text: str
    answer: str


def praise(scene: Scene, what: str) -> None:
    """By chance, a liking for what is asked about."""
    if scene.rng.random() < 0.4:
        (place,) = scene.places(1)
        scene.tell(place, scene.word((f"I like {what} a lot.", f"I always enjoy {what} so much.")))


def tally(scene: Scene, text: str, last: int) -> None:
    """Half the time how many there were is told too, not before the last of them."""
    if scene.rng.random() < 0.5:
        scene.tell(scene.rng.randrange(last, len(scene.days)), text, gold=True)
