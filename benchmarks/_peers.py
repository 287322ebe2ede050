"""Our work and that of its peers, side by side: what `benchmarks.performance` measures."""

from __future__ import annotations

import contextlib
import io
import json
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy import stats

from framework.engine.run import execute
from framework.records import Event
from framework.statistics.paired import compare
from framework.store import JOURNAL
from framework.store.directory import ANSWERS
from framework.store.journal import Journal
from plugins.archs._bm25 import BM25Index, BM25Settings, words
from plugins.archs._graph import SUPERSEDES, TypedGraph
from plugins.archs.typed_graph import TypedGraphSettings
from tests.trivial import trivial_plan

SEED: Final = 20
RESAMPLES: Final = 10_000
HOPS: Final = 3
Work = Callable[[], int]
"""Does the work once; returns how many units it did."""


@dataclass(frozen=True)
class Comparison:
    """Ours beside a peer on the same work.

    sizes : ten times apart; the first is quick enough for every test run. rounds : of each size.
    make : both sides at a size, with an empty folder for what they write.
    """

    name: str
    work: str
    peer: str
    unit: str
    sizes: tuple[int, int]
    rounds: int
    make: Callable[[int, Path], tuple[Work, Work]]

    @property
    def absent(self) -> bool:
        """Whether its peer is not installed."""
        module = self.peer.replace("-", "_")
        return " " not in module and find_spec(module) is None

    @property
    def peer_named(self) -> str:
        """The peer with its version, if it is a package."""
        return self.peer if " " in self.peer else f"{self.peer} {version(self.peer)}"


def _texts(n: int) -> tuple[list[str], list[str]]:
    """Texts of 40 words with the frequencies of Zipf's law, and queries: the beginning of some."""
    rng = random.Random(SEED)
    weights = [1 / (i + 1) for i in range(30_000)]
    drawn = rng.choices([f"w{i}" for i in range(30_000)], weights, k=n * 40)
    texts = [" ".join(drawn[i : i + 40]) for i in range(0, len(drawn), 40)]
    return texts, [" ".join(rng.choice(texts).split()[:8]) for _ in range(5)]


def rank_bm25(n: int, _: Path) -> tuple[Work, Work]:
    """Scores of all items for a query, equal to 1e-9."""
    from rank_bm25 import BM25Okapi

    texts, queries = _texts(n)
    index, peer = BM25Index(texts, BM25Settings()), BM25Okapi([words(text) for text in texts])
    for query in queries:
        assert np.abs(index.scores(query) - peer.get_scores(words(query))).max() < 1e-9

    def ours() -> int:
        for _ in range(40):
            for query in queries:
                index.scores(query)
        return 40 * len(queries)

    def theirs() -> int:
        for query in queries:
            peer.get_scores(words(query))
        return len(queries)

    return ours, theirs


def bm25s(n: int, _: Path) -> tuple[Work, Work]:
    """The best 20 items for a query; bm25s weighs words by Lucene's formula."""
    import bm25s

    texts, queries = _texts(n)
    index, peer = BM25Index(texts, BM25Settings()), bm25s.BM25()
    peer.index([words(text) for text in texts], show_progress=False)

    def ours() -> int:
        for _ in range(60):
            for query in queries:
                index.rank(query, 20)
        return 60 * len(queries)

    def theirs() -> int:
        for _ in range(60):
            for query in queries:
                peer.retrieve([words(query)], k=20, show_progress=False)
        return 60 * len(queries)

    return ours, theirs


def networkx(n: int, _: Path) -> tuple[Work, Work]:
    """What is within three edges of a decision, in chains of five with links across."""
    import networkx as nx

    events = []
    for i in range(n):
        edges = [("relates_to", f"d{(i + n // 2) % n}")]
        edges.append(("constrains", f"d{i + 1}") if i % 5 < 4 else (SUPERSEDES, f"d{i - 4}"))
        events.append(Event(id=f"d{i}", text="", time="2026-01-01", kind="", edges=tuple(edges)))
    settings = TypedGraphSettings()
    graph = TypedGraph(events, settings.relations, settings.other, settings.fan_out)
    peer = nx.Graph([(event.id, target) for event in events for _, target in event.edges])
    rng = random.Random(SEED)
    seeds = [graph.head(f"d{rng.randrange(n)}") for _ in range(1000)]

    def ours() -> int:
        for seed in seeds:
            graph.search({seed: 1.0}, HOPS)
        return len(seeds)

    def theirs() -> int:
        for seed in seeds:
            nx.single_source_shortest_path_length(peer, seed, cutoff=HOPS)
        return len(seeds)

    return ours, theirs


