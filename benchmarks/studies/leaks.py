"""What of the gold do the questions and the order of a domain's events give away by themselves?

    python -m benchmarks.studies.leaks [--data DIR] [--only NAME,...] [--into FILE#NAME]

No arm and no model takes part. By domain a table says what was looked at, what it found, and what
chance or a constant answer gives; with several domains each table stands under its domain's name.
Where the gold of published cases lies is told by `places`. A domain whose files are not in DIR is
left out, and named.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from benchmarks.attacks._told import Row, Told, told
from benchmarks.studies.order_of_arms import ROOT
from benchmarks.studies.places import RULES, lying, share
from framework.contracts import Domain
from framework.records import Answer, Case, Event
from framework.registry import find, settings_of
from framework.reporting.markdown import print_or_put
from framework.text.canonical import canonical_json
from framework.text.tokens import count_tokens
from plugins.domains.bank_support.actions import parsed
from plugins.domains.bank_support.operation import CUSTOMER
from plugins.domains.ordering import by_digest
from plugins.domains.passages.shape import normalise_answer
from plugins.domains.veterans.domain import Veterans
from plugins.domains.veterans.order import OTHER

Table = list[tuple[str, ...]]
"""The header, then the rows."""
HEADER: Final = ("question", "found", "by chance, or by one answer to all")
NOTHING: Final = "–"
TAKEN: Final = 10
"""Records that an order may pick."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A domain to look at. files : by setting, below the folder of all data. cases : None for all.

    others : its other settings. The seed draws the cases of a generated domain, and those alone.
    """

    look: Callable[[Domain[Any], Sequence[Case]], Table]
    files: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)
    cases: int | None = None
    seed: int = 0


def opened(name: str, data: Path) -> tuple[Domain[Any], list[Case]]:
    """A subject's domain and its cases."""
    plugin, subject = find("domain", name), SUBJECTS[name]
    paths = {key: str(data / file) for key, file in subject.files.items()}
    domain: Domain[Any] = plugin.cls(settings_of(plugin, {**paths, **subject.others}))
    return domain, list(domain.cases(subject.cases, subject.seed))


def table(name: str, data: Path) -> str:
    """What a subject gives away, as Markdown."""
    header, *rows = SUBJECTS[name].look(*opened(name, data))
    lines = (header, ("---",) * len(header), *rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", default=ROOT.parent / "shared" / "data", type=Path)
    parser.add_argument("--only", help=f"domains, separated by commas: {', '.join(SUBJECTS)}")
    parser.add_argument("--into", help="a file with markers for the tables")
    asked = parser.parse_args(arguments)
    names = asked.only.split(",") if asked.only else list(SUBJECTS)
    if unknown := [name for name in names if name not in SUBJECTS]:
        parser.error(f"--only {','.join(unknown)}: there are {', '.join(SUBJECTS)}")
    missing = [name for name in names if not _is_there(name, asked.data)]
    found = [name for name in names if name not in missing]
    headed = len(names) > 1
    parts = [f"**{name}**\n\n{table(name, asked.data)}" if headed else table(name, asked.data)
             for name in found]  # fmt: skip
    if missing:
        parts.append(f"Not here, and left out: {', '.join(missing)}.")
    print_or_put("\n\n".join(parts), asked.into)
    return 0


def _is_there(name: str, data: Path) -> bool:
    return all((data / file).exists() for file in SUBJECTS[name].files.values())


def short(value: float) -> str:
    """A share of at most 1, without the zero before its point."""
    return f"{value:.2f}".removeprefix("0")


def _shorter(text: str) -> str:
    return re.sub(r"\b0(?=\.)", "", text)


def of(count: int, total: int) -> str:
    return f"{count:,} of {total:,}"


def commonest(answers: Sequence[Hashable]) -> int:
    """How often the most frequent one is there."""
    return max(Counter(answers).values())


# ----------------------------------------------------------------------------- words of a question


def nearest(texts: Sequence[str]) -> list[int]:
    """By text the place of the other one most like it by its words (tf-idf), numbers masked."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer().fit_transform(re.sub(r"\d+", "#", text) for text in texts)
    like = (words @ words.T).toarray()
    np.fill_diagonal(like, -1)
    return [int(place) for place in like.argmax(axis=1)]


def agreeing(texts: Sequence[str], answers: Sequence[Hashable]) -> int:
    """How many texts have the answer of the one most like them."""
    return sum(answers[own] == answers[other] for own, other in enumerate(nearest(texts)))


def by_words(asked: Sequence[str], labels: Sequence[Hashable], groups: Sequence[Hashable]) -> float:
    """Balanced accuracy of a bag of words by logistic regression, whole groups held out."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.model_selection import GroupKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(CountVectorizer(), LogisticRegression(max_iter=1000))
    names = [str(label) for label in labels]
    said = cross_val_predict(model, asked, names, cv=GroupKFold(5), groups=groups)
    return float(balanced_accuracy_score(names, said))


def stands_in(part: str, whole: str) -> bool:
    """Whether the words of a part stand in the whole, punctuation, case and articles aside."""
    return f" {normalise_answer(part)} " in f" {normalise_answer(whole)} "


def answered(cases: Sequence[Case]) -> int:
    """How many questions hold their answer."""
    return sum(stands_in(case.gold.answer, case.task.query) for case in cases)


def _answers(cases: Sequence[Case]) -> tuple[str, str, str]:
    """The row on that, with the answers of the next questions beside it."""
    answers = [case.gold.answer for case in cases]
    shifted = [*answers[1:], *answers[:1]]
    others = sum(stands_in(answer, c.task.query) for answer, c in zip(shifted, cases, strict=True))
    return (
        "Do the words of the answer stand in the question?",
        of(answered(cases), len(cases)),
        f"those of the next one's: {of(others, len(cases))}",
    )


def _auc(found: Told | None) -> str:
    """An AUC and its limits, which resampling may put outside of 0 to 1."""
    if found is None:
        return NOTHING
    low, high = max(found.low, 0.0), min(found.high, 1.0)
    return _shorter(f"{found.auc:.2f} [{low:.2f}, {high:.2f}]")


# ------------------------------------------------------------------------------------ airline_fees

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
            _placed("best of the other half", domain, cases),
            short(0.1),
        ),
    ]


