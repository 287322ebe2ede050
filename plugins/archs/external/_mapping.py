"""What a call is filled with, and where things are in an answer: declared, never guessed."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Final
from urllib.parse import quote

from framework.errors import UserError
from framework.records import Event
from framework.registry import nearest

EVENT: Final = ("id", "text", "time", "kind", "session", "speaker", "metadata", "tenant")
"""Placeholders of a call that writes: the event's own fields, and what sets one history apart."""
FORGET: Final = (*EVENT, "given")
"""And, of a call that deletes one, the id that the system gave it."""
SEARCH: Final = ("query", "limit", "tenant")
RESET: Final = ("tenant",)
SETTLE: Final = ("tenant", "given")
"""Of a call that says whether what was written can be found."""
START: Final = ("home", "here", "python", "bin", "system")
"""Of a command and its environment: the fresh home, where decisionbench was started, the
interpreter of the system's own environment, the folder of its programs, and that of the drivers
that are shipped."""
_PLACEHOLDER: Final = re.compile(r"\{([a-z][a-z0-9_]*)(?:\.(\w+))?\}")
_WITH_NAMES: Final = ("metadata", "env")
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


class SystemFailed(Exception):
    """A system that crashed, hung, flooded, refused, or answered otherwise than declared."""


class NoReset(Exception):
    """A system whose mapping declares no call that makes it forget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One result of a search: its text, the ids that the system gives it, its score if any."""

    text: str
    ids: tuple[str, ...] = ()
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPaths:
    """Where the results of a search are in its answer, as dotted paths (`result.0.memory`).

    items : the list of results, or one text; that of the answer itself is empty. A `*` stands for
        every part of what is there: the results of all of them, in their order.
    text, id, score : within one result; empty: the result itself is the text, there is none.
    split : what separates the results where `items` is one text.
    """

    items: str = "items"
    text: str = "text"
    id: str = ""
    score: str = ""
    split: str = ""

    def read(self, answer: Any) -> list[Found]:
        """The results in an answer, best first. Raises SystemFailed where a path leads nowhere."""
        held = _gathered(answer, self.items, "answer.items: the answer")
        if isinstance(held, str):
            parts = held.split(self.split) if self.split else [held]
            return [Found(text=part.strip()) for part in parts if part.strip()]
        if held is not None and not isinstance(held, list):
            it = repr(self.items) if self.items else "the answer"
            raise SystemFailed(
                f"answer.items: {it} is {_kind(held)}, a list of results was declared"
            )
        return [self._one(result) for result in held or ()]

    def _one(self, result: Any) -> Found:
        text = at(result, self.text, "answer.text: a result")
        for part in text if isinstance(text, list) else (text,):
            if isinstance(part, (Mapping, list)):
                it = repr(self.text) if self.text else "a result"
                raise SystemFailed(f"answer.text: {it} is {_kind(part)}, a text was declared")
        return found_of(
            text,
            at(result, self.id, "answer.id: a result") if self.id else None,
            at(result, self.score, "answer.score: a result") if self.score else None,
        )


def _kind(value: Any) -> str:
    """What a value of an answer is, in words."""
    if isinstance(value, Mapping):
        return f"an object with {sorted(value)}"
    return "a list" if isinstance(value, list) else f"{value!r:.80}"


def _gathered(answer: Any, path: str, whose: str) -> Any:
    """The value at a dotted path; with a `*` in it the lists in every part, as one."""
    before, star, after = path.partition("*")
    if not star:
        return at(answer, path, whose)
    held = at(answer, before.rstrip("."), whose)
    parts = held.values() if isinstance(held, Mapping) else held
    if isinstance(parts, str) or not isinstance(parts, Iterable):
        raise SystemFailed(f"{path}: {before.rstrip('.') or 'the answer'} has no parts")
    found = [_gathered(part, after.lstrip("."), whose) or [] for part in parts if part is not None]
    if not all(isinstance(one, list) for one in found):
        raise SystemFailed(f"{path}: lists of results were declared")
    return [result for one in found for result in one]


def found_of(text: Any, ids: Any, score: Any) -> Found:
    """A result of what an answer holds: a list of texts is one text of several lines."""
    names = ids if isinstance(ids, list) else [] if ids is None else [ids]
    try:
        number = float(score) if isinstance(score, (int, float)) else None
    except OverflowError:
        raise SystemFailed("a score that is too large a number") from None
    return Found(
        text="\n".join(map(str, text)) if isinstance(text, list) else _said(text, str),
        ids=tuple(map(str, names)),
        score=number,
    )