def scipy_loop(n: int, _: Path) -> tuple[Work, Work]:
    """Bootstrap (BCa, percentile), sign-flip test, McNemar and Cohen's h of one comparison."""
    rng = np.random.default_rng(n)
    x = rng.random(n)
    y = np.clip(x + rng.normal(0.02, 0.3, n), 0, 1)
    a = {f"case-{i:05}": value for i, value in enumerate(x.tolist())}
    b = {f"case-{i:05}": value for i, value in enumerate(y.tolist())}

    def ours() -> int:
        compare(a, b, seed=0, resamples=RESAMPLES)
        return 1

    def theirs() -> int:
        given: Any = {"n_resamples": RESAMPLES, "batch": 1000, "rng": 0}
        bca = stats.bootstrap((x - y,), np.mean, method="BCa", **given)
        np.percentile(bca.bootstrap_distribution, (2.5, 97.5))
        stats.permutation_test((x - y,), np.mean, permutation_type="samples", **given)
        wins, losses = np.sum((x >= 0.5) & (y < 0.5)), np.sum((x < 0.5) & (y >= 0.5))
        stats.binomtest(int(wins), int(wins + losses))
        2 * (math.asin(math.sqrt(x.mean())) - math.asin(math.sqrt(y.mean())))
        return 1

    return ours, theirs


def activegraph(n: int, place: Path) -> tuple[Work, Work]:
    """Events appended one by one to a log in a file, ours flushed after each, theirs committed."""
    from activegraph.core.event import Event as Theirs
    from activegraph.store.sqlite import SQLiteEventStore

    payload = {"case_id": "c", "axes": {f"axis_{i}": i / 7 for i in range(20)}, "text": "w " * 200}
    numbers = count()

    def ours() -> int:
        journal = Journal.create(place / f"ours-{next(numbers)}.jsonl")
        for _ in range(n):
            journal.append("case.finished", payload, actor="engine")
        journal.close()
        return n

    def theirs() -> int:
        number = next(numbers)
        store: Any = SQLiteEventStore(str(place / f"peer-{number}.db"), run_id=str(number))
        store.upsert_run(created_at="2026-01-01T00:00:00Z", label="peer")
        for i in range(n):
            at = f"evt_{i:06d}"
            store.append(
                Theirs(
                    id=at, type="case.finished", payload=payload, actor="engine", caused_by=None,
                    timestamp="2026-01-01T00:00:00Z",
                )
            )  # fmt: skip
        store.close()
        return n

    return ours, theirs


def _harness(n: int, place: Path) -> Work:
    numbers = count()

    def ours() -> int:
        execute(trivial_plan(n_cases=n), place / f"ours-{next(numbers)}")
        return n

    return ours


def bare_loop(n: int, place: Path) -> tuple[Work, Work]:
    """Trivial cases through the whole path; the peer answers and writes the same JSON lines."""
    first = execute(trivial_plan(n_cases=n), place / "first").directory
    events = [json.loads(line) for line in (first / JOURNAL).read_text().splitlines()]
    rows = [event for event in events if event["type"] == "case.finished"]
    records = [json.loads(line) for line in (first / ANSWERS).read_text().splitlines()]
    numbers = count()

    def once() -> None:
        domain = trivial_plan(n_cases=n).parts["domain"].create()
        target = place / f"bare-{next(numbers)}"
        target.mkdir()
        with (target / JOURNAL).open("w") as journal, (target / ANSWERS).open("w") as answers:
            for case, row, record in zip(domain.cases(n, 7), rows, records, strict=True):
                view = "\n".join(event.text for event in domain.history(case.history_id))
                number = next(word for word in view.replace(".", "").split() if word.isdigit())
                assert ("NO" if int(number) % 2 else "YES") == case.gold.decision
                for file, line in ((answers, record), (journal, row)):
                    file.write(json.dumps(line) + "\n")
                    file.flush()

    def theirs() -> int:
        for _ in range(5):  # it is over too soon to be timed once
            once()
        return 5 * n

    return _harness(n, place), theirs


