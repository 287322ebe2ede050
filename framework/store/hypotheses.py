"""What a pre-registration says: which comparison, which direction, how much, how tested."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from framework.errors import DataError, UserError
from framework.text.canonical import digest

__all__ = ["Hypothesis", "Preregistration", "parse", "read_file"]

DIRECTIONS: Final = ("higher", "lower")
TESTS: Final = ("paired", "noninferiority")
ROLES: Final = ("primary", "exploratory")
ADJUSTMENTS: Final = ("holm", "none")
STOPS: Final = ("fixed", "none")
_OPTIONAL: Final = ("published", "setting", "against_setting")
OUTCOMES: Final = ("supported", "rejected", "reversed", "underpowered")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """One prediction.

    Attributes:
        name: unique in its file.
        claim: in words, for people.
        role: "primary", or "exploratory": judged, adjusted for nothing, and never confirmatory.
        arm: the arm it is about.
        against: the arms it is compared with, all of which the claim must hold against.
        axis: what is measured.
        budget: the budget's name.
        direction: "higher" or "lower": how the arm is predicted to stand to the others.
        margin: "paired": the least difference predicted, 0 or more; "noninferiority": the largest
            loss that is acceptable, above 0.
        test: "paired": permutation test and decision bounds; "noninferiority": the bound alone.
        alpha: two-sided, of the primary family; a bound is one-sided at half of it.
        n: cases planned.
        published: an outcome printed elsewhere, shown beside the verdict; "" for none.
        setting: values of configuration keys (`domain.rho`) that the arm is measured at, where they
            are not those of the file's `base`.
        against_setting: the same of the arms that it is compared with; those of `setting` where it
            is left out, so that one arm at two settings says both.
    """

    name: str
    claim: str
    role: str
    arm: str
    against: tuple[str, ...]
    axis: str
    budget: str
    direction: str
    margin: float
    test: str
    alpha: float
    n: int
    published: str = ""
    setting: Mapping[str, Any] = field(default_factory=dict)
    against_setting: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preregistration:
    """A file of hypotheses.

    Attributes:
        name: of the file, without its ending.
        title: for people.
        stop: "fixed": exactly the planned cases are run; "none": no rule was set.
        adjust: "holm" over the primary hypotheses, or "none" where each must hold by itself.
        seed: of the run, ``None`` where any will do.
        data_digest: of the domain's data, ``None`` where it is not fixed.
        base: the values of every configuration key that a hypothesis may set; empty where all runs
            are of one setting.
        hypotheses: in the order of the file.
        digest: of the content: comments and layout do not count.
    """

    name: str
    title: str
    stop: str
    adjust: str
    seed: int | None
    data_digest: str | None
    base: Mapping[str, Any]
    hypotheses: tuple[Hypothesis, ...]
    digest: str


def read_file(path: Path) -> tuple[Preregistration, dict[str, Any]]:
    """The pre-registration of a YAML file, and its content as plain data.

    Raises UserError where there is no such file, DataError (file) for anything wrong in it.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except yaml.YAMLError as error:
        raise DataError(path, None, f"not YAML: {error}") from None
    try:
        return parse(path.stem, content), content
    except UserError as error:
        raise DataError(path, None, str(error)) from None


def parse(name: str, content: Any) -> Preregistration:
    """The pre-registration of plain data. Raises UserError for anything wrong in it."""
    if not isinstance(content, Mapping):
        raise UserError(
            "a mapping with title, stop, adjust, seed, data_digest, base, hypotheses expected"
        )
    allowed = ("title", "stop", "adjust", "seed", "data_digest", "base", "hypotheses")
    _check_keys("", content, allowed, ("title", "hypotheses"))
    listed = content["hypotheses"]
    if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed:
        raise UserError("hypotheses: a list of at least one expected")
    base = _settings("base", content.get("base") or {})
    hypotheses = tuple(_hypothesis(i, each, base) for i, each in enumerate(listed))
    names = [h.name for h in hypotheses]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise UserError(f"hypotheses: {twice} is there twice")
    seed = content.get("seed")
    if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool) or seed < 0):
        raise UserError(f"seed: {seed!r} given, a number of 0 or more expected")
    return Preregistration(
        name=name,
        title=str(content["title"]),
        stop=_choice("", content, "stop", STOPS),
        adjust=_choice("", content, "adjust", ADJUSTMENTS),
        seed=seed,
        data_digest=content.get("data_digest"),
        base=base,
        hypotheses=hypotheses,
        digest=digest(content),
    )


