"""Keys that the environment keeps, and texts without them: nothing that is stored has one."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Final

_NAMED_LIKE_A_KEY: Final = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$")
_SHORTEST: Final = 12
"""Characters from which on a variable's value is taken for a key, and not for a word."""
_HIDDEN: Final = "***"


def keys_of_environment() -> Mapping[str, str]:
    """The variables that hold a key, by value.

    Keys are the values of at least 12 characters of variables that are named like one (`..._KEY`,
    `..._TOKEN`, `..._SECRET`, `..._PASSWORD`, `..._CREDENTIALS`).
    """
    return {
        value: name
        for name, value in os.environ.items()
        if len(value) >= _SHORTEST and _NAMED_LIKE_A_KEY.search(name.upper())
    }


def without_keys(text: str, *others: str) -> str:
    """A text, or JSON, with `***` for every key of the environment, and for these others."""
    for key in sorted({*keys_of_environment(), *filter(None, others)}, key=len, reverse=True):
        text = text.replace(key, _HIDDEN).replace(json.dumps(key)[1:-1], _HIDDEN)
    return text
