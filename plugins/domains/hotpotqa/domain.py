"""HotpotQA: questions that need two Wikipedia passages, from the published JSON file."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal

from framework.contracts import Domain, Provenance
from framework.errors import DataError
from framework.records import Answer, Case, Event, Gold, GoldItem, Span, TaskCard
from framework.registry import register
from framework.text.tokens import count_tokens
from plugins.domains.data_file import (
    BadRecordError,
    check_sha256,
    kind_of,
    list_in,
    read_file,
    read_questions,
    records_in,
    text_in,
)

POOL: Final = "pool"
"""The one history of `corpus=pooled`."""

DUMP_DATE: Final = "2017-10-01"
"""Date of the Wikipedia dump that the passages come from: they bear no date of their own."""

INSTRUCTION: Final = (
    "Answer the question from the passages you are given. Reply with the answer alone: the "
    "shortest exact phrase that answers it (a name, a date, a number), or yes or no where that is "
    "asked."
)

_WHERE_TO_GET_IT: Final = (
    "download hotpot_dev_distractor_v1.json from https://hotpotqa.github.io and set "
    "domain.path=FILE"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HotpotQASettings:
    """Where the file is and what a question's history holds.

    path : the published JSON (train or distractor dev; or a file of the same schema).
    corpus : `pooled`, one history of every distinct passage of the whole file, whatever the number
        of cases (HippoRAG section 3.1); `own`, for each question the passages of its own context
        (the distractor setting of HotpotQA section 3).
    sha256 : when given, the file must have this digest.
    """

    path: str = ""
    corpus: Literal["pooled", "own"] = "pooled"
    sha256: str = field(default="", metadata={"operational": True})

    def __post_init__(self) -> None:
        check_sha256(self.sha256)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """One record. `facts`: (sentence index, sentence) of the supporting sentences, by event id."""

    id: str
    text: str
    answer: str
    type: str
    level: str
    context: tuple[str, ...]
    facts: Mapping[str, tuple[tuple[int, str], ...]]
    complete: bool


@register("domain", "hotpotqa")
class HotpotQA(Domain[HotpotQASettings]):
    """Multi-hop questions over Wikipedia passages (Yang et al., EMNLP 2018).

    An event is a passage: the title, a line break, the sentences as published; its id is the title
    (`Title#2` for a second text under the same title). Events stand in the order in which the file
    first mentions them, and all bear the date of the dump. Gold: a `passage` item for each
    supporting passage, a `fact` item for each supporting sentence (critical: the answer needs it),
    `evidence` the supporting passages in the annotation's order. Cases are the questions in file
    order; the seed plays no part. Stratum: the question's type (bridge, comparison).

    Raises UserError when no path is given, DataError naming file and record when the file is
    missing, is not the published JSON, or a supporting passage is not in the question's context.
    """

    provenance: Provenance = Provenance(
        source="https://hotpotqa.github.io",
        revision="train v1.1 and dev distractor v1 (2018); the digest of the file read is recorded",
        licence="CC BY-SA 4.0",
        citation=(
            "Yang, Qi, Zhang, Bengio, Cohen, Salakhutdinov, Manning. HotpotQA: A Dataset for "
            "Diverse, Explainable Multi-hop Question Answering. EMNLP 2018."
        ),
        files={
            "hotpot_train_v1.1.json": "sha256:"
            "26650cf50234ef5fb2e664ed70bbecdfd87815e6bffc257e068efea5cf7cd316",
            "hotpot_dev_distractor_v1.json": "sha256:"
            "4e9ecb5c8d3b719f624d66b60f8d56bf227f03914f5f0753d6fa1b359d7104ea",
        },
        main_score="answer_f1",
        schema="README.md of https://github.com/hotpotqa/hotpot at 8b1e74e",
    )
    provides: ClassVar[tuple[str, ...]] = ("evidence", "items", "answer")
    success_axis: ClassVar[str] = "answer_correct"
    version: ClassVar[str] = "2"
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

    def __init__(self, settings: HotpotQASettings) -> None:
        super().__init__(settings)
        data, self._digest = read_file(
            settings.path, settings.sha256, domain="hotpotqa", where=_WHERE_TO_GET_IT
        )
        records, stated = records_in(settings.path, data)
        if self._digest not in self.provenance.files.values():
            self.provenance = stated
        self._events, self._questions = _parse(settings.path, records)
        sizes = {event.id: count_tokens(event.text) for event in self._events.values()}
        if settings.corpus == "pooled":
            self._nominal_tokens = sum(sizes.values())
        else:
            total = sum(sizes[e] for q in self._questions.values() for e in q.context)
            self._nominal_tokens = round(total / len(self._questions))

    @property
    def nominal_tokens(self) -> int:
        """Tokens of the pool; with `corpus=own`, the mean over all questions of the file."""
        return self._nominal_tokens

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        for index, question in enumerate(self._questions.values()):
            if n is not None and index >= n:
                return
            yield self._case(question)

    def history(self, history_id: str) -> Iterator[Event]:
        if self.settings.corpus == "pooled" and history_id == POOL:
            yield from self._events.values()
        else:
            yield from (self._events[e] for e in self._questions[history_id].context)

    def digest(self) -> str:
        return self._digest

    def success(self, answer: Answer, gold: Gold) -> bool:
        """Exact match after normalisation, as in the published evaluation script."""
        return normalise_answer(answer.text) == normalise_answer(gold.answer)

    def _case(self, question: _Question) -> Case:
        items = []
        for event_id, facts in question.facts.items():
            passage = Span(source_id=event_id, text=self._events[event_id].text)
            items.append(
                GoldItem(id=f"passage:{event_id}", kind="passage", key=event_id, spans=(passage,))
            )
            for index, sentence in facts:
                span = Span(source_id=event_id, text=sentence)
                key = f"{event_id}:{index}"
                items.append(
                    GoldItem(id=f"fact:{key}", kind="fact", key=key, spans=(span,), critical=True)
                )
        gold = Gold(items=tuple(items), evidence=tuple(question.facts), answer=question.answer)
        return Case(
            id=question.id,
            history_id=POOL if self.settings.corpus == "pooled" else question.id,
            task=TaskCard(
                instruction=INSTRUCTION, query=question.text, operation="answer_question"
            ),
            gold=gold,
            stratum=question.type,
            tags={
                "type": question.type,
                "level": question.level,
                "sentences": "complete" if question.complete else "incomplete",
            },
        )


def normalise_answer(text: str) -> str:
    """Lower case, without punctuation, articles and extra white space (hotpot_evaluate_v1.py)."""
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def _parse(path: str, records: Any) -> tuple[dict[str, Event], dict[str, _Question]]:
    """Events by id and questions by id, both in file order. Raises DataError naming the record."""
    if not isinstance(records, list):
        raise DataError(path, None, f"a list of questions expected, {kind_of(records)} found")
    if not records:
        raise DataError(path, None, "no questions")
    passages = _Passages(between="" if _has_spaces(records) else " ")
    questions = read_questions(path, records, "_id", lambda record: _question(record, passages))
    return passages.events, questions


def _has_spaces(records: Sequence[Any]) -> bool:
    """Whether sentences bring the white space before them, as HotpotQA's do and 2Wiki's do not."""
    contexts = (record.get("context") for record in records if isinstance(record, dict))
    pairs = (pair for context in contexts if isinstance(context, list) for pair in context)
    return any(
        isinstance(sentence, str) and sentence[:1].isspace()
        for pair in pairs
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], list)
        for sentence in pair[1][1:]
    )


class _Passages:
    """The distinct passages met so far, by event id, in order of first occurrence.

    between : what stands between two sentences.
    """

    def __init__(self, between: str) -> None:
        self._between = between
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
            time=DUMP_DATE,
            kind="passage",
            metadata={"title": title},
        )
        return event_id


def _question(record: Mapping[str, Any], passages: _Passages) -> _Question:
    """One record of the published schema. Raises BadRecordError."""
    context: dict[str, None] = {}
    by_title: dict[str, tuple[str, list[str]]] = {}
    ambiguous: set[str] = set()
    for title, sentences in _pairs(record, "context", str, list):
        if not title.strip() or not all(isinstance(s, str) for s in sentences):
            raise BadRecordError("context: a title and sentences in text expected")
        event_id = passages.id_of(title, sentences)
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
    return _Question(
        id=text_in(record, "_id"),
        text=text_in(record, "question"),
        answer=text_in(record, "answer"),
        type=text_in(record, "type", "all"),
        level=text_in(record, "level", "unknown"),
        context=tuple(context),
        facts={event_id: tuple(found.items()) for event_id, found in facts.items()},
        complete=complete,
    )


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
