"""Decision corpora: documents with typed edges, from JSON lines of the project's own schema."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Final, Literal

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
from plugins.domains.corpus.links import (
    Links,
    components,
    hops_from,
    requirements,
    shortest_path,
    successors,
)
from plugins.domains.corpus.measure import answers_of, measured
from plugins.domains.corpus.schema import Corpus, Node, parse_corpus
from plugins.domains.data_file import check_sha256, read_file

HISTORY: Final = "corpus"
"""The one history: every document, in order of date."""

OPENING_TOKENS: Final = 120
"""What stands for the abstract of a document that has none: so much of its text."""

SPAN_TOKENS: Final = 100
"""So much of a document's beginning, title included, must be in the view for it to be retained,
where its abstract does not begin with a sentence that stands in no other document."""

_WHERE_TO_GET_IT: Final = (
    "make one by `decisionbench import peps PATH --to FILE`, or see decision-corpus.md"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionCorpusSettings:
    """Where the corpus is and what is asked of it.

    path : a file of the schema in decision-corpus.md.
    task : `governs_now`, `requires`, or `both`, one after the other.
    variant : `plain`; `masked` replaces every run of digits in texts and queries by `#` and the ids
        of documents by their place in the order of date, so that no number names another document.
    text : what of a document arms get after its title: its `summary` (the first tokens of a text
        without one), or the `whole` text.
    sha256 : when given, the file must have this digest.
    """

    path: str = ""
    task: Literal["governs_now", "requires", "both"] = "both"
    variant: Literal["plain", "masked"] = "plain"
    text: Literal["summary", "whole"] = "summary"
    sha256: str = ""

    def __post_init__(self) -> None:
        check_sha256(self.sha256)


@register("domain", "decision_corpus")
class DecisionCorpus(Domain[DecisionCorpusSettings]):
    """What governs now, and what a document requires, over documents with typed edges.

    An event is a document, in order of date: its title, a line break, its summary or text, with the
    corpus's own edges; neither its status nor any header. Two tasks come from real edges:

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
    provides: ClassVar[tuple[str, ...]] = ("chain", "evidence", "items", "answer")
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
        self._links = _links_of(self._corpus, settings.task)
        if not any(self._links.values()):
            raise DataError(path, None, f"no edge makes a task {settings.task!r}")
        ordered = sorted(self._corpus.nodes.values(), key=lambda node: node.date)
        self._names = {
            node.id: f"d{place:05d}" if settings.variant == "masked" else node.id
            for place, node in enumerate(ordered)
        }
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
        self._clusters = components(self._corpus)

    @property
    def nominal_tokens(self) -> int:
        """Tokens of all documents as arms get them."""
        return self._nominal_tokens

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        asked = [(task, start) for task, links in self._links.items() for start in links]
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
        ids = {shown: name for name, shown in self._names.items()}
        start, links = ids[case.gold.entry], self._links[case.stratum]
        hops = hops_from(start, links)
        farthest = max((ids[shown] for shown in case.gold.governing), key=lambda name: hops[name])
        return [self._texts[name] for name in shortest_path(start, farthest, links)]

    def report(self, cases: Iterable[Case]) -> Mapping[str, float]:
        """Depth, drift and scatter of the whole corpus as measured: see `measured`."""
        return self._measured

    @cached_property
    def _measured(self) -> Mapping[str, float]:
        return measured(self._corpus, self._texts)

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

    def _case(self, task: str, start: str) -> Case:
        links = self._links[task]
        hops = hops_from(start, links)
        answers = answers_of(start, links, task)
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
            if task == "governs_now" and name not in answers
        )
        depth = max(hops[name] for name in answers)
        return Case(
            id=f"{task}:{self._names[start]}",
            history_id=HISTORY,
            task=TaskCard(
                instruction=INSTRUCTIONS[task],
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
            stratum=task,
            depth=depth,
            cluster=self._names[self._clusters[start]],
            tags={"task": task, "depth": str(depth)},
        )


def _links_of(corpus: Corpus, task: str) -> dict[str, Links]:
    """By task that is asked, the steps that it follows."""
    all_tasks = {"governs_now": successors(corpus), "requires": requirements(corpus)}
    return {name: links for name, links in all_tasks.items() if task in (name, "both")}


def _abstract(node: Node) -> str:
    return node.summary or truncate(node.text, OPENING_TOKENS)


def _titles(text: str) -> frozenset[str]:
    parts = re.split(r"[;\n]", text.casefold())
    return frozenset(" ".join(part.split()) for part in parts if part.strip())
