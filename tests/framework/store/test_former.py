"""What old runs called things is read in today's words; what users call theirs is not touched."""

from __future__ import annotations

import json

from framework.store.former import read_json


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
