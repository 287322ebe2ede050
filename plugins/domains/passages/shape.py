"""Questions over passages: a pool of texts, some of which hold the answer together."""

from __future__ import annotations

import re
import string
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, TypeVar

from framework.errors import DataError
from framework.records import Answer, Case, Event, Gold, GoldItem, Span, TaskCard
from framework.text.canonical import digest as digest_values
from framework.text.tokens import count_tokens
from plugins.domains.cards import Benchmark
from plugins.domains.data_file import (
    BadRecordError,
    check_sha256,
    list_in,
    listed,
    read_file,
    read_questions,
    text_in,
)
from plugins.domains.errata import check_cases, read_errata
from plugins.domains.ordering import by_digest

POOL: Final = "pool"
"""The one history of `corpus=pooled`."""

INSTRUCTION: Final = (
    "Answer the question from the passages you are given. Reply with the answer alone: the "
    "shortest exact phrase that answers it (a name, a date, a number), or yes or no where that is "
    "asked."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageSettings:
    """Where the file is and what a question's history holds.

    path : the published file, or one of the same schema: a JSON list, JSON lines or Parquet.
    corpus : `pooled`, one history of every distinct passage of the whole file, whatever the number
        of cases (HippoRAG section 3.1); `own`, for each question the passages of its own context
        (the distractor setting of HotpotQA section 3).
    pool : another file of the same schema, whose passages are added to the pool; its questions are
        not asked. A file with unknown content is refused, as for `path`.
    errata : a JSON file of corrections by case id, which are applied; evidence is named by title.
    unknown_file : also read a file that is not a published one and does not say what it is.
    sha256 : if given, the digest that the file must have.
    """

    path: str = ""
    corpus: Literal["pooled", "own"] = "pooled"
    pool: str = ""
    errata: str = ""
    unknown_file: bool = False
    sha256: str = field(default="", metadata={"operational": True})

    def __post_init__(self) -> None:
        check_sha256(self.sha256)


S = TypeVar("S", bound=PassageSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One record.

    facts : by event id of a supporting passage, (index, sentence) of what the answer needs of it.
    aliases : other names of the answer, which are as right. cluster : what questions share.
    """

    id: str
    text: str
    answer: str
    type: str
    context: tuple[str, ...]
    facts: Mapping[str, tuple[tuple[int, str], ...]]
    tags: Mapping[str, str]
    aliases: tuple[str, ...] = ()
    cluster: str = ""


class Passages(Benchmark[S]):
    """A benchmark of this shape: a card, and how a record is read.

    An event is a passage: the title, a line break, the text; its id is the title (`Title#2` for a
    second text under the same title). Events stand in the order of their texts' digests, as in that
    of a file the passages of one question stand side by side. Gold: a `passage` item for each
    supporting passage, a `fact` item for each supporting sentence where those are marked (critical:
    the answer needs it), `evidence` the supporting passages in the annotation's order. Cases are
    the questions in file order; the seed plays no part.
    """

    key: ClassVar[str]
    """The field of a record's id."""
    provides: ClassVar[tuple[str, ...]] = ("evidence", "items", "answer", "success")
    success_axis: ClassVar[str] = "answer_correct"
    headline: ClassVar[tuple[str, ...]] = (
        "recall_at_2",
        "recall_at_5",
        "ndcg_at_10",
        "mrr",
        "both_facts",
        "answer_correct",
        "answer_f1",
    )
    protocols: ClassVar[tuple[str, ...]] = ("retrieve", "evaluate")

    def __init__(self, settings: S) -> None:
        super().__init__(settings)
        data, digest = read_file(
            settings.path, settings.sha256, domain=self.name, where=self.card.where
        )
        records, stated = listed(settings.path, data)
        pool = Pool(between="" if has_spaces(records) else " ", date=self.card.fields["date"])
        self._questions = self._read(settings.path, records, pool)
        widened = self._widen(settings.pool, pool, digest)
        self.recognise(settings.path, digest, stated)
        self._errata = read_errata(settings.errata, domain=self.name)
        check_cases(settings.errata, self._errata, self._questions)
        digest = self._errata.digest_with(widened)
        self._questions = {k: q for k, q in self._questions.items() if self._errata.keep(k)}
        if not self._questions:
            raise DataError(settings.path, None, "no questions")
        self._events = {event.id: event for event in by_digest(pool.events.values())}
        self._digest = self.digest_with_others(digest)
        for one in self._errata.corrections.values():
            for event_id in one.evidence or ():
                if event_id not in self._events:
                    said = f"evidence {event_id[:200]!r} is no passage of the pool"
                    raise DataError(settings.errata, None, said)
        sizes = {event.id: count_tokens(event.text) for event in self._events.values()}
        if settings.corpus == "pooled":
            self._nominal_tokens = sum(sizes.values())
        else:
            total = sum(sizes[e] for q in self._questions.values() for e in q.context)
            self._nominal_tokens = round(total / len(self._questions))

    @classmethod
    @abstractmethod
    def question(cls, record: Mapping[str, Any], pool: Pool) -> Asked:
        """What a record asks; its passages go into the pool. Raises BadRecordError."""

    def _read(self, path: str, records: Sequence[Any], pool: Pool) -> dict[str, Asked]:
        return read_questions(path, records, self.key, lambda record: self.question(record, pool))

    def _widen(self, path: str, pool: Pool, digest: str) -> str:
        """Add another file's passages to the pool; the digest of both."""
        if not path:
            return digest
        data, other = read_file(path, "", domain=self.name, where="domain.pool=FILE names it")
        records, stated = listed(path, data)
        self.recognise(path, other, stated)
        self._read(path, records, pool)
        return digest_values([digest, other])

    @property
    def nominal_tokens(self) -> int:
        """Tokens of the pool; with `corpus=own`, the mean over all questions of the file."""
        return self._nominal_tokens

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        for index, question in enumerate(self._questions.values()):
            if n is not None and index >= n:
                return
            yield self._errata.answered(self._case(question))

    def history(self, history_id: str) -> Iterator[Event]:
        if self.settings.corpus == "pooled" and history_id == POOL:
            yield from self._events.values()
        else:
            yield from by_digest(self._events[e] for e in self._questions[history_id].context)

    def digest(self) -> str:
        return self._digest

    def success(self, answer: Answer, gold: Gold) -> bool:
        """Exact match after normalisation, as in the published evaluation script."""
        return normalise_answer(answer.text) in map(normalise_answer, gold.accepted)

    def report(self, cases: Iterable[Case]) -> Mapping[str, float]:
        """The key's ceiling, where corrections are given."""
        return self._errata.report([case.id for case in cases]) if self._errata.digest else {}

    def _case(self, question: Asked) -> Case:
        items = []
        corrected = self._errata.corrections.get(question.id)
        named = None if corrected is None else corrected.evidence
        evidence = tuple(question.facts) if named is None else named
        for event_id in evidence:
            passage = Span(source_id=event_id, text=self._events[event_id].text)
            items.append(
                GoldItem(id=f"passage:{event_id}", kind="passage", key=event_id, spans=(passage,))
            )
            for index, sentence in question.facts.get(event_id, ()):
                span = Span(source_id=event_id, text=sentence)
                key = f"{event_id}:{index}"
                items.append(
                    GoldItem(id=f"fact:{key}", kind="fact", key=key, spans=(span,), critical=True)
                )
        return Case(
            id=question.id,
            history_id=POOL if self.settings.corpus == "pooled" else question.id,
            task=TaskCard(
                instruction=self.card.fields.get("asked", INSTRUCTION),
                query=question.text,
                operation="answer_question",
            ),
            gold=Gold(
                items=tuple(items),
                evidence=evidence,
                answer=question.answer,
                aliases=question.aliases,
            ),
            stratum=question.type,
            cluster=question.cluster,
            tags={"type": question.type, **question.tags},
        )


def normalise_answer(text: str) -> str:
    """Lower case, without punctuation, articles and extra white space (hotpot_evaluate_v1.py)."""
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def has_spaces(records: Sequence[Any]) -> bool:
    """Whether sentences bring the white space before them, as HotpotQA's do and 2Wiki's do not."""
    contexts = (record.get("context") for record in records if isinstance(record, dict))
    pairs = (pair for context in contexts if isinstance(context, list) for pair in context)
    return any(
        isinstance(sentence, str) and sentence[:1].isspace()
        for pair in pairs
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], list)
        for sentence in pair[1][1:]
    )