def at(answer: Any, path: str, whose: str) -> Any:
    """The value at a dotted path. Raises SystemFailed that says where it ends and what is there.

    whose : the setting that has the path, and what it is a path in.
    """
    value = answer
    for word in path.split(".") if path else ():
        if isinstance(value, Mapping) and word in value:
            value = value[word]
        elif isinstance(value, list) and word.isdigit() and int(word) < len(value):
            value = value[int(word)]
        else:
            there = sorted(value) if isinstance(value, Mapping) else type(value).__name__
            raise SystemFailed(f"{whose} has no {path!r}: {word!r} is not in {there}")
    return value


def values_of(event: Event, tenant: str) -> dict[str, Any]:
    """What a call that writes an event may be filled with; what the event lacks is None."""
    told = event.metadata
    return {
        "id": event.id,
        "text": event.text,
        "time": event.time or None,
        "kind": event.kind or None,
        "session": told.get("session"),
        "speaker": told.get("speaker") or told.get("role"),
        "metadata": dict(told),
        "tenant": tenant,
    }


def fill(template: Any, values: Mapping[str, Any]) -> Any:
    """The template with its placeholders filled.

    A text that is one placeholder becomes the value itself, whatever its type; a key whose
    placeholder has no value is left out.
    """
    if isinstance(template, Mapping):
        filled = {key: fill(value, values) for key, value in template.items()}
        return {key: value for key, value in filled.items() if value is not None}
    if isinstance(template, Sequence) and not isinstance(template, str):
        return [fill(value, values) for value in template]
    if not isinstance(template, str):
        return template
    whole = _PLACEHOLDER.fullmatch(template)
    if whole is not None:
        return _value(whole, values)
    return fill_text(template, values, str)


def fill_text(template: str, values: Mapping[str, Any], form: Callable[[Any], str]) -> str:
    """The text with each placeholder replaced by its value in this form, or by nothing."""
    return _PLACEHOLDER.sub(lambda found: _said(_value(found, values), form), template)


def _said(value: Any, form: Callable[[Any], str]) -> str:
    return "" if value is None else form(value)


def _value(found: re.Match[str], values: Mapping[str, Any]) -> Any:
    name, inner = found.groups()
    if name == "env":
        if inner not in os.environ:
            raise UserError(f"{found[0]}: {inner} is not set in the environment")
        return os.environ[inner]
    return values[name].get(inner) if inner else values[name]


def check_template(template: Any, allowed: Sequence[str], where: str) -> None:
    """Raise ValueError for a placeholder that a call does not have, with the nearest that it has.

    `{env.NAME}`, a variable of the caller's environment, is allowed everywhere. One without quotes
    is a mapping to YAML, and is refused too.
    """
    for name in _unquoted(template):
        if name in allowed:
            raise ValueError(f"{where}: {{{name}}} without quotes is a mapping to YAML; quote it")
    for found in _placeholders(template):
        name, inner = found.groups()
        if (
            name not in (*allowed, "env")
            or (inner and name not in _WITH_NAMES)
            or (name == "env" and not inner)
        ):
            raise ValueError(f"{where}: no placeholder {found[0]}{nearest(name, allowed)}")


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
    return len(text) >= _KEY and _PLACEHOLDER.search(text) is None


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
        for found in _placeholders(getattr(settings, field.name)):
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


def uses(template: Any, name: str) -> bool:
    """Whether a placeholder of this name is anywhere in the template."""
    return any(found[1] == name for found in _placeholders(template))


def _placeholders(template: Any) -> Iterator[re.Match[str]]:
    if isinstance(template, str):
        yield from _PLACEHOLDER.finditer(template)
    elif isinstance(template, Mapping):
        for value in template.values():
            yield from _placeholders(value)
    elif isinstance(template, Sequence):
        for value in template:
            yield from _placeholders(value)
    elif is_dataclass(template):
        for field in fields(template):
            yield from _placeholders(getattr(template, field.name))


def _unquoted(template: Any) -> Iterator[str]:
    """The keys of mappings that have one key and no value, as YAML reads `{text}`."""
    if isinstance(template, Mapping):
        if len(template) == 1 and None in template.values():
            yield from template
        for value in template.values():
            yield from _unquoted(value)
    elif isinstance(template, Sequence) and not isinstance(template, str):
        for value in template:
            yield from _unquoted(value)


class Secrets:
    """The values of the caller's environment that a mapping hands on, kept out of what is stored.

    settings : the mapping; each `{env.NAME}` anywhere in it is one of them, if its value has at
        least `_SECRET` characters.
    """

    __slots__ = ("_forms", "_values")

    def __init__(self, settings: Any) -> None:
        names = {found[2] for found in _placeholders(settings) if found[1] == "env"}
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
