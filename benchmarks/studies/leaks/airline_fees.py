"""Of `airline_fees`: totals and fees by words, and rules that apply whatever is asked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import Any, Final

from benchmarks.studies.leaks.measures import (
    HEADER,
    NOTHING,
    Table,
    agreeing,
    commonest,
    of,
    placed,
    short,
)
from framework.contracts import Domain
from framework.records import Case

_PRICE: Final = re.compile(r"ticket is \$(\d+)")


def fares(domain: Domain[Any], cases: Sequence[Case]) -> Table:
    """Totals and fees by the question most like it; which rules apply whatever is asked."""
    texts = [case.task.query for case in cases]
    totals = [int(case.gold.answer) for case in cases]
    prices = [int(found[1]) for text in texts if (found := _PRICE.search(text))]
    fees = [total - price for total, price in zip(totals, prices, strict=True)]
    rules = [event.id for event in domain.history(cases[0].history_id)]
    applied = Counter(name for case in cases for name in case.gold.evidence)
    always = [name for name in rules if applied[name] == len(cases)]
    most = max(count for name, count in applied.items() if name not in always)
    drawn = fmean(len(case.gold.evidence) for case in cases) / len(rules)
    return [
        HEADER,
        *(
            (
                f"Has the question most like it by words, numbers masked, {what}?",
                of(agreeing(texts, answers), len(cases)),
                f"the commonest one: {of(commonest(answers), len(cases))}",
            )
            for what, answers in (("the same total", totals), ("fees of the same sum", fees))
        ),
        ("How many rules apply in every case?", of(len(always), len(rules)), NOTHING),
        (
            "In how many cases does the rule apply that is commonest beside them?",
            of(most, len(cases)),
            f"a rule drawn at random: {short(drawn)} of them",
        ),
        (
            "If the rules stood in the order of their texts' digests, what of the gold would the "
            "tenth hold that is best in half of the clusters, in the other half?",
            placed("best of the other half", domain, cases),
            short(0.1),
        ),
    ]