class _ByDigest:
    """The domain with the events of a history in the order of their texts' digests."""

    def __init__(self, domain: Domain[Any]) -> None:
        self._domain = domain

    def history(self, history_id: str) -> Iterator[Event]:
        return iter(by_digest(self._domain.history(history_id)))


def _placed(rule: str, domain: Domain[Any], cases: Sequence[Case]) -> str:
    reordered: Any = _ByDigest(domain)
    return _shorter(str(share(RULES[rule], lying(reordered, cases))))


# ------------------------------------------------------------------------------------ bank_support


def support(domain: Domain[Any], cases: Sequence[Case]) -> Table:
    """What a scenario names, what popularity earns, and where arguments stand."""
    policies = {event.id: event.text for event in domain.history(cases[0].history_id)}
    both = popularity(cases, list(policies), own_cluster=True)
    apart = popularity(cases, list(policies), own_cluster=False)
    held = standing(cases, policies)
    others = standing(cases, policies, of_others=True)
    files = [case.task.material[CUSTOMER] for case in cases if CUSTOMER in case.task.material]
    handed = f"{len(files)} tasks, {fmean(map(count_tokens, files)):,.0f} tokens in the mean"
    where = (
        "in the scenario",
        "in it or in the policies required",
        f"there, in the instruction or in what is on file of the customer ({handed})",
    )
    earned = [
        (f"{short(both[i])}; without the tasks of its cluster {short(apart[i])}", short(chance))
        for i, chance in enumerate(at_random(cases, len(policies)))
    ]
    total = held.total
    return [
        HEADER,
        (
            "Does a scenario name a title or an id of what it requires?",
            of(sum(names_policy(case, policies) for case in cases), len(cases)),
            NOTHING,
        ),
        (
            "Does it name a tool that its policies name and it must call?",
            of(sum(names_tool(case) for case in cases), len(cases)),
            NOTHING,
        ),
        *(
            (f"What {name} has popularity alone, what other tasks require most often first?", *on)
            for name, on in zip(("`recall_at_5`", "`ndcg_at_10`"), earned, strict=True)
        ),
        *(
            (
                f"How many values of the arguments stand {place}?",
                f"{100 * own / total:.0f}% of {total:,}",
                f"those of the next task: {100 * other / others.total:.0f}%",
            )
            for place, own, other in zip(where, held.counts, others.counts, strict=True)
        ),
        *(
            (
                f"If the policies stood in the order of their texts' digests, what {what}?",
                _placed(rule, domain, cases),
                short(0.1),
            )
            for rule, what in (
                ("first", "of what a task requires would the first tenth hold"),
                ("neighbours", "of the others would the nearest tenth of a required one hold"),
            )
        ),
    ]


