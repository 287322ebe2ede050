"""The comparison with lm-eval, which no extra installs, by a stand-in for what it uses of it."""

from __future__ import annotations

import json
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchmarks._peers import COMPARISONS, lm_eval
from benchmarks.performance import main

(HARNESS,) = (one for one in COMPARISONS if one.peer == "lm-eval")


class Evaluator:
    """lm-eval as far as the comparison calls it: asks the model, scores, writes a line a sample.

    answered : the share of samples that it writes.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answered: float = 1.0) -> None:
        self.answered = answered
        self.asked: list[str] = []
        self.target = Path()
        parts: dict[str, dict[str, Any]] = {
            "datasets": {"Dataset": type("Dataset", (), {"from_list": staticmethod(list)})},
            "lm_eval": {},
            "lm_eval.api": {},
            "lm_eval.api.model": {"LM": object},
            "lm_eval.api.task": {"ConfigurableTask": lambda config: config},
            "lm_eval.evaluator": {"simple_evaluate": self.evaluate},
            "lm_eval.loggers": {"EvaluationTracker": self.tracker},
            "lm_eval.tasks": {"TaskManager": lambda include_defaults: include_defaults},
        }
        for name, content in parts.items():
            module = ModuleType(name)
            module.__spec__ = ModuleSpec(name, None)
            vars(module).update(content)
            monkeypatch.setitem(sys.modules, name, module)

    def tracker(self, output_path: str) -> Any:
        self.target = Path(output_path)
        return self

    def evaluate(self, model: Any, tasks: list[Any], **_: Any) -> dict[str, Any]:
        (task,) = tasks
        docs = task["custom_dataset"]()[task["test_split"]]
        answers = model.generate_until([doc["question"] for doc in docs])
        self.asked += [doc["question"] for doc in docs]
        right = [answer == doc["answer"] for answer, doc in zip(answers, docs, strict=True)]
        return {
            "results": {"even": {"exact_match,none": sum(right) / len(right)}},
            "samples": {"even": docs},
        }

    def save_results_aggregated(self, results: Any, samples: Any) -> None:
        self.target.mkdir()
        (self.target / "results_now.json").write_text(json.dumps(results))

    def save_results_samples(self, task_name: str, samples: list[Any]) -> None:
        lines = [json.dumps(sample) for sample in samples[: int(self.answered * len(samples))]]
        (self.target / f"samples_{task_name}_now.jsonl").write_text("\n".join(lines) + "\n")


def test_both_harnesses_run_as_many_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = Evaluator(monkeypatch)
    ours, theirs = lm_eval(5, tmp_path)
    assert (theirs(), theirs(), ours()) == (5, 5, 5)
    assert evaluator.asked == [f"Is {i} even?" for i in range(5)] * 2
    assert not HARNESS.absent


def test_samples_that_it_did_not_write_are_no_work_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Evaluator(monkeypatch, answered=0.5)
    with pytest.raises(AssertionError):
        lm_eval(6, tmp_path)[1]()


def test_where_it_is_not_installed_it_has_no_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchmarks._peers.find_spec", lambda _: None)
    assert HARNESS.absent
    main(["harness_lm_eval"])
    assert capsys.readouterr().out == "harness_lm_eval: lm-eval is not installed\n[]\n"
