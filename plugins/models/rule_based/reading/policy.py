"""A policy's sentences as rules: conditions, decision, reason, amendment, precedence, what remains.

The grammar is closed and public:

- ``CODE. Verb if the L is CMP X; reason: REASON.`` (also ``where``, ``when``), or
  ``CODE. If the L is CMP X, verb; reason: REASON.``; conditions joined by ``and the``;
- ``CODE (amended DATE). ...`` replaces the rule of that code, the latest amendment holds;
- ``Rules in force: CODE, CODE.``, ``Precedence: verb, verb.``, ``If no rule applies, verb.``
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from framework.text.values import Value, find_values, parse_value
from plugins.models.rule_based.reading.lexicon import Lexicon

COMPARISONS: Final[Mapping[str, str]] = {
    "not one of": "not in",
    "one of": "in",
    "at or above": ">=",
    "at or below": "<=",
    "at least": ">=",
    "at most": "<=",
    "greater than": ">",
    "more than": ">",
    "less than": "<",
    "lower than": "<",
    "higher than": ">",
    "above": ">",
    "over": ">",
    "below": "<",
    "under": "<",
    "before": "<",
    "earlier than": "<",
    "after": ">",
    "later than": ">",
    "equal to": "in",
    "not": "not in",
}
"""The wordings of a comparison and its sign, longest first where one begins another."""

_CMP: Final = "|".join(words.replace(" ", r"\s+") for words in COMPARISONS)
_RULE: Final = re.compile(
    r"(?:[-*•]\s+)?(?P<code>[A-Z][\w-]*(?:\s+[A-Z]?-?\d[\w.()-]*?)?)"
    r"(?:\s+\(amended(?:\s+on)?\s+(?P<amended>[^)]+)\))?[.:]\s+(?P<body>\S.*)\Z",
    re.DOTALL,
)
_REASON: Final = re.compile(r"[;,]\s*(?:principal\s+)?reason:\s*(?P<reason>.+)\Z", re.IGNORECASE)
_VERB_FIRST: Final = re.compile(
    r"(?P<verb>[^;:]+?)\s+(?:if|where|when)\s+(?P<conditions>.+)\Z", re.IGNORECASE
)
_VERB_LAST: Final = re.compile(
    r"(?:if|where|when)\s+(?P<conditions>.+),\s+(?P<verb>[^;:]+?)\Z", re.IGNORECASE
)
_AND: Final = re.compile(rf"\s+and\s+(?=the\s+[^;]+?\s+is\s+(?:{_CMP})\b)", re.IGNORECASE)
_CONDITION: Final = re.compile(
    rf"(?:the\s+)?(?P<left>.+?)\s+(?:is\s+(?P<cmp>{_CMP})|(?P<verb>exceeds))\s+(?P<right>.+)\Z",
    re.IGNORECASE,
)
_OPTION: Final = re.compile(r"\s*,\s*(?:or\s+)?|\s+or\s+", re.IGNORECASE)
_IN_FORCE: Final = re.compile(
    r"(?:the\s+)?rules\s+in\s+force(?:\s+are)?:?\s*(?P<codes>.+)\Z", re.IGNORECASE
)
_PRECEDENCE: Final = re.compile(
    r"(?:order\s+of\s+)?precedence(?:\s+is)?:\s*(?P<verbs>.+)\Z", re.IGNORECASE
)
_REMAINING: Final = re.compile(
    r"(?:if|where|when)\s+no\s+rule\s+applies,?\s+(?P<verb>.+)\Z", re.IGNORECASE
)
_LIST: Final = re.compile(r"\s*[,;>]\s*(?:(?:and|then)\s+)?|\s+(?:and|then)\s+", re.IGNORECASE)
_DIGITS: Final = re.compile(r"\d+")
_TRIGGER: Final = re.compile(r"\b(?:if|where|when|force|precedence)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """`left` compared with literal `options` (one for an ordering) or with the field `right`."""

    left: str
    left_text: str
    comparison: str
    words: str
    options: tuple[Value, ...] = ()
    right: str = ""
    right_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRule:
    """A provision: `decision` follows when all conditions hold. `text` is the verbatim sentence.

    `code` is as written, `id` its canonical form.
    """

    id: str
    code: str
    amended: str
    decision: str
    conditions: tuple[Condition, ...]
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Precedence:
    """Decisions in the order in which their rules win."""

    decisions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InForce:
    """All rules in force, canonical form of the code to the code as written."""

    codes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Remaining:
    """The decision where no rule applies."""

    decision: str


PolicyPart = PolicyRule | Precedence | InForce | Remaining
_P = TypeVar("_P")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The policy as far as a view holds it: one rule a code, amendments applied.

    `missing` are the codes in force that the view has no rule for. `lists_rules` says whether the
    view tells which rules are in force at all. `remaining` is empty where the view does not tell.
    """

    rules: tuple[PolicyRule, ...] = ()
    missing: tuple[str, ...] = ()
    precedence: tuple[str, ...] = ()
    remaining: str = ""
    lists_rules: bool = False