def _hypothesis(index: int, content: Any, base: Mapping[str, Any]) -> Hypothesis:
    where = f"hypotheses[{index}]."
    if not isinstance(content, Mapping):
        raise UserError(f"{where[:-1]}: a mapping expected")
    fields = {f.name: f for f in dataclasses.fields(Hypothesis)}
    _check_keys(where, content, tuple(fields), tuple(n for n in fields if n not in _OPTIONAL))
    against = content["against"]
    rivals = (against,) if isinstance(against, str) else tuple(against or ())
    if not rivals or not all(isinstance(r, str) and r for r in rivals):
        raise UserError(f"{where}against: an arm, or a list of arms, expected")
    test = _choice(where, content, "test", TESTS)
    margin = _number(where, content, "margin")
    if margin < 0 or (test == "noninferiority" and margin == 0):
        raise UserError(f"{where}margin: {margin:g} given, above 0 expected")
    alpha = _number(where, content, "alpha")
    if not 0 < alpha < 1:
        raise UserError(f"{where}alpha: {alpha:g} given, between 0 and 1 expected")
    n = content["n"]
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise UserError(f"{where}n: {n!r} given, at least 1 expected")
    published = content.get("published") or ""
    if published and published not in OUTCOMES:
        raise UserError(f"{where}published: {published!r} given, one of {_listed(OUTCOMES)}")
    setting = _settings(f"{where}setting", content.get("setting") or {}, base)
    other = content.get("against_setting")
    against_setting = (
        setting if other is None else _settings(f"{where}against_setting", other, base)
    )
    if content["arm"] in rivals and {**base, **setting} == {**base, **against_setting}:
        raise UserError(f"{where}against: {content['arm']} is compared with itself")
    words = {key: _text(where, content, key) for key in ("name", "claim", "arm", "axis", "budget")}
    return Hypothesis(
        **words,
        role=_choice(where, content, "role", ROLES),
        against=rivals,
        direction=_choice(where, content, "direction", DIRECTIONS),
        margin=margin,
        test=test,
        alpha=alpha,
        n=n,
        published=published,
        setting=setting,
        against_setting=against_setting,
    )


def _settings(where: str, content: Any, base: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    """Configuration keys with plain values, each one of the base's."""
    if not isinstance(content, Mapping):
        raise UserError(f"{where}: a mapping of configuration keys expected")
    for key, value in content.items():
        if not isinstance(key, str) or not isinstance(value, str | int | float | bool | None):
            raise UserError(f"{where}.{key}: {value!r} given, a number or text expected")
        if base is not None and key not in base:
            raise UserError(f"{where}.{key}: base says no value of it")
    return dict(content)


def _check_keys(
    where: str, content: Mapping[Any, Any], allowed: Sequence[str], needed: Sequence[str]
) -> None:
    for key in content:
        if key not in allowed:
            raise UserError(f"{where}{key}: no such key; allowed: {_listed(allowed)}")
    for key in needed:
        if content.get(key) is None:
            raise UserError(f"{where}{key}: missing")


def _choice(where: str, content: Mapping[str, Any], key: str, allowed: Sequence[str]) -> str:
    value = content.get(key, allowed[0])
    if value not in allowed:
        raise UserError(f"{where}{key}: {value!r} given, one of {_listed(allowed)} expected")
    return str(value)


def _number(where: str, content: Mapping[str, Any], key: str) -> float:
    value = content[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise UserError(f"{where}{key}: {value!r} given, a number expected")
    return float(value)


def _text(where: str, content: Mapping[str, Any], key: str) -> str:
    value = content[key]
    if not isinstance(value, str) or not value:
        raise UserError(f"{where}{key}: {value!r} given, text expected")
    return value


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
