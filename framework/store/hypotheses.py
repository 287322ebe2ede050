"""What a pre-registration says: which comparison, which direction, how much, how tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml

from framework.bounds import Bounded, above, at_least
from framework.errors import DataError, UserError
from framework.registry import instance_of
from framework.text.canonical import digest
from framework.text.reading import read_yaml

_T = TypeVar("_T")

Values = Mapping[str, str | int | float | bool | None]
"""By configuration key, its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis(Bounded):
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
    role: Literal["primary", "exploratory"]
    arm: str
    against: tuple[str, ...]
    axis: str
    budget: str
    direction: Literal["higher", "lower"]
    margin: Annotated[float, at_least(0)]
    test: Literal["paired", "noninferiority"]
    alpha: Annotated[float, above(0, below=1)]
    n: Annotated[int, at_least(1)]
    published: Literal["", "supported", "rejected", "reversed", "underpowered"] = ""
    setting: Values = field(default_factory=dict)
    against_setting: Values = field(default_factory=dict)

    def __post_init__(self) -> None:
        Bounded.__post_init__(self)
        for name in ("name", "claim", "arm", "axis", "budget"):
            if not getattr(self, name):
                raise ValueError(f"{name}: text expected")
        if not self.against or "" in self.against:
            raise ValueError("against: an arm, or a list of arms, expected")
        if self.test == "noninferiority" and self.margin == 0:
            raise ValueError("margin: 0 given, above 0 expected")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preregistration(Bounded):
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
    stop: Literal["fixed", "none"] = "fixed"
    adjust: Literal["holm", "none"] = "holm"
    seed: Annotated[int | None, at_least(0)] = None
    data_digest: str | None = None
    base: Values = field(default_factory=dict)
    hypotheses: tuple[Hypothesis, ...]
    digest: str


def read_file(path: Path) -> tuple[Preregistration, dict[str, Any]]:
    """The pre-registration of a YAML file, and its content as plain data.

    Raises UserError where there is no such file, DataError (file) for anything wrong in it.
    """
    try:
        content = read_yaml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except (yaml.YAMLError, ValueError) as error:
        told = " ".join(str(error).partition(";")[0].split())
        raise DataError(path, None, f"not YAML: {told}") from None
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
    if own := content.keys() & {"name", "digest"}:
        raise UserError(f"{min(own)}: no such key: it is taken from the file")
    listed = content.get("hypotheses")
    if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed:
        raise UserError("hypotheses: a list of at least one expected")
    found = tuple(_hypothesis(i, each) for i, each in enumerate(listed))
    values = {**content, "name": name, "digest": digest(content), "hypotheses": found}
    plan = _made(Preregistration, values, "")
    names = [h.name for h in found]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise UserError(f"hypotheses: {twice} appears twice")
    for i, h in enumerate(found):
        where = f"hypotheses[{i}]."
        for side in ("setting", "against_setting"):
            for key in getattr(h, side).keys() - plan.base.keys():
                raise UserError(f"{where}{side}.{key}: base has no value for it")
        if h.arm in h.against and {**plan.base, **h.setting} == {**plan.base, **h.against_setting}:
            raise UserError(f"{where}against: {h.arm} is compared with itself")
    return plan


def _hypothesis(index: int, content: Any) -> Hypothesis:
    where = f"hypotheses[{index}]"
    if not isinstance(content, Mapping):
        raise UserError(f"{where}: a mapping expected")
    against = content.get("against")
    values = {**content, "against": [against] if isinstance(against, str) else against}
    found = _made(Hypothesis, values, f"{where}.")
    both = content.get("against_setting") is None
    return replace(found, against_setting=found.setting) if both else found


def _made(cls: type[_T], values: Mapping[str, Any], where: str) -> _T:
    """What is null in a file is as if it were left out."""
    given = {str(key): value for key, value in values.items() if value is not None}
    try:
        return instance_of(cls, given, where + "{}")
    except ValueError as error:
        raise UserError(f"{where}{error}") from None