def names_policy(case: Case, policies: Mapping[str, str]) -> bool:
    """Whether a scenario has the title or the id of a policy that it requires."""
    query = case.task.query.casefold()
    titles = (policies[name].partition("\n")[0].casefold() for name in case.gold.evidence)
    return any(name in query for name in (*titles, *case.gold.evidence))


def names_tool(case: Case) -> bool:
    """Whether a scenario has the name of an expected tool that a policy names."""
    tools = {one.name for one in parsed(case.gold.answer) or () if one.name[-4:].isdigit()}
    return any(name in case.task.query.casefold() for name in tools)


def popularity(
    cases: Sequence[Case], documents: Sequence[str], *, own_cluster: bool
) -> tuple[float, float]:
    """Recall at 5 and nDCG at 10 of what other tasks require most often, ties in the file's order.

    own_cluster : the other tasks of its cluster count too.
    """
    recalls, gains = list[float](), list[float]()
    for case in cases:
        others = (
            o for o in cases if o.id != case.id and (own_cluster or o.cluster != case.cluster)
        )
        count = Counter(i for other in others for i in other.gold.evidence)
        ranked = sorted(documents, key=lambda i: -count[i])
        gold = set(case.gold.evidence)
        recalls.append(len(gold.intersection(ranked[:5])) / len(gold))
        gain = sum(d for d, i in zip(_DISCOUNTS, ranked, strict=False) if i in gold)
        gains.append(gain / sum(_DISCOUNTS[: len(gold)]))
    return fmean(recalls), fmean(gains)


def at_random(cases: Sequence[Case], documents: int) -> tuple[float, float]:
    """What an order drawn at random is expected to earn of the same two."""
    sizes = [len(set(case.gold.evidence)) for case in cases]
    drawn = sum(_DISCOUNTS) / documents
    return 5 / documents, fmean(drawn * size / sum(_DISCOUNTS[:size]) for size in sizes)


