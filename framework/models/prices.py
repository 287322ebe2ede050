"""List prices, from conf/prices.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import inf
from pathlib import Path
from typing import Any, Final

import yaml

from framework.errors import DataError
from framework.models.cache import Response
from framework.text.canonical import CanonicalError, digest
from framework.text.reading import read_yaml

PRICES: Final = Path(__file__).resolve().parents[2] / "conf" / "prices.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Dollars a million tokens: input, output, and input read from or put into a prompt cache.

    over : tokens of a prompt above which its whole call costs `times_in` and `times_out` as much.
    """

    input: float
    output: float
    cached: float
    written: float
    over: float = inf
    times_in: float = 1.0
    times_out: float = 1.0

    def cost(self, response: Response) -> float:
        """The list price of a call in dollars."""
        plain = response.tokens_in - response.tokens_cached - response.tokens_written
        read = (
            plain * self.input
            + response.tokens_cached * self.cached
            + response.tokens_written * self.written
        )
        return self._of(response.tokens_in, read, response.tokens_out * self.output)

    def worst(self, tokens_in: int, tokens_out: int) -> float:
        """The most that a call of so many tokens can cost."""
        read = tokens_in * max(self.input, self.written)
        return self._of(tokens_in, read, tokens_out * self.output)

    def _of(self, tokens_in: int, read: float, said: float) -> float:
        if tokens_in > self.over:
            read, said = read * self.times_in, said * self.times_out
        return (read + said) / 1e6


@cache
def prices(path: Path = PRICES) -> Mapping[str, Price]:
    """Prices by model id. Raises DataError for a file that can't be read as such."""
    return {name: _price(path, name, entry) for name, entry in _models(path).items()}


def price_of(name: str) -> Price | None:
    """The price of a model, None where it is not known."""
    return prices().get(name)


def no_price(name: str) -> str:
    """What is said of a model without a price: how to give it one."""
    return f"{name} has no price in conf/prices.yaml; add one under models there"


@cache
def prices_digest(path: Path = PRICES) -> str:
    """Digest of all prices, for the record of a run."""
    try:
        return digest(_models(path))
    except CanonicalError as error:  # a date, .inf
        raise DataError(path, None, f"not a list of prices: {error}") from None


def _models(path: Path) -> Mapping[str, Any]:
    try:
        loaded = read_yaml(path.read_text(encoding="utf-8"))
        models = loaded["models"]
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise DataError(path, None, f"not a list of prices: {error}") from None
    if not isinstance(models, dict):
        raise DataError(path, None, "models: prices by model id expected")
    return models


def _price(path: Path, name: str, entry: Any) -> Price:
    try:
        given = entry["input"]
        own = {"cached": given, "written": given, **entry, "output": entry["output"]}
        price = Price(**{name: float(value) for name, value in own.items()})
        if min(price.times_in, price.times_out) < 1 or (price.over == inf) != (
            price.times_in == price.times_out == 1
        ):
            raise ValueError("over, and how many times as much, at least 1: both expected")
        return price
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DataError(path, None, f"{name}: {error}") from None
