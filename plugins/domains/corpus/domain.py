"""Decision corpora: documents with typed edges, from JSON lines of the project's own schema."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

from framework.bounds import Bounded, at_least
from framework.contracts import Domain, Provenance
from framework.errors import DataError
from framework.records import (
    Answer,
    Case,
    Event,
    Gold,
    GoldItem,
    Retired,
    Span,
    TaskCard,
)
from framework.registry import register
from framework.text.sentences import sentences
from framework.text.tokens import count_tokens, truncate
from plugins.domains.corpus.links import TRANSITIVE, components, links_by, shortest_path
from plugins.domains.corpus.measure import Task, measured
from plugins.domains.corpus.schema import RELATIONS, Corpus, Node, parse_corpus
from plugins.domains.data_file import check_sha256, read_file

HISTORY: Final = "corpus"
"""The one history: every document, in order of date."""

OPENING_TOKENS: Final = 120
"""What stands for the abstract of a document that has none: so much of its text."""

SPAN_TOKENS: Final = 100
"""So much of a document's beginning, title included, must be in the view for it to be retained,
where its abstract does not begin with a sentence that stands in no other document."""

_WHERE_TO_GET_IT: Final = (
    "make one by `decisionbench import front_matter PATH --to FILE` (`list importer` shows the "
    "forms that are read), or see decision-corpus.md"
)

INSTRUCTIONS: Final[Mapping[str, str]] = {
    "governs_now": (
        "The abstract is of a document that has been replaced, perhaps more than once. Give the "
        "titles of the documents that hold in its place now."
    ),
    "requires": (
        "Give the titles of all documents that the one with this abstract requires, and of those "
        "that these require in turn."
    ),
}

_TASK_OF: Final[Mapping[str, str]] = {"supersedes": "governs_now", "requires": "requires"}
"""Tasks that are called otherwise than their relation, or whose words are their own."""

_IN_WORDS: Final[Mapping[str, str]] = {
    **{relation: relation.replace("_", " ") for relation in RELATIONS},
    "amends": "changes a part of",
    "constrains": "sets bounds to",
    "implements": "carries out",
    "derived_from": "follows from",
    "cites": "mentions",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionCorpusSettings(Bounded):
    """Where the corpus is and what is asked of it.

    path : a file of the schema in decision-corpus.md.
    task : `governs_now`, `requires`, or `both`, one after the other.
    tasks_from : relations from which tasks are made, instead of `task`: `supersedes` makes
        `governs_now`; any other relation makes a task of its name, asking for the documents that it
        leads to.
    hops : edges that a task other than `governs_now` follows; null for all where the relation says
        something of what lies behind (`requires`, `derived_from`, `implements`), else one.
    variant : `plain`; `masked` replaces every run of digits in texts and queries by `#` and the ids
        of documents by their place in the order of date, so that no number names another document.
    text : what arms get of a document after its title: its `summary` (for a text without one, its
        first tokens), or the `whole` text.
    sha256 : if given, the digest that the file must have.
    """

    path: str = ""
    task: Literal["governs_now", "requires", "both"] = "both"
    tasks_from: tuple[str, ...] = ()
    hops: Annotated[int | None, at_least(1)] = None
    variant: Literal["plain", "masked"] = "plain"
    text: Literal["summary", "whole"] = "summary"
    sha256: str = ""

    def __post_init__(self) -> None:
        Bounded.__post_init__(self)
        check_sha256(self.sha256)
        for relation in self.tasks_from:
            if relation not in RELATIONS:
                raise ValueError(f"tasks_from: {relation!r} given, known: {', '.join(RELATIONS)}")
        if len(set(self.tasks_from)) < len(self.tasks_from):
            raise ValueError("tasks_from: a relation is given twice")


@register("domain", "decision_corpus")
class DecisionCorpus(Domain[DecisionCorpusSettings]):
    """Which document is in force, and what it requires, over documents with typed edges.

    An event is a document, in order of date: its title, a line break, its summary or text, with the
    corpus's own edges; neither its status nor any header. Tasks come from real edges, by default:

    governs_now : from the abstract of a superseded document, the documents that hold in its place:
        the ends of all chains of `supersedes` up from it, whatever their status.
    requires : from the abstract of a document, all that it requires, transitively. A requirement
        that was superseded itself is asked for as it was declared.

    Gold: a critical `passage` for each of these, the first sentence of its abstract; `governing`
    and `evidence` their ids; `entry` the document asked of (which is in the corpus too); `chain`
    what lies between; `retired` the superseded ones of a chain. Cases come in order of the file;
    the seed plays no part. Stratum: the task; tag `depth`: edges to the farthest answer; cluster:
    the documents that edges tie together.

    Raises UserError when no path is given or the corpus has no such task, DataError naming file and
    line when the file breaks the schema.
    """

    provenance: Provenance = Provenance(
        source="a file of the user's; its first record names where it comes from",
        revision="as the file states; the digest of the file read is recorded",
        licence="as the file states",
        citation="as the file states",
    )
    provides: ClassVar[tuple[str, ...]] = (
        "chain",
        "evidence",
        "items",
        "answer",
        "success",
        "hops",
    )
    success_axis: ClassVar[str] = "answer_correct"
    headline: ClassVar[tuple[str, ...]] = (
        "recall",
        "chain_recovery",
        "recall_at_5",
        "ndcg_at_10",
        "mrr",
        "supersession",
        "answer_correct",
        "answer_f1",
    )
    protocols: ClassVar[tuple[str, ...]] = ("retrieve", "evaluate")

    def __init__(self, settings: DecisionCorpusSettings) -> None:
        super().__init__(settings)
        data, self._digest = read_file(
            settings.path, settings.sha256, domain="decision_corpus", where=_WHERE_TO_GET_IT
        )
        path = Path(settings.path)
        self._corpus = parse_corpus(data, path)
        self.provenance = Provenance(
            source=f"{self._corpus.name}: {self._corpus.source}",
            revision=self._corpus.revision,
            licence=self._corpus.licence,
            citation=self._corpus.citation,
        )
        self._tasks = {
            task.name: task for task in _tasks(self._corpus, settings, _relations(settings))
        }
        if not any(task.links for task in self._tasks.values()):
            raise DataError(path, None, _no_task(self._corpus, settings))
        ordered = sorted(self._corpus.nodes.values(), key=lambda node: node.date)
        self._names = {
            node.id: f"d{place:05d}" if settings.variant == "masked" else node.id
            for place, node in enumerate(ordered)
        }
        self._ids = {shown: name for name, shown in self._names.items()}
        self._texts = {node.id: self._shown(self._text_of(node)) for node in ordered}
        edges: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for edge in self._corpus.edges:
            edges[edge.source].append((edge.relation, self._names[edge.target]))
        self._events = {
            node.id: Event(
                id=self._names[node.id],
                text=self._texts[node.id],
                time=node.date,
                kind=node.kind,
                edges=tuple(edges.get(node.id, ())),
            )
            for node in ordered
        }
        self._nominal_tokens = sum(count_tokens(text) for text in self._texts.values())
        self._clusters = components(self._corpus, {*_TASK_OF, *settings.tasks_from})

    @property
    def nominal_tokens(self) -> int:
        """Tokens of all documents as arms get them."""
        return self._nominal_tokens

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        asked = [(task, start) for task in self._tasks.values() for start in task.links]
        for task, start in asked if n is None else asked[:n]:
            yield self._case(task, start)

    def history(self, history_id: str) -> Iterator[Event]:
        yield from self._events.values()

    def digest(self) -> str:
        return self._digest

    def success(self, answer: Answer, gold: Gold) -> bool:
        """All the titles, in any order and case, one a line or between semicolons."""
        return _titles(answer.text) == _titles(gold.answer)

    def chain_texts(self, case: Case) -> Sequence[str]:
        """The documents from the one asked of to the farthest that answers, as arms get them.

        The first holds the query, its abstract.
        """
        ids = self._ids
        start, task = ids[case.gold.entry], self._tasks[case.stratum]
        hops = task.reached(start)
        farthest = max((ids[shown] for shown in case.gold.governing), key=lambda name: hops[name])
        return [self._texts[name] for name in shortest_path(start, farthest, task.links)]

    def hops_of(self, case: Case) -> Mapping[str, int]:
        """By gold item, the edges from the document asked of to the one that it is of."""
        reached = self._tasks[case.stratum].reached(self._ids[case.gold.entry])
        return {item.id: reached[self._ids[item.key]] for item in case.gold.items}

    def report(self, cases: Iterable[Case]) -> Mapping[str, float]:
        """Depth, drift and scatter of the whole corpus as measured: see `measured`."""
        return self._measured

    @cached_property
    def _measured(self) -> Mapping[str, float]:
        relations = (*_TASK_OF, *(r for r in self.settings.tasks_from if r not in _TASK_OF))
        return measured(self._corpus, self._texts, _tasks(self._corpus, self.settings, relations))

    def _shown(self, text: str) -> str:
        return re.sub(r"\d+", "#", text) if self.settings.variant == "masked" else text

    def _text_of(self, node: Node) -> str:
        body = node.text if self.settings.text == "whole" else _abstract(node)
        return f"{node.title}\n{body}"

    def _passage(self, name: str) -> str:
        """What of a document must be in the view, so that it is retained."""
        text = self._texts[name]
        (first, *_) = sentences(self._shown(_abstract(self._corpus.nodes[name])))
        if first in text and sum(first in other for other in self._texts.values()) == 1:
            return first
        return truncate(text, SPAN_TOKENS)

    def _case(self, task: Task, start: str) -> Case:
        hops, answers = task.reached(start), task.answers(start)
        governing = tuple(self._names[name] for name in answers)
        items = tuple(
            GoldItem(
                id=f"document:{self._names[name]}",
                kind="passage",
                key=self._names[name],
                spans=(Span(source_id=self._names[name], text=self._passage(name)),),
                critical=True,
            )
            for name in answers
        )
        retired = tuple(
            Retired(
                key="document",
                type="document",
                value=self._shown(self._corpus.nodes[name].title),
                source_ids=(self._names[name],),
            )
            for name in hops
            if task.relation == "supersedes" and name not in answers
        )
        depth = max(hops[name] for name in answers)
        return Case(
            id=f"{task.name}:{self._names[start]}",
            history_id=HISTORY,
            task=TaskCard(
                instruction=_instruction(task),
                query=self._shown(_abstract(self._corpus.nodes[start])),
                operation="answer_question",
            ),
            gold=Gold(
                items=items,
                governing=governing,
                chain=tuple(self._names[name] for name in hops),
                entry=self._names[start],
                retired=retired,
                evidence=governing,
                answer="; ".join(self._shown(self._corpus.nodes[name].title) for name in answers),
            ),
            stratum=task.name,
            depth=depth,
            cluster=self._names[self._clusters[start]],
            tags={"task": task.name, "depth": str(depth)},
        )


def _relations(settings: DecisionCorpusSettings) -> tuple[str, ...]:
    """The relations that make tasks."""
    asked = {"governs_now": ("supersedes",), "requires": ("requires",), "both": tuple(_TASK_OF)}
    return settings.tasks_from or asked[settings.task]


def _tasks(
    corpus: Corpus, settings: DecisionCorpusSettings, relations: Iterable[str]
) -> list[Task]:
    return [
        Task(
            name=_TASK_OF.get(relation, relation),
            relation=relation,
            links=links_by(corpus, relation),
            hops=None if relation == "supersedes" or (
                settings.hops is None and relation in TRANSITIVE
            ) else settings.hops or 1,
        )
        for relation in relations
    ]  # fmt: skip


def _no_task(corpus: Corpus, settings: DecisionCorpusSettings) -> str:
    """That nothing is asked of the corpus, and what could be."""
    counts = Counter(edge.relation for edge in corpus.edges)
    there = ", ".join(f"{relation} {n}" for relation, n in counts.most_common())
    asked = settings.tasks_from or settings.task
    instead = f"; it has {there}: domain.tasks_from=[{next(iter(counts))}]" if counts else (
        "; it has no edges")  # fmt: skip
    return f"no edge makes a task {asked!r}{instead}"


def _instruction(task: Task) -> str:
    if task.name in INSTRUCTIONS and task.hops is None:
        return INSTRUCTIONS[task.name]
    far = {None: ", directly or through others", 1: ""}.get(
        task.hops, f", directly or through others, up to {task.hops} steps away"
    )
    return (
        "The abstract is of a document. Give the titles of all documents that it "
        f"{_IN_WORDS[task.relation]}{far}."
    )


def _abstract(node: Node) -> str:
    return node.summary or truncate(node.text, OPENING_TOKENS)


def _titles(text: str) -> frozenset[str]:
    parts = re.split(r"[;\n]", text.casefold())
    return frozenset(" ".join(part.split()) for part in parts if part.strip())
