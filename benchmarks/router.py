"""The router's accuracy on generated events: what `typed_routing` sends where, against the gold.

An event that carries a gold fact or rule bears facts; one that carries a gold reason and neither
bears reasoning; other events have no right route and are only counted. The peer is what the
published classifier came to (882 of 884 chunks): everything to the fact store. Accuracy is
balanced, the mean over both kinds, since facts are far more frequent.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from _measure import result

from framework.contracts import Domain
from framework.engine.compose import compose_plan, composer
from plugins.archs._router import route

CASES = 200
SEED = 4711
FORMS = ("development", "held_out")
DOMAINS = ("loan", "claims", "prior_authorization")


def opened(name: str, forms: str) -> Domain[Any]:
    domain: Domain[Any]
    domain = compose_plan([f"domain={name}", f"domain.forms={forms}"]).parts["domain"].create()
    return domain


def measured(domain: Domain[Any]) -> Counter[tuple[str, str]]:
    """Counts of (what the event bears, where it is routed); `other` bears neither."""
    counts: Counter[tuple[str, str]] = Counter()
    for case in domain.cases(CASES, SEED):
        kinds: dict[str, set[str]] = {}
        for item in case.gold.items:
            for source_id in item.source_ids:
                kinds.setdefault(source_id, set()).add(item.kind)
        for event in domain.history(case.history_id):
            found = kinds.get(event.id, set())
            bears = "fact" if found & {"fact", "rule"} else "reasoning" if "reason" in found else ""
            counts[bears or "other", route(event.text)] += 1
    return counts


def share(counts: Counter[tuple[str, str]], bears: str, routed: str) -> float:
    total = counts[bears, "fact"] + counts[bears, "reasoning"]
    return counts[bears, routed] / total if total else float("nan")


def main() -> None:
    results = []
    print(f"Routes of the events of {CASES} cases, seed {SEED}: share sent where it belongs")
    print(
        f"{'domain':20}{'forms':13}{'facts':>8}{'reasons':>9}{'balanced':>10}{'all to facts':>14}"
    )
    for name in DOMAINS:
        for forms in FORMS:
            with composer():
                counts = measured(opened(name, forms))
            facts = share(counts, "fact", "fact")
            reasons = share(counts, "reasoning", "reasoning")
            routed = sum(n for (_, to), n in counts.items() if to == "fact") / counts.total()
            balanced = (facts + reasons) / 2
            print(f"{name:20}{forms:13}{facts:8.3f}{reasons:9.3f}{balanced:10.3f}{routed:14.3f}")
            results.append(
                result(f"router_{name}_{forms}", balanced, 0.5, "everything to the fact store",
                       "balanced accuracy", counts.total())
            )  # fmt: skip
    print(json.dumps(results))


if __name__ == "__main__":
    main()
