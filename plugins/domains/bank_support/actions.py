"""Typed actions: what a task expects to be done, what an answer says that it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from framework.text.canonical import canonical_json
from framework.text.reading import read_json
from plugins.domains.data_file import BadRecordError, check_writable, kind_of, list_in, text_in

CALLS: Final = {
    "call_discoverable_agent_tool": "agent_tool_name",
    "call_discoverable_user_tool": "discoverable_tool_name",
}
"""Actions that call a tool which a document names, and the argument that holds its name."""

UNLOCKS: Final = "unlock_discoverable_agent_tool"
READS: Final = "get_"
"""How the names of tools begin that look something up and change nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One call of a tool.

    compared : the arguments that are compared with those of an answer's action; None for all.
    """

    name: str
    arguments: Mapping[str, Any]
    compared: tuple[str, ...] | None = None

    @property
    def changes(self) -> bool:
        """Whether it changes anything at the bank."""
        return not self.name.startswith(READS)

    def is_met_by(self, given: Action) -> bool:
        """Whether an answer's action is this one: the same name, the same compared arguments."""
        if given.name != self.name:
            return False
        if self.compared is None:
            return dict(given.arguments) == dict(self.arguments)
        return all(
            key in given.arguments and given.arguments[key] == self.arguments.get(key)
            for key in self.compared
        )


def expected(records: Sequence[Any]) -> tuple[Action, ...]:
    """The actions of a task, in order, each the tool that is really called.

    Unlocking a tool is left out where the task calls it: it is a step of the published simulator.
    Raises BadRecordError.
    """
    read = []
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise BadRecordError(f"action {number}: an object expected, {kind_of(record)} found")
        try:
            read.append(_action(record))
        except BadRecordError as error:
            raise BadRecordError(f"action {number}: {error}") from None
    called = {action.name for action in read}
    return tuple(
        action
        for action in read
        if not (action.name == UNLOCKS and action.arguments.get("agent_tool_name") in called)
    )


def _action(record: Mapping[str, Any]) -> Action:
    name, arguments = text_in(record, "name"), _object(record.get("arguments"), "arguments")
    compared = None
    if record.get("compare_args") is not None:
        compared = tuple(list_in(record, "compare_args"))
        if not all(isinstance(key, str) for key in compared):
            raise BadRecordError("compare_args: a list of texts expected")
    if name not in CALLS:
        return Action(name=name, arguments=arguments, compared=compared)
    inner = arguments.get("arguments", {})
    if isinstance(inner, str):
        try:
            inner = read_json(inner)
        except ValueError:
            raise BadRecordError("arguments.arguments: not JSON") from None
    # Where only the tool's name is compared, its arguments are free.
    whole = compared is None or "arguments" in compared
    return Action(
        name=text_in(arguments, CALLS[name]),
        arguments=_object(inner, "arguments.arguments"),
        compared=None if whole else (),
    )


def _object(value: object, key: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadRecordError(f"{key}: a JSON object expected, {kind_of(value)} found")
    check_writable(value, key)
    return value


def written(actions: Sequence[Action]) -> str:
    """Actions as canonical JSON, for `Gold.answer` and `Answer.text`."""
    return canonical_json(
        [
            {"name": action.name, "arguments": dict(action.arguments)}
            | ({} if action.compared is None else {"compared": list(action.compared)})
            for action in actions
        ]
    )


def parsed(text: str) -> tuple[Action, ...] | None:
    """The actions of such a text; None where it holds no list of actions."""
    try:
        records = read_json(text)
    except ValueError:
        return None
    if not isinstance(records, list):
        return None
    found = []
    for record in records:
        if not isinstance(record, dict) or not isinstance(record.get("name"), str):
            return None
        arguments, compared = record.get("arguments", {}), record.get("compared")
        if not isinstance(arguments, dict):
            return None
        keys = tuple(map(str, compared)) if isinstance(compared, list) else None
        found.append(Action(name=record["name"], arguments=arguments, compared=keys))
    return tuple(found)


def compared(
    wanted: Sequence[Action], given: Sequence[Action]
) -> tuple[list[Action], list[Action], list[Action]]:
    """The wanted actions that are given, those that are not, and the given ones that are left.

    Each given action counts for one wanted one at most, in order.
    """
    left, found, missing = list(given), [], []
    for action in wanted:
        match = next((other for other in left if action.is_met_by(other)), None)
        if match is None:
            missing.append(action)
        else:
            left.remove(match)
            found.append(action)
    return found, missing, left


def met(wanted: Sequence[Action], given: Sequence[Action]) -> list[Action]:
    """The wanted actions that are given, each given action counted for one of them, in order."""
    return compared(wanted, given)[0]


def done(wanted: Sequence[Action], given: Sequence[Action]) -> bool:
    """Whether all is done that changes anything, and nothing else is.

    Where nothing is to be changed, whether everything that is expected is there.
    """
    changes = [action for action in wanted if action.changes] or list(wanted)
    others = [action for action in given if action.changes]
    if len(met(changes, given)) < len(changes):
        return False
    return len(met(changes, others)) == len(others)
