"""Keys: none may stand in a mapping, and none that it hands on may get into what is stored."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from typing import Any, Final
from urllib.parse import quote

from framework.errors import UserError
from plugins.archs.external._mapping import PLACEHOLDER, Found, SystemFailed, placeholders

_KEYS: Final = "(?:authorization|cookie|key|token|secret|password|passwd|credentials?)"
_NAMED_LIKE_A_KEY: Final = re.compile(f"{_KEYS}$", re.IGNORECASE)
_KEY: Final = 12
"""Characters from which on what is named like a key is taken for one, and not for a word."""
_IN_A_TEXT: Final = re.compile(
    rf"""([\w.-]*{_KEYS})["']?\s*[=:]\s*["']?(?:(?:bearer|basic)\s+)?([^\s"'&;,]{{{_KEY},}})"""
    rf"""|://()[^\s/@]*:([^\s/@]{{{_KEY},}})@""",
    re.IGNORECASE,
)
"""A key in a text, by its name: `--token=...`, `?api_key=...`, `Authorization: Bearer ...`, or as
the password in an address."""
_NO_KEY: Final = ("-", "/", "$")
"""What begins with one of these is the next option, a file, or a shell's variable."""
_SECRET: Final = 8
"""Characters from which on a value of the environment is hidden, and may not be part of a result:
a shorter one may be any word or number."""
_log: Final = logging.getLogger("framework.memories")


def check_keys(template: Any, where: str) -> None:
    """Raise UserError where a key itself stands in a mapping, which every run stores.

    It is known by the name that it stands under, at any depth.
    """
    if isinstance(template, Mapping):
        for name, value in template.items():
            for one in value if isinstance(value, (list, tuple)) else (value,):
                if _NAMED_LIKE_A_KEY.search(str(name)) and _may_be_key(one):
                    raise _stored(where, str(name))
            check_keys(value, where)
    elif isinstance(template, (list, tuple)):
        for value in template:
            check_keys(value, where)


def check_words(words: Iterable[Any], where: str) -> None:
    """Raise UserError where a word of a command, or an address, holds a key.

    It is known by the name in front of it, in the same word or as the option before it.
    """
    option = ""
    for word in map(str, words):
        if _NAMED_LIKE_A_KEY.search(option) and _may_be_key(word) and not word.startswith(_NO_KEY):
            raise _stored(where, option)
        for found in _IN_A_TEXT.finditer(word):
            value = found[2] or found[4]
            if _may_be_key(value) and not value.startswith(_NO_KEY):
                raise _stored(where, found[1] or "the password of an address")
        option = word if word.startswith("-") else ""


def _may_be_key(value: Any) -> bool:
    """Whether it has the length of a key, and nothing in it is filled."""
    if isinstance(value, (Mapping, list, tuple)):
        return False
    text = str(value)
    return len(text) >= _KEY and PLACEHOLDER.search(text) is None


def _stored(where: str, name: str) -> UserError:
    return UserError(
        f"arch.{where}: {name}: a mapping is stored, so a key comes from the environment, "
        "as {env.NAME}"
    )


def check_variables(settings: Any) -> None:
    """Raise UserError where a variable that a mapping hands on is not set.

    What is named like a key and too short to be hidden is told.
    """
    for field in fields(settings):
        for found in placeholders(getattr(settings, field.name)):
            if found[1] != "env":
                continue
            if found[2] not in os.environ:
                raise UserError(
                    f"arch.{field.name}: {found[0]}: {found[2]} is not set in the environment"
                )
            if _NAMED_LIKE_A_KEY.search(found[2]) and len(os.environ[found[2]].strip()) < _SECRET:
                _tell_of_short(field.name, found[2])


@cache
def _tell_of_short(where: str, name: str) -> None:
    _log.warning(
        "arch.%s: the value of %s has fewer than %d characters, so it is not hidden in what a run "
        "stores", where, name, _SECRET,
    )  # fmt: skip


class Secrets:
    """The values of the caller's environment that a mapping hands on, kept out of what is stored.

    settings : the mapping; each `{env.NAME}` anywhere in it is one of them, if its value has at
        least `_SECRET` characters.
    """

    __slots__ = ("_forms", "_values")

    def __init__(self, settings: Any) -> None:
        names = {found[2] for found in placeholders(settings) if found[1] == "env"}
        values = {name: os.environ.get(name, "").strip() for name in sorted(names)}
        self._values = {name: value for name, value in values.items() if len(value) >= _SECRET}
        forms = {form for value in self._values.values() for form in _forms(value)}
        self._forms = sorted(forms, key=len, reverse=True)

    @property
    def longest(self) -> int:
        """Characters of the longest of them, however it is written."""
        return len(self._forms[0]) if self._forms else 0

    def hide(self, text: str) -> str:
        """The text with `***` for each of them. Before it is cut: a part can't be found."""
        for form in self._forms:
            text = text.replace(form, "***")
        return text

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """What a SystemFailed inside says is told without them."""
        try:
            yield
        except SystemFailed as failed:
            raise SystemFailed(self.hide(str(failed))) from None

    def check(self, found: Sequence[Found]) -> list[Found]:
        """The results. Raises SystemFailed where the text of one holds such a value.

        Results are stored and sent to the reader, and one that is changed would be another's.
        """
        for name, value in self._values.items():
            if any(form in result.text for result in found for form in _forms(value)):
                raise SystemFailed(
                    f"a result holds the value of {{env.{name}}}, which is kept out of what is "
                    "stored: where it is no secret, write it into the mapping"
                )
        return list(found)


def _forms(value: str) -> set[str]:
    """A value as it may be written in a message, an answer or an address."""
    quoted = {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    return {value, *quoted, repr(value)[1:-1], quote(value, safe=""), quote(value)}