_DISCOUNTS: Final = [1 / math.log2(place + 2) for place in range(10)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Of so many values, how many stand in the scenario, there or in policies, or anywhere."""

    total: int
    counts: tuple[int, int, int]


def standing(
    cases: Sequence[Case], policies: Mapping[str, str], *, of_others: bool = False
) -> Standing:
    """How many values of the arguments of a task's expected actions stand in what it is handed.

    As whole words, case aside; numbers as in JSON. of_others : those of the next task of another
    cluster instead of its own.
    """
    total, counts = 0, [0, 0, 0]
    for number, case in enumerate(cases):
        texts = [
            case.task.query,
            "\n".join(policies[name] for name in case.gold.evidence),
            f"{case.task.instruction}\n{case.task.material.get(CUSTOMER, '')}",
        ]
        folded = [text.casefold() for text in texts]
        later = (*cases[number + 1 :], *cases[:number])
        whose = next(o for o in later if o.cluster != case.cluster) if of_others else case
        for value in _values(whose):
            first = next((i for i, text in enumerate(folded) if _holds(text, value)), len(folded))
            total += 1
            counts = [count + (first <= place) for place, count in enumerate(counts)]
    return Standing(total=total, counts=(counts[0], counts[1], counts[2]))


def _holds(text: str, value: object) -> bool:
    said = (value if isinstance(value, str) else canonical_json(value)).casefold()
    if not said or said not in text:
        return False
    return re.search(rf"(?<!\w){re.escape(said)}(?!\w)", text) is not None


def _values(case: Case) -> Iterator[object]:
    for action in parsed(case.gold.answer) or ():
        yield from _leaves(action.arguments)


def _leaves(value: object) -> Iterator[object]:
    if isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(inner)
    else:
        yield value


# ---------------------------------------------------------------------------------------- hotpotqa


def hops(domain: Domain[Any], cases: Sequence[Case]) -> Table:
    """By stratum, how many questions hold their answer, or name the passages that they need."""
    titles = {e.id: e.metadata["title"] for e in domain.history(cases[0].history_id)}
    names = sorted({case.stratum for case in cases})
    counts: dict[str, list[str]] = {}
    for name in names:
        own = [case for case in cases if case.stratum == name]
        named = [[stands_in(titles[i], c.task.query) for i in c.gold.evidence] for c in own]
        for look, count in (
            ("the answer stands in the question", answered(own)),
            ("the answer is yes or no", sum(c.gold.answer in ("yes", "no") for c in own)),
            ("it names a supporting passage by its title", sum(map(any, named))),
            ("it names all of them", sum(map(all, named))),
        ):
            counts.setdefault(look, []).append(of(count, len(own)))
    return [("look", *names), *((look, *found) for look, found in counts.items())]


# ------------------------------------------------------------------------------------------ locomo


def conversations(domain: Domain[Any], cases: Sequence[Case]) -> Table:
    """Whether a question is adversarial, by its words and their number; answers in questions."""
    answerable = [case for case in cases if case.stratum != "adversarial"]
    return [
        HEADER,
        (
            "Do the words of a question tell whether it is adversarial?",
            f"AUC {_auc(adversarial(cases, str))}",
            short(0.5),
        ),
        (
            "Does the number of its words?",
            f"AUC {_auc(adversarial(cases, _length))}",
            short(0.5),
        ),
        _answers(answerable),
    ]


def _length(query: str) -> Row:
    return {"words": float(len(query.split()))}


def adversarial(cases: Sequence[Case], seen: Callable[[str], Any]) -> Told | None:
    """What is seen of a question tells of whether it is adversarial, conversations held out."""
    return told(
        [seen(case.task.query) for case in cases],
        [case.stratum == "adversarial" for case in cases],
        [case.cluster for case in cases],
    )


# ------------------------------------------------------------------------------------- longmemeval


def sessions(domain: Domain[Any], cases: Sequence[Case]) -> Table:
    """Answers in questions."""
    return [HEADER, _answers(cases)]


# -------------------------------------------------------------------------------------- precedents

Order = Callable[[Case, Sequence[Event]], Iterable[Event]]
"""The records of a case's history, given in order of arrival, in the order of a shortcut."""


def _most_derived(case: Case, events: Iterable[Event]) -> list[Event]:
    """Those from which most records are derived; ties as they are given."""
    events = list(events)
    times = Counter(to for e in events for relation, to in e.edges if relation == "derived_from")
    return sorted(events, key=lambda event: -times[event.id])


ORDERS: Final[Mapping[str, Order]] = {
    "newest first": lambda case, events: reversed(events),
    "oldest first": lambda case, events: events,
    "longest first": lambda case, events: sorted(events, key=lambda e: -len(e.text)),
    "shortest first": lambda case, events: sorted(events, key=lambda e: len(e.text)),
    "by id": lambda case, events: sorted(events, key=lambda e: e.id),
    "most records derived from it, ties oldest first": _most_derived,
    "most records derived from it, ties newest first": (
        lambda case, events: _most_derived(case, reversed(events))
    ),
}
STRATA: Final = ("standing", "precedent", "corrected")


def precedents(domain: Domain[Any], cases: Sequence[Case]) -> Table:
    """By stratum, whether the record that governs is among the first ten of an order."""
    by_stratum = [[case for case in cases if case.stratum == name] for name in STRATA]
    sizes = [[sum(1 for _ in domain.history(c.history_id)) for c in own] for own in by_stratum]
    complying = [fmean(domain.success(as_planned(c), c.gold) for c in own) for own in by_stratum]
    return [
        ("order", *STRATA),
        *(
            (name, *(short(holding(order, domain, own, TAKEN)) for own in by_stratum))
            for name, order in ORDERS.items()
        ),
        ("ten at random", *(short(fmean(TAKEN / size for size in own)) for own in sizes)),
        ("*the plan as proposed complies*", *map(short, complying)),
    ]


def holding(order: Order, domain: Domain[Any], cases: Sequence[Case], taken: int) -> float:
    """In what share of cases the record that governs is among the first of an order."""
    found = []
    for case in cases:
        events = list(order(case, list(domain.history(case.history_id))))
        found.append(case.gold.governing[0] in {event.id for event in events[:taken]})
    return fmean(found)


def as_planned(case: Case) -> Answer:
    """The change plan as it stands, given as the edit."""
    plan = json.loads(case.task.material["change_plan"])
    edit = [
        {"component": plan["component"], "setting": one["setting"], "value": one["value"]}
        for one in plan["settings"]
    ]
    return Answer(edit=json.dumps(edit))


# ------------------------------------------------------------------------------ regulation_updates


def regulation(domain: Domain[Any], cases: Sequence[Case]) -> Table:
    """By kind of question, what a bag of its words tells with whole units held out."""
    rows: Table = [("kind", "bag of words", "by chance", "most frequent answer")]
    for kind, asked in (
        ("text", "`text`: in force at all?"),
        ("change", "`change`"),
        ("in_force", "`in_force`"),
    ):
        own = [case for case in cases if case.stratum == kind]
        answers = [case.gold.answer for case in own]
        frequent = commonest(answers) / len(own)
        chance = 1 / len(set(labels(own)))
        rows.append((asked, short(of_words(own)), short(chance), short(frequent)))
    return rows


def labels(cases: Sequence[Case]) -> list[Hashable]:
    """What is to be told of questions of one kind: of a text, whether there is one in force."""
    return [
        case.gold.answer == "not in force" if case.stratum == "text" else case.gold.answer
        for case in cases
    ]


def of_words(cases: Sequence[Case]) -> float:
    """What the words of questions of one kind tell, the units that they are on held out."""
    units = [case.id.split("-", 1)[1].rsplit("-", 3)[0] for case in cases]
    return by_words([case.task.query for case in cases], labels(cases), units)


# ---------------------------------------------------------------------------------------- veterans

Seen = Callable[[Veterans, Case], Any]
"""What is seen of a claim: a text, or features by name."""


def _sentences(of_evidence: bool) -> Seen:
    def seen(domain: Veterans, case: Case) -> str:
        own = domain.decision(case.history_id).sentences
        return " ".join(s.text for s in own if s.is_evidence is of_evidence)

    return seen


def _amounts(domain: Veterans, case: Case) -> Row:
    own = domain.decision(case.history_id).sentences
    evidence = sum(s.is_evidence for s in own)
    length = fmean(len(s.text) for s in own)
    return {"e": float(evidence), "r": float(len(own) - evidence), "len": length}


SEEN: Final[Mapping[str, Seen]] = {
    "the claim's words": lambda domain, case: case.task.query,
    "year of the decision": lambda domain, case: {"year": float(case.tags["year"])},
    "own rules": _sentences(of_evidence=False),
    "own evidence and rules": lambda domain, case: " ".join(
        s.text for s in domain.decision(case.history_id).sentences
    ),
    "own evidence": _sentences(of_evidence=True),
    "number of its own sentences of either kind, and their length": _amounts,
    "the whole history, with 1,000 sentences of others": lambda domain, case: " ".join(
        event.text for event in domain.history(case.history_id)
    ),
    "the findings, held out (the test's own control)": lambda domain, case: " ".join(
        domain.decision(case.history_id).findings
    ),
}


def claims(domain: Any, cases: Sequence[Case]) -> Table:
    """What is seen of a claim tells of whether it was granted or denied."""
    clear = _clear(cases)
    clusters = {case.cluster for case in clear}
    return [
        ("from", f"AUC over {len(clear)} claims of {len(clusters)} decisions"),
        *((name, _auc(outcome(seen, domain, clear))) for name, seen in SEEN.items()),
    ]


def outcome(seen: Seen, domain: Veterans, cases: Sequence[Case]) -> Told | None:
    """What is seen of claims tells of GRANT against DENY, whole decisions held out."""
    clear = _clear(cases)
    return told(
        [seen(domain, case) for case in clear],
        [case.gold.decision for case in clear],
        [case.cluster for case in clear],
    )


def _clear(cases: Sequence[Case]) -> list[Case]:
    return [case for case in cases if case.gold.decision != OTHER]


SUBJECTS: Final[Mapping[str, Subject]] = {
    "airline_fees": Subject(look=fares, files={"path": "rulearena/airline"}),
    "bank_support": Subject(
        look=support,
        files={
            "path": "tau2_banking/documents.json",
            "tasks": "tau2_banking/tasks.json",
            "database": "tau2_banking/db.json",
        },
    ),
    "hotpotqa": Subject(look=hops, files={"path": "hotpotqa/hotpotqa_train.json"}),
    "locomo": Subject(look=conversations, files={"path": "locomo/locomo_first5.json"}),
    "longmemeval": Subject(look=sessions, files={"path": "longmemeval/snapshot.json"}),
    "precedents": Subject(look=precedents, cases=400, seed=23),
    "regulation_updates": Subject(
        look=regulation, files={"path": "regulation_b/regulation_b_1002.tar.xz"}
    ),
    # Hidden, so that the name of its file does not say which evidence is a claim's own.
    "veterans": Subject(
        look=claims,
        files={"path": "vetclaims/decisions_50.json"},
        others={"claim_file": "hidden"},
    ),
}


if __name__ == "__main__":
    sys.exit(main())
