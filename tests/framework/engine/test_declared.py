"""What a domain or an arm declares of itself wrongly is told before a run begins, in one line."""

from __future__ import annotations

from typing import Any

import pytest

from framework.engine.prepare import check
from framework.errors import UserError
from tests.trivial import TrivialArch, TrivialDomain, trivial_plan


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("provides", (), "provides: empty"),
        ("provides", ("trivial", "factz"), "provides: no axis needs 'factz'; did you mean 'facts'"),
        ("provides", ("trivial", "trivial"), "provides: a word appears twice"),
        (
            "provides",
            ("trivial", "success"),
            "success_axis: required, as the domain provides success",
        ),
        ("headline", (), "headline: no columns"),
        ("headline", ("rihgt",), "headline: rihgt is no column .*; did you mean 'right'"),
        ("success_axis", "rihgt", "success_axis: rihgt is no column .*; did you mean 'right'"),
        ("protocols", ("evaluate", "retreive"), "protocols: .*did you mean 'retrieve'"),
        ("digest", lambda self: None, "digest is None"),
        ("digest", lambda self: "1", "digest is '1'"),
        ("nominal_tokens", 1.5, "nominal_tokens is 1.5"),
        ("nominal_tokens", 0, "nominal_tokens is 0"),
        ("provenance", None, "provenance: None given"),
    ],
)
def test_a_wrong_word_of_a_domain_is_told(
    monkeypatch: pytest.MonkeyPatch, name: str, value: Any, said: str
) -> None:
    check(trivial_plan())
    monkeypatch.setattr(TrivialDomain, name, value)
    with pytest.raises(UserError, match=said) as told:
        check(trivial_plan())
    assert str(told.value).startswith("domain=trivial (tests.trivial.TrivialDomain): ")
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("trials", [0, 2.5, "3", None])
def test_trials_that_are_no_number_are_told(monkeypatch: pytest.MonkeyPatch, trials: Any) -> None:
    monkeypatch.setattr(TrivialArch, "trials", trials)
    told = r"^arch=trivial \(tests\.trivial\.TrivialArch\): trials is "
    with pytest.raises(UserError, match=told):
        check(trivial_plan())
