"""What words alone tell a memory of a sentence: its subject, its wording, its worth per token.

A memory that used the reader's grammar would keep exactly what that reader can read, and the two
together would say nothing of either. So nothing here comes from the reader but the cutting into
dated sentences: no value is bound to a label, no rule is parsed, no figure is held to be the one
that counts, and no sentence is left out because it cannot be read.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from framework.records import FactField
from framework.text.values import find_values
from plugins.models.rule_based.dated import Statement
from plugins.models.rule_based.memory.filling import tokens_of

_WORD: Final = re.compile(r"[^\W_]+")
_STOP_WORDS: Final = (
    "a an and are as at be been but by can did do does for from had has have how in is it its of "
    "on or should so than that the their then there these they this to was were what which who "
    "will with would"
)
_STOP: Final = frozenset(_STOP_WORDS.split())
_NORM_WORDS: Final = (
    "if unless where when whenever otherwise except provided must shall required requires "
    "permitted prohibited eligible ineligible policy policies rule rules provision provisions "
    "section clause condition conditions exclusion guideline guidelines criteria criterion "
    "standard standards precedence force applies apply reason reasons"
)
_NORMS: Final = frozenset(_NORM_WORDS.split())
_COMPARISON_WORDS: Final = (
    "above below over under exceeds exceed exceeding least most more less minimum maximum limit "
    "threshold before after within"
)
_COMPARISONS: Final = frozenset(_COMPARISON_WORDS.split())
_CORRECTION: Final = re.compile(
    r"\b(?:correct(?:ed|s|ing|ions?)|restat\w+|revis(?:ed|es|ing|ions?)|amend\w*|withdr[ae]w\w*"
    r"|supersed\w+|rescind\w*|replac\w+|retract\w*|reinstat\w+|revok\w+|cancel\w*|void\w*"
    r"|erroneous\w*|mistake\w*|errors?|wrong\w*|inaccurate\w*|obsolete|outdated|update[sd]?"
    r"|adjust(?:ed|s|ments?)|former(?:ly)?|previous(?:ly)?|originally|earlier|instead)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A statement as a memory may keep it.

    text : as printed: verbatim, with its date before it where a correction matters.
    topics : keys of the fields of which it holds all words of the label or of an alias.
    is_normative : whether it is worded as a policy is, by words that name no field.
    has_value : whether it holds a typed value.
    density : signals per token of `text`, at least 0; the greater, the sooner kept.
    """

    statement: Statement
    text: str
    topics: frozenset[str]
    is_normative: bool
    has_value: bool
    density: float


@lru_cache(maxsize=1 << 16)
def words_of(text: str) -> tuple[str, ...]:
    """The words of a text in lower case, function words left out."""
    return tuple(word for word in _WORD.findall(text.casefold()) if word not in _STOP)


def corrects(text: str) -> bool:
    """Whether a text is worded as a correction."""
    return _CORRECTION.search(text) is not None


def names_of(field: FactField) -> frozenset[frozenset[str]]:
    """The words of the field's label and of each alias."""
    names = (frozenset(words_of(name)) for name in (field.label, *field.aliases))
    return frozenset(name for name in names if name)


def lines_of(
    found: Iterable[Statement], fields: Sequence[FactField], query: str = ""
) -> list[Line]:
    """The statements as lines in order of arrival, one for each text, its latest.

    The signals of a line are counted one by one and none weighs more than another: each typed
    value; each word of a field's label or alias or of the query, by its inverse document frequency
    among the lines (1 for a word of one line, 0 for a word of all); each word of policies, of
    comparisons and of corrections; and 1/n for the n-th latest line on a topic, by date, then by
    arrival.
    """
    kept = _latest(found)
    names = {field.key: names_of(field) for field in fields}
    sought = {word for group in names.values() for name in group for word in name}
    about = [_topics(frozenset(words_of(s.text)), names) for s in kept]
    corrections = [len(_CORRECTION.findall(s.text)) for s in kept]
    corrected = {key for keys, n in zip(about, corrections, strict=True) if n for key in keys}
    weights = _weights(kept, sought | set(words_of(query)))
    recency = _recency(kept, about)
    lines: list[Line] = []
    for statement, topics, correcting, recent in zip(
        kept, about, corrections, recency, strict=True
    ):
        words = words_of(statement.text)
        values = len(find_values(statement.text))
        norms = sum(word in _NORMS and word not in sought for word in words)
        compares = sum(word in _COMPARISONS and word not in sought for word in words)
        overlap = sum(weights.get(word, 0.0) for word in words)
        dated = statement.date and (correcting or topics & corrected)
        text = f"{statement.date}: {statement.text}" if dated else statement.text
        signals = values + overlap + norms + compares + correcting + recent
        lines.append(
            Line(
                statement=statement,
                text=text,
                topics=topics,
                is_normative=norms > 0,
                has_value=values > 0,
                density=signals / max(1, tokens_of(text)),
            )
        )
    return lines


def _latest(found: Iterable[Statement]) -> list[Statement]:
    """Each text once, whatever its case, as last dated, in order of arrival."""
    latest: dict[str, Statement] = {}
    for statement in found:
        text = statement.text.casefold()
        if text not in latest or statement.date >= latest[text].date:
            latest.pop(text, None)
            latest[text] = statement
    return list(latest.values())


def _topics(words: frozenset[str], names: dict[str, frozenset[frozenset[str]]]) -> frozenset[str]:
    return frozenset(key for key, group in names.items() if any(name <= words for name in group))


def _weights(kept: Sequence[Statement], sought: Iterable[str]) -> dict[str, float]:
    """Inverse document frequency of the words sought, on a scale of 0 to 1."""
    holding = Counter(word for s in kept for word in set(words_of(s.text)))
    n = len(kept)
    if n < 2:
        return dict.fromkeys(sought, 1.0)
    return {word: math.log(n / holding[word]) / math.log(n) for word in sought if holding[word]}


def _recency(kept: Sequence[Statement], about: Sequence[frozenset[str]]) -> list[float]:
    """The reciprocal of a line's place among those on its topic, latest first; 0 without topic."""
    latest_first = sorted(range(len(kept)), key=lambda i: (kept[i].date, i), reverse=True)
    places: Counter[str] = Counter()
    recency = [0.0] * len(kept)
    for index in latest_first:
        places.update(about[index])
        recency[index] = max((1 / places[key] for key in about[index]), default=0.0)
    return recency