class Pool:
    """The distinct passages met so far, by event id, in order of first occurrence.

    between : what stands between two sentences. date : of all of them, as they bear none.
    """

    def __init__(self, between: str, date: str) -> None:
        self._between, self._date = between, date
        self.events: dict[str, Event] = {}
        self._ids: dict[tuple[str, str], str] = {}

    def id_of(self, title: str, sentences: Sequence[str]) -> str:
        """The event id of this passage, a new event when it has not been met before."""
        body = self._between.join(sentences).strip()
        known = self._ids.get((title, body))
        if known is not None:
            return known
        event_id, copies = title, 1
        while event_id in self.events:
            copies += 1
            event_id = f"{title}#{copies}"
        self._ids[title, body] = event_id
        self.events[event_id] = Event(
            id=event_id,
            text=f"{title}\n{body}" if body else title,
            time=self._date,
            kind="passage",
            metadata={"title": title},
        )
        return event_id


def _pairs(record: Mapping[str, Any], key: str, first: type, second: type) -> list[tuple[Any, Any]]:
    """The pairs of a list of two-element lists, types checked; at least one."""
    value = list_in(record, key, "a list of pairs")
    if not value:
        raise BadRecordError(f"{key}: a list of pairs expected, an empty list found")
    for pair in value:
        if not (isinstance(pair, list) and [type(x) for x in pair] == [first, second]):
            names = {str: "title", int: "sentence number", list: "sentences"}
            raise BadRecordError(f"{key}: each a pair [{names[first]}, {names[second]}] expected")
    return [(a, b) for a, b in value]


