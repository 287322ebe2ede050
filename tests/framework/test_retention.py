from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.records import Gold, GoldItem, Item, MemoryView, Span
from framework.retention import (
    best_subset,
    budget_ceiling,
    closure,
    gold_tokens,
    retained,
    stated_as_current,
)
from framework.text.tokens import count_tokens

INCOME = GoldItem(
    id="fact:income",
    kind="fact",
    key="income",
    type="money",
    anchors=("$147,500",),
    bindings=("gross annual income", "annual income"),
    spans=(Span(source_id="e1", text="Gross annual income: $147,500."),),
)
RULE = GoldItem(
    id="rule:UP-2",
    kind="rule",
    key="UP-2",
    anchors=("43%",),
    spans=(Span(source_id="e2", text="UP-2. Deny if the debt ratio is above 43%; reason: debt."),),
)
RATIO = GoldItem(
    id="fact:ratio",
    kind="fact",
    key="debt_ratio",
    type="percent",
    anchors=("43%",),
    bindings=("debt ratio",),
    spans=(Span(source_id="e3", text="The debt ratio was 43%."),),
)


def view(*texts: str) -> MemoryView:
    items = tuple(Item(id=str(i), text=text) for i, text in enumerate(texts))
    return MemoryView(items=items, tokens=0, budget_tokens=None)


def holds(item: GoldItem, *texts: str) -> bool:
    return retained(Gold(items=(item,)), view(*texts))[item.id]


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-12 | W-2\nGross annual income: $147,500. Filed in time.",
        "She reports an annual income of USD 147,500 for 2025.",
        "income: 147,500 dollars",
        "The annual income is $147,500, not $139,000.",
        "The correction dated 2026-03-20 to the annual income is rescinded; "
        "the annual income of $147,500 stands.",
        "The annual income was corrected from $139,000 to $147,500.",
    ],
)
def test_a_fact_is_retained_by_its_span_or_by_its_bound_value(text: str) -> None:
    assert holds(INCOME, text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The loan amount is $147,500.",
        "The annual income is high. The loan amount is $147,500.",
        "Annual income\n$147,500",
        "Gross annual income: $147,500.25",
        "The annual income is $1,147,500.",
        "The annual income was formerly $147,500.",
        "Earlier paperwork gave the annual income as $147,500.",
        "Correction dated 2026-03-20: the annual income is $139,000, not $147,500.",
        "The annual income is restated as $139,000; the annual income of $147,500 is withdrawn.",
        "The annual income is above $147,500.",
        "UP-1. Deny if the annual income is one of $147,500 or less; reason: income.",
    ],
)
def test_a_fact_is_not_retained_without_its_value_bound_whole_and_current(text: str) -> None:
    assert not holds(INCOME, text)


def test_a_span_is_intact_only_within_one_view_item() -> None:
    span = Span(source_id="e1", text="They met on Monday.")
    passage = GoldItem(id="p", kind="passage", key="p", spans=(span,))
    assert holds(passage, "Notes. They met on Monday. Then", "they left.")
    assert not holds(passage, "They met", "on Monday.")
    assert not holds(INCOME, "Gross annual income", "$147,500")


def test_a_rule_needs_its_code_and_all_its_anchors_and_is_not_its_fact() -> None:
    assert holds(RULE, "UP-2 (amended 2026-02-01). Deny if the ratio is above 43 percent.")
    assert not holds(RULE, "UP-2. Deny if the ratio is above 45%.")
    assert not holds(RULE, "UP-3. Deny if the ratio is above 43%.")
    assert not holds(RATIO, "UP-2. Deny if the debt ratio is above 43%; reason: debt.")
    assert holds(RATIO, "A debt ratio of 43% was computed.")


@pytest.mark.parametrize(
    "policy",
    [
        "UP-3. Investment occupancy calls for denial.",
        "UP-3 (amended 2026-02-01). Investment occupancy calls for denial.",
        "Deny if the occupancy is one of investment, vacation or second home; reason: occupancy.",
    ],
)
def test_a_policy_that_names_a_category_does_not_state_the_fact(policy: str) -> None:
    occupancy = GoldItem(
        id="o", kind="fact", key="occupancy", type="category", anchors=("investment",)
    )
    assert not holds(occupancy, policy)
    assert holds(occupancy, f"{policy} The occupancy is investment.")


def test_what_follows_from_retained_items_is_retained() -> None:
    debt = GoldItem(id="debt", kind="fact", key="debt", type="money", anchors=("$5",))
    ratio = GoldItem(id="ratio", kind="fact", key="r", derived_from=("debt", "fact:income"))
    band = GoldItem(id="band", kind="fact", key="b", derived_from=("ratio",))
    gold = Gold(items=(band, ratio, debt, INCOME))
    assert retained(gold, view("debt: $5", "annual income: $147,500")) == {
        "band": True,
        "ratio": True,
        "debt": True,
        "fact:income": True,
    }
    assert not any(retained(gold, view("debt: $6")).values())
    assert closure(gold.items, {"debt"}) == {"debt"}


