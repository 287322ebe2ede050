"""Typing mistakes and scanning damage. Neither makes a value out of another one."""

from __future__ import annotations

from random import Random
from typing import Final

_LOOKALIKES: Final = str.maketrans(
    {"a": "@", "e": "c", "i": "1", "l": "|", "o": "0", "s": "5", "b": "6", "t": "+", "u": "v"}
)
_SMUDGES: Final = ("#", "~", "^", "?")


def misspell(text: str, rng: Random) -> str:
    """`text` with two neighbouring letters of one longer word swapped; digits are never touched."""
    words = text.split(" ")
    places = [i for i, word in enumerate(words) if len(word) > 4 and word.isalpha()]
    if not places:
        return text
    i = rng.choice(places)
    at = rng.randrange(1, len(words[i]) - 2)
    word = words[i]
    words[i] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return " ".join(words)


def damage(text: str, rng: Random) -> str:
    """`text` as a bad scan gives it: no word of it whole, every digit smudged.

    A number that lost some digits could be read as another number, so none keeps any.
    """
    words = []
    for word in text.split(" "):
        if any(char.isdigit() for char in word):
            smudge = rng.choice(_SMUDGES)
            words.append("".join(smudge if char.isdigit() else char for char in word))
        elif len(word) > 2:
            changed = word.translate(_LOOKALIKES)
            at = rng.randrange(1, len(word) - 1)
            words.append(changed if changed != word else word[:at] + "_" + word[at + 1 :])
        else:
            words.append(word)
    return " ".join(words)
