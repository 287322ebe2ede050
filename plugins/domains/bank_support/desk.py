"""A desk over several turns and customers: what a review says of a plan, and what a case leaves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from plugins.domains.bank_support.actions import Action, compared, parsed

CUSTOMERS: Final = 5
"""Customers who are served in one session, one after the other."""

SETTLED: Final = "All is done as the policies say."
_NUMBER: Final = re.compile(r"_\d+$")


def reviewed(text: str, expected: str) -> str:
    """What a supervisor says of a plan that does not settle a request; both as `actions.written`.

    Of what is missing it names the subject alone, in the words of the tool's name without its verb
    and number: neither the tool, nor whether to approve or to deny. Of a given action with other
    arguments it names those that are not right, never their values; and it names what was given and
    not called for. Lookups are reviewed only where nothing is to be changed.
    """
    given, wanted = parsed(text), parsed(expected) or ()
    wanted = tuple(action for action in wanted if action.changes) or wanted
    _, missing, left = compared(wanted, given or ())
    said, subjects = [], Counter[str]()
    for action in missing:
        tried = next((other for other in left if other.name == action.name), None)
        if tried is None:
            subjects[subject(action.name)] += 1
        else:
            left.remove(tried)
            said.append(f"Not right in {action.name}: {', '.join(_differing(action, tried))}.")
    others = dict.fromkeys(action.name for action in left if action.changes)
    if subjects:
        told = (name if n == 1 else f"{name} ({n} times)" for name, n in subjects.items())
        said.insert(0, f"Something is still to be done about: {', '.join(told)}.")
    if given is None:
        said.insert(0, "That is no list of actions.")
    if others:
        said.append(f"Not called for here: {', '.join(others)}.")
    return " ".join(dict.fromkeys(said))


def subject(tool: str) -> str:
    """What a tool is about: the words of its name, without the verb and the number."""
    words = _NUMBER.sub("", tool).split("_")
    return " ".join(words[1:] or words)


def _differing(wanted: Action, given: Action) -> Sequence[str]:
    """The arguments that are not as expected, by name."""
    keys: Iterable[str] = wanted.compared or sorted({*wanted.arguments, *given.arguments})
    return [
        key
        for key in keys
        if key not in given.arguments or given.arguments[key] != wanted.arguments.get(key)
        or key not in wanted.arguments
    ]  # fmt: skip


def note(titles: Iterable[str], expected: str) -> str:
    """What the desk notes of a settled request: policies and tools, nothing of the customer."""
    tools = dict.fromkeys(action.name for action in parsed(expected) or ())
    return (
        "A customer's request was settled.\n"
        f"Policies: {'; '.join(titles)}.\n"
        f"Tools that were called: {', '.join(tools) or 'none'}."
    )