def policy_part(sentence: str, lexicon: Lexicon) -> PolicyPart | None:
    """What a sentence says of the policy, None when it is not of the grammar."""
    if not _TRIGGER.search(sentence):
        return None
    text = sentence.rstrip().removesuffix(".")
    if match := _IN_FORCE.match(text):
        codes = {v.canonical: v.text for v in find_values(match["codes"]) if v.type in _CODES}
        return InForce(codes) if codes else None
    if match := _PRECEDENCE.match(text):
        decisions = [lexicon.decision_of(verb) for verb in _LIST.split(match["verbs"])]
        return Precedence(tuple(d for d in decisions if d)) if any(decisions) else None
    if match := _REMAINING.match(text):
        decision = lexicon.decision_of(match["verb"])
        return Remaining(decision) if decision else None
    return _rule(sentence, text, lexicon)


_CODES: Final = frozenset({"provision", "identifier"})


def _rule(sentence: str, text: str, lexicon: Lexicon) -> PolicyRule | None:
    match = _RULE.match(text)
    if match is None:
        return None
    code = parse_value(match["code"], "provision")
    if code is None or not re.search(r"\d", code.canonical):
        return None
    body, reason = match["body"], ""
    if tail := _REASON.search(body):
        body, reason = body[: tail.start()], tail["reason"].strip()
    parts = _VERB_LAST.match(body.rstrip(";, ")) or _VERB_FIRST.match(body.rstrip(";, "))
    if parts is None:
        return None
    decision = lexicon.decision_of(parts["verb"])
    conditions = [_condition(c, lexicon) for c in _AND.split(parts["conditions"])]
    if not decision or not all(conditions):
        return None
    amended = parse_value(match["amended"], "date") if match["amended"] else None
    return PolicyRule(
        id=code.canonical,
        code=code.text,
        amended=amended.canonical if amended else "",
        decision=decision,
        conditions=tuple(c for c in conditions if c),
        reason=reason,
        text=sentence.strip(),
    )


def _condition(text: str, lexicon: Lexicon) -> Condition | None:
    match = _CONDITION.match(text.strip())
    if match is None:
        return None
    words = " ".join((match["cmp"] or "more than").lower().split())
    comparison, right = COMPARISONS[words], match["right"].strip()
    left = lexicon.key_of(match["left"])
    type_ = lexicon.type_of(left)
    options: tuple[Value, ...] = ()
    operand = ""
    if comparison in ("in", "not in"):
        options = tuple(v for o in _OPTION.split(right) if (v := _literal(o, type_)))
    elif (value := _number(right, type_)) is not None:
        options = (value,)
    else:
        operand = lexicon.key_of(right)
    return Condition(
        left=left,
        left_text=match["left"].strip(),
        comparison=comparison,
        words=words,
        options=options,
        right=operand,
        right_text=right,
    )


def _literal(text: str, type_: str) -> Value | None:
    found = parse_value(text, type_) if type_ else None
    return found or next(iter(find_values(text)), None) or parse_value(text, "category")


def _number(text: str, type_: str) -> Value | None:
    """The threshold that `text` is, None when it names another quantity."""
    if type_ and type_ not in ("category", "identifier", "provision"):
        return parse_value(text, type_)
    return next(iter(find_values(text)), None)


def policy_of(parts: Iterable[tuple[PolicyPart, str]]) -> Policy:
    """The policy that dated parts make up. Of two rules of one code the later amendment holds.

    Of two plain wordings of a rule, of the precedence and so on, the later-dated holds, and of
    those of one date the one that stands later in the view.
    """
    rules: dict[str, tuple[tuple[str, str], PolicyRule]] = {}
    latest: dict[type[PolicyPart], tuple[str, PolicyPart]] = {}
    for part, date in parts:
        if isinstance(part, PolicyRule):
            age = (part.amended, date)
            if part.id not in rules or age >= rules[part.id][0]:
                rules[part.id] = (age, part)
        elif type(part) not in latest or date >= latest[type(part)][0]:
            latest[type(part)] = (date, part)
    in_force = _last(latest, InForce)
    precedence = _last(latest, Precedence)
    remaining = _last(latest, Remaining)
    codes = in_force.codes if in_force else {}
    kept = {id_: rule for id_, (_, rule) in rules.items() if not codes or id_ in codes}
    return Policy(
        rules=tuple(kept[id_] for id_ in sorted(kept, key=_by_number)),
        missing=tuple(code for id_, code in codes.items() if id_ not in rules),
        precedence=precedence.decisions if precedence else (),
        remaining=remaining.decision if remaining else "",
        lists_rules=in_force is not None,
    )


def _by_number(code: str) -> str:
    """A sort key that puts `UP-2` before `UP-10`."""
    return _DIGITS.sub(lambda match: match[0].zfill(8), code)


def _last(latest: Mapping[type[PolicyPart], tuple[str, PolicyPart]], kind: type[_P]) -> _P | None:
    part = latest[kind][1] if kind in latest else None  # type: ignore[index]
    return part if isinstance(part, kind) else None