def paired(record: Mapping[str, Any], pool: Pool) -> Asked:
    """A record of HotpotQA's schema, which others share. Raises BadRecordError."""
    context: dict[str, None] = {}
    by_title: dict[str, tuple[str, list[str]]] = {}
    ambiguous: set[str] = set()
    for title, sentences in _pairs(record, "context", str, list):
        if not title.strip() or not all(isinstance(s, str) for s in sentences):
            raise BadRecordError("context: a title and sentences in text expected")
        event_id = pool.id_of(title, sentences)
        context[event_id] = None
        if by_title.setdefault(title, (event_id, sentences))[0] != event_id:
            ambiguous.add(title)
    facts: dict[str, dict[int, str]] = {}
    complete = True
    for title, index in _pairs(record, "supporting_facts", str, int):
        if title not in by_title:
            raise BadRecordError(
                f"supporting passage {title!r} is not in the context (in the fullwiki files it may "
                "be missing; the train and distractor files hold it)"
            )
        if title in ambiguous:
            raise BadRecordError(f"supporting passage {title!r}: two texts under this title")
        event_id, sentences = by_title[title]
        sentence = sentences[index].strip() if 0 <= index < len(sentences) else ""
        found = facts.setdefault(event_id, {})
        if sentence:
            found[index] = sentence
        else:
            complete = False  # the published prepro.py passes over such an annotation too
    return Asked(
        id=text_in(record, "_id"),
        text=text_in(record, "question"),
        answer=text_in(record, "answer"),
        type=text_in(record, "type", "all"),
        context=tuple(context),
        facts={event_id: tuple(found.items()) for event_id, found in facts.items()},
        tags={
            "level": text_in(record, "level", "unknown"),
            "sentences": "complete" if complete else "incomplete",
        },
    )
