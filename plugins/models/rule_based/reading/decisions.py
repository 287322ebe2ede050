"""Decision records in a text: what each fixes, what it stands under, what has replaced it.

Only the wordings below are known; a statement worded otherwise is not read. A record is known by
its name, two capitalised words and a common noun, so that statements of one record may stand in
different places. A description of a name (`the agreement called after the foggy signal fire`) is
read as the name, and one of a setting as its label, where aliases.yaml has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final

import yaml

from framework.contracts import Profile
from framework.text.sentences import sentences
from plugins.models.rule_based.noise import noise_on


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """What a record fixes: a setting's label at a value, as text.

    place : index of the line of the text that it stands in.
    """

    name: str
    label: str
    value: str
    place: int


@dataclass(slots=True, kw_only=True)
class DecisionLog:
    """What the records of a text say, by name.

    components : the records that a component is built under. above : the records that one stands
    under. replaced : the record that stands in the place of one. marks : what a mark of a record
    means. lines : the words of each line.
    """

    constraints: list[Constraint] = field(default_factory=list)
    components: dict[str, list[str]] = field(default_factory=dict)
    above: dict[str, list[str]] = field(default_factory=dict)
    replaced: dict[str, str] = field(default_factory=dict)
    marks: dict[tuple[str, str], str] = field(default_factory=dict)
    lines: list[frozenset[str]] = field(default_factory=list)

    def head(self, name: str) -> str:
        """What holds in the place of the record, as far as the text says."""
        seen = {name}
        while (after := self.replaced.get(name)) is not None and after not in seen:
            seen.add(after)
            name = after
        return name

    def governing(self, component: str) -> Iterator[str]:
        """The records that the component stands under and that hold, nearest first."""
        level = [self.head(name) for name in self.components.get(component, ())]
        seen: set[str] = set()
        while level:
            level = [name for name in dict.fromkeys(level) if name not in seen]
            seen.update(level)
            yield from level
            # A link to or from a record that was replaced counts for what replaced it.
            older = {old for old in self.above if self.head(old) in level}
            level = [
                self.head(up)
                for name in (*level, *sorted(older))
                for up in self.above.get(name, ())
            ]

    def value(self, constraint: Constraint) -> str:
        """The value that a constraint means, its marks looked up; empty where one is missing."""
        value, left = constraint.value, len(self.marks) + 1
        while (mark := _MARK.fullmatch(value)) is not None:
            value = self.marks.get((constraint.name, mark[1]), "")
            left -= 1
            if left < 0:
                return ""
        return value


_NAME: Final = r"((?:[A-Z][a-z]+ ){2}[a-z]+)"
_COMPONENT: Final = r"([a-z]+-[0-9a-z]+)"
_LABEL: Final = r"([a-z][a-z ]*?)"
_VALUE: Final = r"(\d+(?: to \d+)? [a-z]+|mark [A-Z]\d+|[a-z]+)"
_MARK: Final = re.compile(r"mark ([A-Z]\d+)")
_FORMS: Final[Mapping[str, tuple[re.Pattern[str], ...]]] = {
    kind: tuple(re.compile(form + r"\.?") for form in forms)
    for kind, forms in {
        "component": (
            rf"Component (?P<a>{_COMPONENT}) is built under the (?P<b>{_NAME})",
            rf"The (?P<b>{_NAME}) is the home of component (?P<a>{_COMPONENT})",
        ),
        "constraint": (
            rf"Under the (?P<a>{_NAME}), the (?P<b>{_LABEL}) must be (?P<c>{_VALUE})",
            rf"The (?P<a>{_NAME}) requires the (?P<b>{_LABEL}) to be (?P<c>{_VALUE})",
            rf"The (?P<a>{_NAME}) fixes the (?P<b>{_LABEL}) at (?P<c>{_VALUE})",
        ),
        "mark": (
            rf"Mark (?P<b>[A-Z]\d+) of the (?P<a>{_NAME}) means (?P<c>{_VALUE})",
            rf"In the (?P<a>{_NAME}), mark (?P<b>[A-Z]\d+) stands for (?P<c>{_VALUE})",
        ),
        "above": (
            rf"The (?P<a>{_NAME}) implements the (?P<b>{_NAME})",
            rf"The (?P<a>{_NAME}) puts the (?P<b>{_NAME}) into practice",
            rf"The (?P<a>{_NAME}) is derived from the (?P<b>{_NAME})",
            rf"The (?P<a>{_NAME}) follows from the (?P<b>{_NAME})",
            rf"The (?P<b>{_NAME}) constrains the (?P<a>{_NAME})",
            rf"The (?P<b>{_NAME}) binds the (?P<a>{_NAME})",
        ),
        "replaced": (
            rf"The (?P<b>{_NAME}) supersedes the (?P<a>{_NAME})",
            rf"The (?P<b>{_NAME}) replaces the (?P<a>{_NAME})",
        ),
    }.items()
}
_WORD: Final = re.compile(r"[a-z]{3,}")
_DIGIT: Final = re.compile(r"\d")


def read_decisions(text: str, profile: Profile) -> DecisionLog:
    """The statements of a text, line by line.

    A noisy profile misses a statement or reads another figure in it (a value without figures is
    then missed).
    """
    log = DecisionLog()
    for place, line in enumerate(_by_name(text).split("\n")):
        log.lines.append(words(line))
        for sentence in sentences(line):
            noise = noise_on(sentence, profile)
            if noise != "miss":
                _read(sentence, place, noise == "confuse", log)
    return log


def _by_name(text: str) -> str:
    """The text with names in the place of the descriptions that are known."""
    if "called after the" not in text:
        return text
    alias, names, _ = _aliases()
    return alias.sub(
        lambda found: f"{names[found['first']]} {names[found['second']]} {names[found['kind']]}",
        text,
    )


@lru_cache(maxsize=1)
def _aliases() -> tuple[re.Pattern[str], Mapping[str, str], Mapping[str, str]]:
    """What matches a description of a name, what each part of it means, what labels mean."""
    known = yaml.safe_load(Path(__file__).with_name("aliases.yaml").read_text("utf-8"))
    labels = {alias: label for label, alias in known.pop("label").items()}
    names = {
        alias: word for words in known.values() for word, both in words.items() for alias in both
    }
    parts = {
        part: "|".join(re.escape(alias) for both in words.values() for alias in both)
        for part, words in known.items()
    }
    form = "(?P<kind>{kind}) called after the (?P<first>{first}) (?P<second>{second})"
    return re.compile(rf"\b{form.format(**parts)}\b"), names, labels


def words(text: str) -> frozenset[str]:
    """Its words of three letters or more, without case."""
    return frozenset(_WORD.findall(text.casefold()))


def _read(sentence: str, place: int, confused: bool, log: DecisionLog) -> None:
    for kind, forms in _FORMS.items():
        for form in forms:
            if (match := form.fullmatch(sentence)) is not None:
                _note(kind, match, place, confused, log)
                return


def _note(kind: str, match: re.Match[str], place: int, confused: bool, log: DecisionLog) -> None:
    a, b = match["a"], match["b"]
    if kind in ("constraint", "mark"):
        value = _misread(match["c"]) if confused else match["c"]
        if not value:
            return
        if kind == "mark":
            log.marks[a, b] = value
        else:
            label = _aliases()[2].get(b, b)
            log.constraints.append(Constraint(name=a, label=label, value=value, place=place))
    elif kind == "replaced":
        log.replaced[a] = b
    else:
        linked = log.components if kind == "component" else log.above
        linked.setdefault(a, []).append(b)


def _misread(value: str) -> str:
    """The value with its first digit one higher; empty where it has none."""
    digit = _DIGIT.search(value)
    if digit is None or value.startswith("mark"):
        return ""
    other = "1" if digit[0] == "9" else str(int(digit[0]) + 1)
    return value[: digit.start()] + other + value[digit.end() :]