@pytest.mark.parametrize(
    ("sentence", "current"),
    [
        ("The score is 779.", True),
        ("As previously reported, the score is 779.", True),
        ("The score is 779, formerly 640.", True),
        ("The score (was 640) is 779.", True),
        ("640 was replaced by 779 as the score.", True),
        ("A score of 779 replaces 640.", True),
        ("The score is no longer 779.", False),
        ("The score is not 779.", False),
        ("The score is 640 instead of 779.", False),
        ("A score of 640 (was 779) is on file.", False),
        ("The score of 779 was corrected to 640.", False),
        ("The figure of 779 has been withdrawn.", False),
        ("A score of 640 replaces 779.", False),
    ],
)
def test_the_standing_of_a_value(sentence: str, current: bool) -> None:
    start = sentence.index("779")
    assert stated_as_current(sentence, start, start + 3) is current


def test_the_standing_of_a_date() -> None:
    sentence = "The date of loss was corrected from 2026-02-06 to 2026-02-09."
    assert not stated_as_current(sentence, 36, 46)
    assert stated_as_current(sentence, 50, 60)
    assert sentence[36:46] == "2026-02-06"
    assert sentence[50:60] == "2026-02-09"


def _fact(name: str, tokens: int, *sources: str) -> GoldItem:
    spans = (Span(source_id=name, text=" ".join([name] * tokens)),) if tokens else ()
    return GoldItem(
        id=name, kind="fact", key=name, anchors=(name,), spans=spans, derived_from=sources
    )


def test_gold_tokens_count_shared_spans_once_and_derived_items_not_at_all() -> None:
    shared = GoldItem(id="x", kind="rule", key="x", spans=_fact("a", 4).spans)
    items = (_fact("a", 4), shared, _fact("b", 3), _fact("c", 9, "a", "b"))
    assert gold_tokens(Gold(items=items)) == 7
    assert budget_ceiling(Gold(items=items), 7) == 1.0
    assert budget_ceiling(Gold(items=items), None) == 1.0


def test_the_ceiling_counts_closure_and_what_never_fits() -> None:
    gold = Gold(items=(_fact("a", 4), _fact("b", 3), _fact("c", 9, "a", "b"), _fact("d", 0)))
    assert best_subset(gold, 3) == {"b"}
    assert budget_ceiling(gold, 6) == 0.25
    assert budget_ceiling(gold, 7) == 0.75
    assert budget_ceiling(gold, 0) == 0.0
    assert budget_ceiling(Gold(), 10) is None


NAMES = "abcdefghijklmnop"


@st.composite
def _golds(draw: st.DrawFn, max_size: int) -> Gold:
    n = draw(st.integers(1, max_size))
    items = []
    for i in range(n):
        earlier = list(NAMES[:i])
        sources = draw(st.lists(st.sampled_from(earlier), max_size=2)) if earlier else []
        items.append(_fact(NAMES[i], draw(st.integers(0 if sources else 1, 6)), *sources))
    return Gold(items=tuple(items))


@given(_golds(6), st.integers(0, 30))
def test_the_ceiling_is_the_best_of_all_views_of_spans(gold: Gold, budget: int) -> None:
    spans = [span.text for item in gold.items for span in item.spans]
    best = 0.0
    for size in range(len(spans) + 1):
        for chosen in itertools.combinations(spans, size):
            if sum(map(count_tokens, chosen)) <= budget:
                best = max(best, sum(retained(gold, view(*chosen)).values()) / len(gold.items))
    assert budget_ceiling(gold, budget) == pytest.approx(best)


@settings(max_examples=30)
@given(_golds(16), st.integers(0, 60))
def test_a_best_subset_keeps_within_the_budget_it_was_given(gold: Gold, budget: int) -> None:
    held = best_subset(gold, budget)
    ceiling = budget_ceiling(gold, budget)
    assert ceiling == len(held) / len(gold.items)
    assert (budget_ceiling(gold, budget + 5) or 0) >= (ceiling or 0) - 1e-12 or len(gold.items) > 14


FIGURES = [f"${thousands},500" for thousands in range(120, 180)]
LABELS = ("annual income", "loan amount", "monthly debts", "debt ratio", "credit score")


def test_a_heap_of_all_figures_beside_all_labels_states_no_fact() -> None:
    """In one line each label stands with every figure: whoever reads it can bind none."""
    for heap in (
        " ".join([*LABELS, *FIGURES]),
        " ".join([*FIGURES, *LABELS]),
        " ".join([*FIGURES[:30], *LABELS, *FIGURES[30:]]),
        " ".join(f"{figure}, {label};" for figure, label in zip(FIGURES, LABELS * 12, strict=True)),
    ):
        assert "annual income" in heap
        assert "$147,500" in heap
        assert not holds(INCOME, heap)


def test_a_name_far_from_a_category_does_not_bind_it() -> None:
    use = GoldItem(
        id="fact:use", kind="fact", key="occupancy", type="category", anchors=("rented",)
    )
    assert holds(use, "The occupancy, as the appraiser saw it, is rented.")
    phrases = " ".join(f"phrase number {word}" for word in ("one", "two", "three") * 8)
    assert not holds(use, f"occupancy {phrases} rented")


def test_a_line_that_lists_several_facts_states_each() -> None:
    line = "loan amount $310,000; annual income $147,500; monthly debts $2,100; down payment $9,000"
    assert holds(INCOME, line)
    assert holds(INCOME, "$310,000 is the loan amount and $147,500 the annual income.")
