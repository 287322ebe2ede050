"""One question with its sessions, drawn from a seed and an index."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final

from framework.text.canonical import digest
from plugins.domains.longmemeval.days import stamp
from plugins.domains.longmemeval.records import ABSTENTION, Question
from plugins.domains.longmemeval.scene import EXCHANGES, Scene
from plugins.domains.longmemeval.structures import ABSENCES, LACKING, STRUCTURES

FORMS: Final = ("development", "held_out")


def draw(
    seed: int,
    index: int,
    *,
    shares: Mapping[str, float],
    abstention: float,
    held_out: float,
    sessions: int,
    exchanges: int = EXCHANGES,
    rendering: int = 0,
) -> Question:
    """The question of that index for a seed; the same one whatever was drawn before.

    shares : weights of the structures. abstention : probability that the sessions do not answer it
    (for a structure that can be left unanswered). held_out : probability of the held-out wordings.
    exchanges : of a session at least.
    rendering : another number words the same question's sessions anew, in the same form.
    """
    rng = _stream(seed, index)
    wording = _stream(seed, index, rendering) if rendering else None
    # In an order of their own: a stored configuration may list the shares in another.
    names = sorted(shares)
    (name,) = rng.choices(names, [shares[name] for name in names])
    structure = STRUCTURES[name]
    abstains, form = rng.random() < abstention, int(rng.random() < held_out)
    scene = Scene.draw(rng, form, sessions, wording, exchanges)
    # Every history holds both: a question that it answers, and the like of it that it does not.
    # Which of the two is asked is no part of the history, so that it can't tell.
    absences = structure.absences or ABSENCES
    unanswered = structure if structure.absences else STRUCTURES[LACKING]
    reason = rng.choice(absences)
    answered = structure.draw(scene, "")
    scene.part = 1
    lacking = unanswered.draw(scene, reason)
    why = reason if abstains and structure.absences else ""
    asked = lacking if why else answered
    scene.ask_about(1 if why else 0)
    id_ = f"{seed}-{index}"
    return Question(
        id=f"{id_}{ABSTENTION if why else ''}",
        type=structure.type,
        text=asked.text,
        answer=asked.answer,
        date=stamp(scene.asked_on, rng.randrange(24 * 60)),
        sessions=scene.sessions(lambda place, gold: f"{'answer_' if gold else ''}{id_}_{place}"),
        structure=f"{name}:{why}" if why else name,
        form=FORMS[form],
    )


def _stream(*key: int) -> random.Random:
    return random.Random(int(digest(["longmemeval", *key])[7:23], 16))
