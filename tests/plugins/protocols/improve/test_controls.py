"""The controls: routings, open gate, best of N, first promotion only, no diagnosis, whole pool."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

from framework.contracts import Assignment, Author, Client, Diagnosis, Patch
from framework.contracts.improve import SEAMS
from framework.registry import NoSettings, find, register
from plugins.authors.scripted import Scripted
from plugins.targets.retrieval import retrieval_taxonomy
from tests.plugins.protocols.improve.scripted import ScriptTarget, prompt, run_script, script_plan

RIGHT = {
    "base": {"optimize": "0-4", "confirm": "0-5", "test": "0-4"},
    "a": {"optimize": "0-5", "confirm": "0-14", "test": "0-7"},
    "b": {"optimize": "0-8", "confirm": "0-17", "test": "0-8"},
    "same": {"optimize": "0-5", "confirm": "0-5", "test": "0-4"},
}


@register("author", "spy")
class Spy(Author[NoSettings]):
    """Proposes nothing and remembers what it was asked."""

    asked: ClassVar[list[Assignment]] = []

    async def draft(self, assignment: Assignment, client: Client) -> str | None:
        self.asked.append(assignment)
        return None


@register("author", "teller")
class Teller(Scripted):
    """Says what it was told to, and remembers what it was asked."""

    asked: ClassVar[list[Assignment]] = []

    async def draft(self, assignment: Assignment, client: Client) -> str | None:
        self.asked.append(assignment)
        return await super().draft(assignment, client)


def asked(tmp_path: Path, **changed: Any) -> Assignment:
    Spy.asked.clear()
    run_script(script_plan(RIGHT, [], author={"plugin": "spy"}, **changed), tmp_path / "run")
    return Spy.asked[0]


def test_an_author_is_shown_failures_of_the_regime_and_one_seam(tmp_path: Path) -> None:
    shown = asked(tmp_path)
    assert (shown.regime, shown.seams) == ("assemble-internal", ("reader_prompt",))
    assert len(shown.failures) == 5
    assert all(f.question.startswith("case ") and f.answer == "NO" for f in shown.failures)


def test_without_routing_it_gets_failures_without_a_label_and_every_seam(tmp_path: Path) -> None:
    shown = asked(tmp_path, routing={"plugin": "none"})
    assert (shown.regime, shown.meaning, shown.seams) == ("", "", SEAMS)
    assert len(shown.failures) == 5


def test_without_diagnosis_it_sees_neither(tmp_path: Path) -> None:
    shown = asked(tmp_path, protocol={"diagnosis": False})
    assert (shown.regime, shown.failures) == ("", ())


def diagnosis(**changed: Any) -> Diagnosis:
    given: dict[str, Any] = {
        "taxonomy": retrieval_taxonomy(),
        "histogram": {"budget-truncation": 3, "assembly-crowding": 2},
        "open": ("budget-truncation", "assembly-crowding"),
        "attempts": {},
        "seams": SEAMS,
        "seed": 7,
        "attempt": 0,
    }
    return Diagnosis(**{**given, **changed})


def routed(name: str, **changed: Any) -> Any:
    plugin = find("routing", name)
    return plugin.cls(NoSettings()).choose(diagnosis(**changed))


def test_every_seam_is_drafted_by_routing() -> None:
    turns = [routed("regime", attempts={"budget-truncation": n}).seams for n in range(3)]
    assert turns == [("score",), ("assembly",), ("score",)]
    assert routed("regime", open=("assembly-crowding",)).seams == ("assembly",)
    assert routed("regime", open=("assemble-internal",)).seams == ("reader_prompt",)
    only = routed("regime", seams=("assembly",), attempts={"budget-truncation": 1})
    assert only.seams == ("assembly",)


def test_random_routing_is_the_seeds_and_reaches_everything() -> None:
    drawn = {routed("random", attempt=n) for n in range(60)}
    assert {r.seams[0] for r in drawn} == set(SEAMS)
    assert {r.regime for r in drawn} == {"budget-truncation", "assembly-crowding"}
    assert routed("random", attempt=5) == routed("random", attempt=5)


def test_prompt_only_is_the_prompt_and_nothing_else() -> None:
    plugin = find("routing", "prompt")
    chosen = plugin.cls(plugin.settings(drafts=3)).choose(diagnosis())
    assert (chosen.regime, chosen.seams) == ("", ("reader_prompt",) * 3)
    assert plugin.cls(plugin.settings()).choose(diagnosis(seams=("score",))) is None
    assert plugin.cls(plugin.settings()).choose(diagnosis(open=())) is None


def test_looks_at_confirm_are_capped(tmp_path: Path) -> None:
    script = [prompt("same"), prompt("a"), prompt("b")]
    free = run_script(script_plan(RIGHT, script), tmp_path / "free").results
    assert len(free["analyses"]) > 1
    plan = script_plan(RIGHT, script, protocol={"max_analyses": 1})
    capped = run_script(plan, tmp_path / "capped").results
    assert len(capped["analyses"]) == 1
    assert capped["stopped"]["reason"] == "max_analyses"
    assert (
        script_plan(RIGHT, script).digest
        == script_plan(RIGHT, script, protocol={"max_analyses": None}).digest
    )


@pytest.mark.parametrize("name", ["regime", "none", "random", "oracle"])
def test_no_routing_goes_on_where_nothing_is_open(name: str) -> None:
    assert routed(name, open=()) is None


def test_the_oracle_drafts_at_every_seam_and_takes_the_best(tmp_path: Path) -> None:
    drafts = [
        {"seam": "score", "expression": "-similarity"},
        {"seam": "assembly", "rules": [{"rule": "dedupe", "overlap": 0.8}]},
        prompt("b"),
    ]
    plan = script_plan(RIGHT, drafts, routing={"plugin": "oracle"}, protocol={"max_promotions": 1})
    done = run_script(plan, tmp_path / "run")
    outcomes = {c["number"]: (c["outcome"], c["stage"]) for c in done.results["candidates"]}
    assert outcomes == {
        0: ("discarded", "best_of"),
        1: ("discarded", "best_of"),
        2: ("promoted", "confirm"),
    }


def test_the_best_of_several_drafts_goes_on_and_the_first_promotion_ends_it(
    tmp_path: Path,
) -> None:
    plan = script_plan(
        RIGHT,
        [prompt("a"), prompt("b"), "no draft", prompt("same")],
        protocol={"best_of": 3, "max_promotions": 1},
    )
    done = run_script(plan, tmp_path / "run")
    assert [s["number"] for s in done.results["trajectory"]] == [1]
    assert done.results["stopped"]["reason"] == "max_promotions"
    assert done.results["funnel"]["best_of"] == 1
    assert done.results["funnel"]["static"] == 1


def patches(*texts: str) -> tuple[Patch, ...]:
    return tuple(
        Patch(id=t, seam="reader_prompt", payload={"fragments": {"guidance": t}}, note="")
        for t in texts
    )


def test_the_best_of_several_drafts_of_a_library_is_of_different_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ScriptTarget, "library", patches("a", "b", "same"))
    plan = script_plan(
        RIGHT,
        [],
        author={"plugin": "rules"},
        protocol={"best_of": 3, "max_promotions": 1, "max_candidates": 3},
    )
    done = run_script(plan, tmp_path / "run")
    drafted = done.of("transform.drafted")
    assert {e["why"] for e in drafted} == {"a", "b", "same"}
    assert len(drafted) == 3
    assert done.results["funnel"]["static"] == 0
    assert [c["why"] for c in done.results["candidates"] if c["outcome"] == "promoted"] == ["b"]


def test_an_author_is_told_of_its_refused_drafts_and_why(tmp_path: Path) -> None:
    Teller.asked.clear()
    long = {"seam": "reader_prompt", "fragments": {"guidance": "x" * 50}}
    drafts = ["no draft " * 100, {"seam": "judge"}, long, prompt("same"), prompt("same"), ""]
    plan = script_plan(
        RIGHT,
        drafts,
        author={"plugin": "teller", "drafts": drafts},
        protocol={"prompt_chars": 10, "max_candidates": 6},
    )
    run_script(plan, tmp_path / "run")
    tried = Teller.asked[-1].tried
    assert [(t.seam, t.text[:8], t.reason.split(":")[0]) for t in tried] == [
        ("", "no draft", "static"),
        ("", '{"seam":', "static"),
        ("reader_prompt", "", "static"),
        ("reader_prompt", "", "confirm"),
    ]
    assert len(tried[0].text) == 500
    assert "prompt budget" in tried[2].reason
    assert dict(tried[2].payload) == {"fragments": long["fragments"]}


def test_an_open_gate_lets_through_what_the_held_out_gate_stops(tmp_path: Path) -> None:
    for gate, promoted in (("open", 1), ("heldout", 0)):
        plan = script_plan(
            RIGHT, [prompt("same")], gate={"plugin": gate}, protocol={"max_promotions": 1}
        )
        done = run_script(plan, tmp_path / gate)
        assert done.results["funnel"]["promoted"] == promoted


def test_the_whole_pool_but_optimize(tmp_path: Path) -> None:
    plan = script_plan(RIGHT, [prompt("b")], protocol={"whole_pool": True, "pool": 45})
    done = run_script(plan, tmp_path / "run")
    assert done.results["whole_pool"]["n"] == 35
    assert done.results["test"]["n"] == 10


def test_alpha_is_spent_over_analyses_of_the_same_cases(tmp_path: Path) -> None:
    drafts = [prompt("same"), prompt("a"), prompt("b")]
    done = run_script(script_plan(RIGHT, drafts), tmp_path / "run")
    alphas = [found["alpha"] for found in done.results["analyses"]]
    assert alphas[0] == pytest.approx(0.025 * 0.6079, abs=1e-5)
    assert alphas == sorted(alphas, reverse=True)
    samples = [e["sample"] for e in done.of("evaluation.started") if e["purpose"] == "confirm"]
    assert samples == sorted(samples)
    assert len(set(samples)) == len(alphas)  # asked again at each analysis
