"""What a reader knows of the task card: labels with their keys, the words for decisions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from framework.records import FactField, TaskCard

FREE: Final = "~"
"""Opens the key of a quantity that is known by its wording only, not by a field of the form."""

_WORD: Final = re.compile(r"[^\W_]+")
_GAP: Final = re.compile(r"[\s\-/'’_&.]{1,3}\Z")
_ARTICLES: Final = frozenset({"the", "a", "an"})


class Mention(NamedTuple):
    """A label at `[start, end)` of a sentence."""

    key: str
    start: int
    end: int


def normalise(text: str) -> str:
    """The words of `text` in lower case, joined by one space, without a leading article.

    >>> normalise("The Debt-to-income ratio")
    'debt to income ratio'
    """
    words = _WORD.findall(text.casefold())
    return " ".join(words[1:] if words[:1] and words[0] in _ARTICLES else words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lexicon:
    """Labels in normalised words to keys; the policy's phrases to decisions, longest first.

    `finds_labels` is False for a reader who recognises no label in running text and reads what
    stands before a value instead. Compared by identity: `lexicon_of` keeps one of each.
    """

    fields: Mapping[str, FactField]
    labels: Mapping[str, str]
    starts: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]
    verbs: tuple[tuple[str, str], ...]
    finds_labels: bool

    def key_of(self, label: str) -> str:
        """The key of a label as written, or a free key made of its words."""
        words = normalise(label)
        return self.labels.get(words, FREE + words)

    def type_of(self, key: str) -> str:
        """The type of a field, empty for a free key."""
        field = self.fields.get(key)
        return field.type if field else ""

    def decision_of(self, phrase: str) -> str:
        """The decision that a policy's phrase names, empty when none. `phrase` may say more."""
        words = normalise(phrase)
        for verb, decision in self.verbs:
            if words == verb or words.startswith(verb + " "):
                return decision
        return ""

    def mentions(self, sentence: str) -> list[Mention]:
        """Labels in a sentence, in order, the longest where several start, none overlapping."""
        lowered = sentence.lower()
        if len(lowered) != len(sentence):
            lowered = sentence
        words = list(_WORD.finditer(lowered))
        found: list[Mention] = []
        index = 0
        while index < len(words):
            for label, key in self.starts.get(words[index][0], ()):
                if _stands_at(label, words, index, lowered):
                    end = words[index + len(label) - 1].end()
                    found.append(Mention(key, words[index].start(), end))
                    index += len(label) - 1
                    break
            index += 1
        return found


def _stands_at(label: tuple[str, ...], words: list[re.Match[str]], index: int, text: str) -> bool:
    if index + len(label) > len(words):
        return False
    for offset in range(1, len(label)):
        before, word = words[index + offset - 1], words[index + offset]
        if word[0] != label[offset] or not _GAP.match(text[before.end() : word.start()]):
            return False
    return True


def lexicon_of(task: TaskCard, *, schema: bool) -> Lexicon:
    """The lexicon of a card. Without `schema`, only exact labels and keys name a field."""
    return _build(task.fields, tuple(task.verbs.items()), schema)


@lru_cache(maxsize=256)
def _build(
    fields: tuple[FactField, ...], verbs: tuple[tuple[str, str], ...], schema: bool
) -> Lexicon:
    labels: dict[str, str] = {}
    for field in fields:
        for label in (field.label, *(field.aliases if schema else (field.key,))):
            labels.setdefault(normalise(label), field.key)
    labels.pop("", None)
    starts: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for label in sorted(labels, key=lambda words: (-len(words.split()), words)):
        words = tuple(label.split())
        starts.setdefault(words[0], []).append((words, labels[label]))
    phrases = sorted(((normalise(v), d) for d, v in verbs), key=lambda p: (-len(p[0]), p))
    return Lexicon(
        fields={field.key: field for field in fields},
        labels=labels,
        starts={word: tuple(entries) for word, entries in starts.items()},
        verbs=tuple((phrase, decision) for phrase, decision in phrases if phrase),
        finds_labels=schema,
    )
