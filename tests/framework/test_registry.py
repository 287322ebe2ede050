"""Names to plugins, and settings from configuration values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from framework.errors import UserError
from framework.registry import (
    Plugin,
    find,
    identity_of,
    nearest,
    plugins,
    register,
    settings_of,
)


@dataclass(frozen=True)
class _Settings:
    k: int = 5
    weight: float = 1.0
    mode: Literal["a", "b"] = "a"
    path: str | None = None
    names: tuple[str, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict)
    retries: int = field(default=3, metadata={"operational": True})
    on: bool = False
    since: str = field(default="first", metadata={"later": True})

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"k must be at least 1, not {self.k}")


PLUGIN = Plugin(group="arch", name="bm25", cls=object, settings=_Settings)


def test_settings_take_values_of_their_types() -> None:
    values = {"k": 7, "weight": 2, "mode": "b", "path": None, "names": ["x"], "shares": {"a": 1}}
    settings = settings_of(PLUGIN, values)
    assert settings == _Settings(k=7, weight=2.0, mode="b", names=("x",), shares={"a": 1.0})
    assert isinstance(settings.weight, float)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"kk": 1}, "arch.kk (arch=bm25): no such setting; did you mean 'k'?"),
        ({0: None}, "arch.0 (arch=bm25): no such setting; allowed:"),
        ({"k": "five"}, "arch.k (arch=bm25): 'five' given, a whole number expected"),
        ({"k": True}, "arch.k (arch=bm25): True given, a whole number expected"),
        ({"k": 1.5}, "arch.k (arch=bm25): 1.5 given, a whole number expected"),
        ({"on": 1}, "arch.on (arch=bm25): 1 given, true or false expected"),
        ({"mode": "c"}, "arch.mode (arch=bm25): 'c' given; allowed: a, b"),
        ({"path": 3}, "arch.path (arch=bm25): 3 given, text or null expected"),
        ({"names": "x"}, "arch.names (arch=bm25): 'x' given, a list of text expected"),
        ({"k": 0}, "arch=bm25: k must be at least 1, not 0"),
    ],
)
def test_a_wrong_value_is_one_line(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as error:
        settings_of(PLUGIN, values)
    assert str(error.value).startswith(message)


def test_operational_settings_stay_out_of_the_identity() -> None:
    assert "retries" not in identity_of(PLUGIN, _Settings())
    assert identity_of(PLUGIN, _Settings())["k"] == 5


def test_a_setting_that_came_later_says_nothing_at_its_default() -> None:
    before = identity_of(PLUGIN, _Settings())
    assert "since" not in before
    assert identity_of(PLUGIN, _Settings(since="second")) == {**before, "since": "second"}


def test_an_unknown_plugin_names_the_nearest() -> None:
    with pytest.raises(UserError, match="did you mean 'bm25'"):
        find("arch", "bm52")


def test_a_long_list_of_names_is_not_told_beside_a_guess() -> None:
    names = [f"{letter}{number}" for letter in "abcd" for number in range(10, 30)]
    assert nearest("a11x", names) == "; did you mean 'a11'? 80 are allowed"
    assert nearest("a11x", names[:3]) == "; did you mean 'a11'? allowed: a10, a11, a12"
    assert nearest("xyz", names) == f"; allowed: {', '.join(names)}"


def test_a_name_that_no_class_has_is_told_in_plain_words() -> None:
    with pytest.raises(UserError) as told:
        find("importer", "front_mater")
    assert str(told.value).startswith(
        "importer: no plugin 'front_mater'; did you mean 'front_matter'?"
    )
    assert "@register" not in str(told.value)


def test_one_name_is_one_class() -> None:
    with pytest.raises(ValueError, match="registered twice"):

        @register("arch", "bm25")
        class Other:
            """Another."""


def test_every_plugin_says_what_it_is() -> None:
    for plugin in plugins():
        assert plugin.summary, f"{plugin.group}={plugin.name} has no docstring"
        assert plugin.cls.name == plugin.name
