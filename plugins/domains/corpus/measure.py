"""What a corpus measures of itself: how far decisions reach, drift apart and scatter."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from plugins.domains.corpus.links import Links, hops_from
from plugins.domains.corpus.schema import Corpus

_WORD: Final = re.compile(r"[^\W_]+")
_PART: Final = re.compile(r"[^\W\d_]+|\d+")

Vector = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is asked of a corpus: its name, the relation that it follows, from whom to whom.

    hops : steps that it follows; None for as many as there are.
    """

    name: str
    relation: str
    links: Links
    hops: int | None = None

    def reached(self, start: str) -> dict[str, int]:
        """The documents that the task leads to from one of `links`, itself at 0, by their steps."""
        return hops_from(start, self.links, self.hops)

    def answers(self, start: str) -> tuple[str, ...]:
        """Those that answer: of `supersedes` the heads of the chains, else all that is reached."""
        found = [name for name in self.reached(start) if name != start]
        if self.relation == "supersedes":
            return tuple(name for name in found if not self.links.get(name))
        return tuple(found)


def measured(corpus: Corpus, texts: Mapping[str, str], tasks: Sequence[Task]) -> dict[str, float]:
    """Size, depth, drift and scatter of a corpus. Keys without any such edge are left out.

    texts : the text of every document as arms get it. tasks : those that are measured.

    documents, edges_TYPE : counts.
    depth_TASK_mean, depth_TASK_max : over tasks, the edges from the document asked of to the
        farthest of those that answer it.
    scatter_TASK_mean : documents that answer a task together, the fragments of Depth 9.
    similarity_TASK_hop_K : mean cosine of TF-IDF vectors between a document asked of and those K
        edges away; `similarity_random` of any two documents. Drift is what they fall by.
    drift_TASK : 1 - similarity at one hop.
    named_TASK : share of the edges whose source's text names its target by its id.
    """
    report: dict[str, float] = {"documents": len(corpus.nodes)}
    counts = Counter(edge.relation for edge in corpus.edges)
    report |= {f"edges_{relation}": n for relation, n in sorted(counts.items())}
    vectors = _vectors(texts)
    for task in tasks:
        if not task.links:
            continue
        name, links = task.name, task.links
        reached = {start: task.reached(start) for start in links}
        answers = {start: task.answers(start) for start in links}
        depths = [max(reached[s][found] for found in answers[s]) for s in links]
        report[f"depth_{name}_mean"] = sum(depths) / len(depths)
        report[f"depth_{name}_max"] = max(depths)
        report[f"scatter_{name}_mean"] = sum(map(len, answers.values())) / len(answers)
        by_hop: dict[int, list[float]] = {}
        for start, hops in reached.items():
            for found, hop in hops.items():
                if hop:
                    by_hop.setdefault(hop, []).append(_cosine(vectors[start], vectors[found]))
        for hop, values in sorted(by_hop.items()):
            report[f"similarity_{name}_hop_{hop}"] = sum(values) / len(values)
        report[f"drift_{name}"] = 1 - report[f"similarity_{name}_hop_1"]
        edges = [edge for edge in corpus.edges if edge.relation == task.relation]
        named = sum(_names(texts[edge.source], edge.target) for edge in edges)
        report[f"named_{name}"] = named / len(edges)
    if len(vectors) > 1:
        report["similarity_random"] = _mean_similarity(list(vectors.values()))
    return report


def _vectors(texts: Mapping[str, str]) -> dict[str, Vector]:
    """TF-IDF vectors of length 1: (1 + log tf) log(n / df); empty where no word tells anything."""
    counts = {name: Counter(_WORD.findall(text.casefold())) for name, text in texts.items()}
    holding = Counter(word for words in counts.values() for word in words)
    vectors: dict[str, Vector] = {}
    for name, words in counts.items():
        weights = {
            word: (1 + math.log(times)) * math.log(len(texts) / holding[word])
            for word, times in words.items()
        }
        length = math.sqrt(sum(weight * weight for weight in weights.values()))
        vectors[name] = {word: w / length for word, w in weights.items()} if length else {}
    return vectors


def _cosine(a: Vector, b: Vector) -> float:
    return sum(weight * b.get(word, 0.0) for word, weight in a.items())


def _mean_similarity(vectors: Sequence[Vector]) -> float:
    """Mean cosine over all pairs, from the length of their sum."""
    total: dict[str, float] = {}
    own = 0.0
    for vector in vectors:
        own += sum(weight * weight for weight in vector.values())
        for word, weight in vector.items():
            total[word] = total.get(word, 0.0) + weight
    n = len(vectors)
    return (sum(weight * weight for weight in total.values()) - own) / (n * (n - 1))


def _names(text: str, name: str) -> bool:
    """Whether a text has the letters and figures of an id in order, whatever stands between."""
    parts = [re.escape(part.lstrip("0") or part) for part in _PART.findall(name)]
    return bool(parts) and bool(
        re.search(r"\b" + r"[\W_]*0*".join(parts) + r"\b", text, re.IGNORECASE)
    )