def inspect_ai(n: int, place: Path) -> tuple[Work, Work]:
    """Trivial cases through the whole harness, log on disk; inspect's answers by its mock model."""
    from inspect_ai import Task
    from inspect_ai import eval as inspect_eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import includes

    def reply(*_: Any) -> ModelOutput:
        output = ModelOutput.from_content("mockllm", "YES")
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    def theirs() -> int:
        samples = [Sample(input=f"Is {i} even?", target="YES", id=i) for i in range(n)]
        model = get_model("mockllm/model", custom_outputs=reply, memoize=False)
        (log,) = inspect_eval(
            Task(dataset=samples, scorer=includes()), model=model, log_dir=str(place / "logs"),
            display="none",
        )  # fmt: skip
        assert log.status == "success"
        return n

    return _harness(n, place), theirs


def lm_eval(n: int, place: Path) -> tuple[Work, Work]:
    """Trivial cases through the whole harness, results and samples on disk.

    lm-eval's answers are by a model that says YES. Its index of shipped tasks is left out: reading
    it takes longer than these runs.
    """
    from datasets import Dataset
    from lm_eval.api.model import LM
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.evaluator import simple_evaluate
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    class Yes(LM):  # type: ignore[misc]
        def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
            return ["YES"] * len(requests)

        def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> Any:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    docs = [{"question": f"Is {i} even?", "answer": "NO" if i % 2 else "YES"} for i in range(n)]
    config = {
        "task": "even",
        "custom_dataset": lambda **_: {"test": Dataset.from_list(docs)},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{question}}",
        "doc_to_target": "{{answer}}",
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
        "generation_kwargs": {"until": ["\n"]},
    }
    tasks = TaskManager(include_defaults=False)
    numbers = count()

    def theirs() -> int:
        target = place / f"peer-{next(numbers)}"
        tracker = EvaluationTracker(output_path=str(target))
        with contextlib.redirect_stderr(io.StringIO()):  # bars of progress
            found: Any = simple_evaluate(
                model=Yes(), tasks=[ConfigurableTask(config=dict(config))], task_manager=tasks,
                evaluation_tracker=tracker, log_samples=True, verbosity="ERROR",
            )  # fmt: skip
        samples = found.pop("samples")
        tracker.save_results_aggregated(results=found, samples=samples)
        tracker.save_results_samples(task_name="even", samples=samples["even"])
        assert found["results"]["even"]["exact_match,none"] == (n + 1) // 2 / n
        (written,) = target.rglob("samples_*.jsonl")  # what it can't write it only logs
        assert written.read_bytes().count(b"\n") == n
        return n

    return _harness(n, place), theirs


COMPARISONS: Final = (
    Comparison("bm25", "score all items for a query (same scores)", "rank-bm25", "query",
               (10_000, 100_000), 7, rank_bm25),
    Comparison("bm25_top", "the best 20 items for a query", "bm25s", "query",
               (10_000, 100_000), 7, bm25s),
    Comparison("traversal", "three edges around a decision, ours typed and scored", "networkx",
               "query", (10_000, 100_000), 7, networkx),
    Comparison("statistics", "four paired statistics, 10,000 resamples",
               "plain loop over scipy.stats", "comparison", (100, 1_000), 7, scipy_loop),
    Comparison("journal", "append an event to a log (ours hash-chained)", "activegraph", "event",
               (300, 3_000), 5, activegraph),
    Comparison("harness", "a trivial case: path, rows, journal, seal",
               "bare loop writing the same JSON lines", "case", (100, 1_000), 7, bare_loop),
    Comparison("harness_inspect", "a trivial case through the whole harness", "inspect_ai", "case",
               (50, 500), 3, inspect_ai),
    Comparison("harness_lm_eval", "a trivial case through the whole harness", "lm-eval", "case",
               (50, 500), 3, lm_eval),
)  # fmt: skip
