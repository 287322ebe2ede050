"""What old runs called things is read in today's words; what users call theirs is not touched."""

from __future__ import annotations

import json

from framework.statistics.comparison import SKEWED
from framework.store.former import as_of_then, read_json, renamed_table


def test_former_words_are_read_in_today_s() -> None:
    text = {"fairness": {"exempt": True}, "axes": {"return_on_tokens": {"kind": "finding"}}}
    assert read_json(json.dumps(text)) == {
        "budget_use": {"unbudgeted": True},
        "axes": {"successes_per_1000_tokens": {"kind": "model-free"}},
    }


def test_names_that_a_domain_or_a_user_gave_stay() -> None:
    """A clinical domain decides on a treatment; a policy has a group that is exempt."""
    text = {
        "constants": {"treatment": 0.6, "exempt": 0.4},
        "strata": {"treatment": {"eda": {"kind": "model-free"}}},
        "by_stratum": {"eda": {"economy": {"mean": 0.5}}},
        "corpus": {"look": 1.0},
        "counterfactual_pairs": {
            "reference": {"treatment": "none"}, "attributes": {"treatment": {"n": 3}}
        },
        "config": {"domain": {"kind": "finding", "treatment": {"exempt": 1}}},
    }  # fmt: skip
    assert read_json(json.dumps(text)) == text


def test_an_older_sweep_is_compared_by_what_sweeps_held_then() -> None:
    told = {"arm_a": "x", "family_low": 0.1, "family_high": 0.2, "family_level": 0.99}
    now = {"jobs": [{"directory": "a", "checks": {}}], "comparisons": [told], "baseline": None}
    then = {"jobs": [{"directory": "a"}], "comparisons": [{"arm_a": "x"}], "baseline": None}
    assert as_of_then(now, then) == then
    assert as_of_then(now, now) == now
    partly = {**now, "comparisons": [{"arm_a": "x"}, told]}
    assert as_of_then(now, partly) == now, "what one entry has is missing in another"


def test_the_former_reason_of_an_undecided_comparison_is_read_in_today_s_words() -> None:
    start = "p assumes symmetric differences; without that, losses too rare to be seen could undo "
    former = f"{start}this one (the decision bounds at the comparison's level within its family "
    found = read_json(json.dumps({"comparisons": [{"reason": f"{former}hold 0)"}]}))
    assert found == {"comparisons": [{"reason": SKEWED}]}
    assert renamed_table(f'undecided,"{former}hold 0)"\n') == f'undecided,"{SKEWED}"\n'
