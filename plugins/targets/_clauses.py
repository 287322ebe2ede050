"""The libraries of `author=rules` for readers that follow the closed grammar.

Written before any entry was tried, from what each clause does (improve-grammar.md), and never
edited after a TEST was looked at. Each clause stands alone, some behind a condition on the words of
the question; about half are meant to help, the others are inert prose or expected to harm.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from framework.contracts import Patch
from framework.operations.reading.clauses import CLAUSES

__all__ = ["DECISION_PROMPTS", "PROMPTS", "SESSION_PROMPTS", "SQL_PROMPTS"]

_TEXT: Final = {clause.key: clause.text for clause in CLAUSES}


def _prompt(id_: str, text: str, note: str) -> Patch:
    payload = {"fragments": {"guidance": text}}
    return Patch(id=id_, seam="reader_prompt", payload=payload, note=note)


def _clauses(note: str, *keys: str) -> Patch:
    return _prompt("_and_".join(keys), " ".join(_TEXT[key] for key in keys), note)


def _when(words: str, key: str, contains: str = "contains") -> str:
    text = _TEXT[key][0].lower() + _TEXT[key][1:]
    return f"If the question {contains} {words}, {text}"


def _if(id_: str, words: str, key: str, note: str) -> Patch:
    return _prompt(id_, _when(words, key), note)


def _inert(id_: str, text: str) -> Patch:
    return _prompt(id_, text, "null: prose that a rule-based reader does not follow")


_INERT: Final = (
    _inert("polite", "Be polite and keep a friendly tone."),
    _inert("careful", "Think carefully before you answer."),
    _inert("context", "Synthesize over the whole context and do not stop at the first match."),
)


def _bundle(id_: str, note: str, *keys: str) -> Patch:
    """A list of clauses, each by its key or as a whole sentence."""
    return _prompt(id_, "\n".join(f"- {_TEXT.get(key, key)}" for key in keys), note)


SESSION_PROMPTS: Final[tuple[Patch, ...]] = (
    # The first three are what Regimes' appendix A reports of promoted prompts, in our clauses.
    _bundle("run_1", "help: reconciliation; harm: no evidence, told numbers", "trust", "count",
            "total", "relative"),
    _bundle("run_2", "help: time and counts; harm: no evidence", "relative", "order", "window",
            "count", "trust"),
    _bundle("seed_7", "help: reconciliation; harm: whatever mentions time", "trust", "relative",
            "count", "total", "latest", "arithmetic"),
    _bundle("current", "help: changed facts, totals; harm: what was so at first", "latest", "count",
            "distinct", "total"),
    _bundle("timeline", "help: dates; harm: schedules, what holds since long", "relative", "order",
            "window"),
    _bundle("own_facts", "help: what others did, plans; harm: questions for these", "own_only",
            "no_plans", "changed"),
    _bundle("first_words", "harm: changed facts, what the user said", "earliest", "assistant_only"),
    _bundle("echo", "harm: no evidence, counts, spans of time", "trust", "quote"),
    _bundle("cautious", "harm: evidence in other words", "abstain", "user_only"),
    _clauses("help: changed facts; harm: what was so at first", "latest"),
    _clauses("help: events over sessions; harm: numbers that are told", "count"),
    _if("ago", '"ago" or "passed"', "arithmetic", "help: spans of time"),
    _if("originally", '"originally" or "begin with"', "earliest", "help: what was so at first"),
    _clauses("harm: changed facts", "earliest"),
    _clauses("harm: what must be counted, computed or abstained from", "quote"),
    _clauses("harm: evidence in other words; help: no evidence", "abstain"),
    _if("my_quote", '"my"', "quote", "harm: what must be abstained from"),
    *_INERT,
)  # fmt: skip
"""20 prompts: 10 that may help, 10 that are null or expected to harm."""

SQL_PROMPTS: Final[tuple[Patch, ...]] = (
    _clauses("help: groups without a row, two of one name; harm: pairs, words in common",
             "keep_unmatched", "group_by_key"),
    _clauses("help: ends of an order; harm: lists with gaps", "no_missing"),
    _clauses("help: equals at the end of a list; harm: fixed numbers", "with_ties"),
    _clauses("help: questions like one before; harm: those that only look so", "follow_examples"),
    _clauses("help: what really happened; harm: what was recorded", "settled_only"),
    _if("different", '"different"', "no_duplicates", "help: things counted once"),
    _if("part_of_name", '"in the title" or "authors named"', "partial_text", "help: parts"),
    _if("each", '"for each"', "keep_unmatched", "help: groups without a row; harm: sums"),
    _clauses("harm: sums and averages; help: things counted once", "no_duplicates"),
    _clauses("harm: names within names; help: parts of names", "partial_text"),
    _clauses("harm: names within names, equal amounts", "partial_text", "no_duplicates"),
    _clauses("harm: pairs, lists with gaps", "keep_unmatched", "no_missing"),
    _if("many_likes", '"how many"', "partial_text", "harm: names within names"),
    _if("average", '"average" or "total"', "no_duplicates", "harm: equal amounts are dropped"),
    _if("the_missing", '"the"', "no_missing", "harm: lists with gaps"),
    *_INERT,
)  # fmt: skip
"""18 prompts: 8 that may help, 10 that are null or expected to harm."""

DECISION_PROMPTS: Final[tuple[Patch, ...]] = (
    _clauses("help: what the policy leaves open; harm: what did not fit into the view",
             "refer_open"),
    _clauses("help: what one rule settles; harm: exceptions that are not in the view",
             "apply_known"),
    _if("open_requests", '"approved"', "refer_open",
        "help: requests that are left open; harm: evidence out of view; null: claims"),
    _if("known_requests", '"income" or "therapy"', "apply_known",
        "help: requests that one rule settles; harm: exceptions; null: claims"),
    _bundle("known_but_open_claims", "help: what one rule settles, and claims that are left open",
            "apply_known", _when('"claim"', "refer_open")),
    _bundle("open_but_known_requests", "help: what is left open, and requests that a rule settles",
            "refer_open", _when('"approved"', "apply_known")),
    _clauses("harm: what the policy refers", "never_refer"),
    _if("decide_requests", '"approved"', "never_refer", "harm: requests that the policy refers"),
    _if("decide_claims", '"paid"', "never_refer", "harm: claims that the policy refers"),
    _bundle("known_and_decided", "harm: of two clauses on referral the later holds",
            "apply_known", "never_refer"),
    _bundle("open_and_decided", "harm: of two clauses on referral the later holds",
            "refer_open", "never_refer"),
    _prompt("unasked_open", _when('"referred"', "refer_open", "does not contain"),
            "null: every question speaks of referral"),
    _if("known_in_part", '"in two parts"', "apply_known", "null: no question speaks of it"),
    *_INERT,
)  # fmt: skip
"""16 prompts: 6 that may help, 10 that are null or expected to harm.

All three clauses are of one family, and the questions of one policy are all in the same words. So
in one loop an entry comes to one clause, or to none.
"""

PROMPTS: Final[Mapping[str, tuple[Patch, ...]]] = {
    "answer_from_sessions": SESSION_PROMPTS,
    "write_sql": SQL_PROMPTS,
    "decide": DECISION_PROMPTS,
}
"""By the operation that follows them. A reader of any other operation is deaf to every clause."""
