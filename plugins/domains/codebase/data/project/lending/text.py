"""Small tools for text that people typed."""

from __future__ import annotations

import re

_SPACE = re.compile(r"\s+")


def squeeze(value: str) -> str:
    """The text without outer space and with single spaces inside."""
    return _SPACE.sub(" ", value).strip()


def canonical(value: str) -> str:
    """One spelling for what is the same to a machine: no outer space, lower case."""
    return value.strip().lower()


def tail(value: str) -> str:
    """The end of a number, the rest starred: enough to tell two apart, too little to use."""
    shown = value[-3:]
    return "*" * (len(value) - len(shown)) + shown


def shorten(value: str, width: int) -> str:
    """The text cut at a word, with an ellipsis when something was cut."""
    if len(value) <= width:
        return value
    return value[: width - 1].rsplit(" ", 1)[0] + "…"


def words(value: str) -> list[str]:
    """The words of a text in lower case."""
    return re.findall(r"[a-z0-9]+", value.lower())


def looks_like_address(value: str) -> bool:
    """Whether there is something before and after the one @."""
    name, at, host = value.strip().partition("@")
    return bool(name and at and "." in host and "@" not in host)
