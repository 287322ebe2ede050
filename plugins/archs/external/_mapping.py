"""What a call is filled with, and where things are in an answer: declared, never guessed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final

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
PLACEHOLDER: Final = re.compile(r"\{([a-z][a-z0-9_]*)(?:\.(\w+))?\}")
_WITH_NAMES: Final = ("metadata", "env")


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
    whole = PLACEHOLDER.fullmatch(template)
    if whole is not None:
        return _value(whole, values)
    return fill_text(template, values, str)


def fill_text(template: str, values: Mapping[str, Any], form: Callable[[Any], str]) -> str:
    """The text with each placeholder replaced by its value in this form, or by nothing."""
    return PLACEHOLDER.sub(lambda found: _said(_value(found, values), form), template)


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
    for found in placeholders(template):
        name, inner = found.groups()
        if (
            name not in (*allowed, "env")
            or (inner and name not in _WITH_NAMES)
            or (name == "env" and not inner)
        ):
            raise ValueError(f"{where}: no placeholder {found[0]}{nearest(name, allowed)}")


def uses(template: Any, name: str) -> bool:
    """Whether a placeholder of this name is anywhere in the template."""
    return any(found[1] == name for found in placeholders(template))


def placeholders(template: Any) -> Iterator[re.Match[str]]:
    """All placeholders in a template, in their order."""
    if isinstance(template, str):
        yield from PLACEHOLDER.finditer(template)
    elif isinstance(template, Mapping):
        for value in template.values():
            yield from placeholders(value)
    elif isinstance(template, Sequence):
        for value in template:
            yield from placeholders(value)
    elif is_dataclass(template):
        for field in fields(template):
            yield from placeholders(getattr(template, field.name))


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
