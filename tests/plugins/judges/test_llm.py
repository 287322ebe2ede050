"""The judge with a model of its own: blinded, shuffled, quoted, booked; the same model is told."""

from __future__ import annotations

import asyncio
import inspect
import json
import shutil
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest

from framework.contracts import (
    Model,
    Operation,
    Prompt,
    Reply,
    Req,
    Res,
    Verdict,
    answer_by_rule,
)
from framework.engine.compose import compose_plan, composer
from framework.errors import UserError
from framework.models.client import Ledger, track_usage
from framework.operations.prompted import SHIPPED
from framework.records import Answer, ChecklistItem, ReasoningPoint, Standard
from framework.registry import NoSettings, find, identity_of, plugins, register, settings_of
from plugins.judges._blind import Unblinded, check_blind
from plugins.judges.llm import LLMJudge, LLMJudgeSettings
from plugins.judges.rules import Rules
from tests.launching import framework, run

T = TypeVar("T")
POINTS = tuple(
    ReasoningPoint(id=f"gold-{n}", text=f"Point {n} holds.", requires=((f"point {n}",),))
    for n in range(1, 7)
)
RATIONALE = "First, point 2 is so. Then point 5 is as well."
ITEMS = (
    ChecklistItem(id="why", text="the reason", citation="(b)(2)", requires=(("too low",),)),
    ChecklistItem(id="whom", text="the creditor", citation="(a)(2)", requires=(("Delta Bank",),)),
)
STANDARD = Standard(name="s", question="Does it comply?", items=ITEMS)
ANSWER = Answer(decision="DENY", rationale="The score is too low.", notice="Delta Bank: too low.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptSettings:
    """`reply`: what is answered to everything.

    `rules` for the rule-based answer, `misquoting` for that with words that nobody wrote.
    """

    reply: str = "rules"
    name: str = "script-1"


@register("model", "judge_test_script")
class Script(Model[ScriptSettings]):
    """Keeps every prompt that it is sent and answers from a script through the parser."""

    kind = "llm"
    seen: ClassVar[list[Prompt]] = []

    async def run(self, operation: Operation[Req, Res], request: Req, sample: int) -> Reply[Res]:
        self.seen.append(operation.prompt(request))
        text = self.settings.reply
        if text in ("rules", "misquoting"):
            text = operation.render(answer_by_rule(operation, request))
            if self.settings.reply == "misquoting":
                said = json.loads(text)
                text = json.dumps(
                    {"verdicts": [{**v, "quotes": ["so it is not"]} for v in said["verdicts"]]}
                )
        return Reply(response=operation.parse(text, request), text=text)


@pytest.fixture(autouse=True)
def seen() -> list[Prompt]:
    Script.seen.clear()
    return Script.seen


def judge(reply: str = "rules", **settings: Any) -> LLMJudge:
    model = {"plugin": "judge_test_script", "reply": reply}
    return LLMJudge(LLMJudgeSettings(model=model, **settings))


def maybe_await(value: Awaitable[T] | T, ledger: Ledger | None = None) -> T:
    async def wait() -> T:
        return await value if inspect.isawaitable(value) else value

    with track_usage(ledger or Ledger(), "judge", 0, keep_prompts=True):
        return asyncio.run(wait())


def entail(judge_: LLMJudge, points: Sequence[ReasoningPoint] = POINTS) -> Sequence[Verdict]:
    return maybe_await(judge_.entail(RATIONALE, points, None))  # type: ignore[arg-type]


def test_verdicts_come_in_the_order_asked_whatever_was_shown(seen: list[Prompt]) -> None:
    expected = [Verdict(id=p.id, met=p.id in ("gold-2", "gold-5")) for p in POINTS]
    for settings in ({}, {"order": "listed"}, {"order": "reversed"}, {"seed": 3}, {"per_call": 4}):
        verdicts = entail(judge(**settings))
        assert [replace(v, evidence="") for v in verdicts] == expected
    assert verdicts[1].evidence == '"First, point 2 is so."'
    shown = [prompt.user[prompt.user.index("1. ") :].splitlines()[:6] for prompt in seen[:4]]
    assert shown[1] == [f"{n}. Point {n} holds." for n in range(1, 7)]
    assert shown[2] == [f"{n}. Point {7 - n} holds." for n in range(1, 7)]
    assert len({tuple(lines) for lines in shown}) == 4, "each order is another"
    assert len(seen) == 4 + 2, "six points, four a call"


def test_the_order_is_the_seeds_and_the_answers(seen: list[Prompt]) -> None:
    for _ in range(2):
        entail(judge())
    maybe_await(judge().entail(RATIONALE + " Done.", POINTS, None))  # type: ignore[arg-type]
    points = [prompt.user[prompt.user.index("The inferences") :] for prompt in seen]
    assert points[0] == points[1]
    assert points[2] != points[0]


def test_no_gold_but_the_demands_texts_is_shown(seen: list[Prompt]) -> None:
    entail(judge())
    maybe_await(judge().audit(ANSWER, STANDARD, None))  # type: ignore[arg-type]
    text = "\n".join(prompt.text for prompt in seen)
    assert "gold-" not in text
    assert "the creditor ((a)(2))" in text
    assert ANSWER.notice in text
    assert "Does it comply?" in text


def test_nothing_to_judge_asks_nothing(seen: list[Prompt]) -> None:
    assert entail(judge(), ()) == []
    empty = replace(STANDARD, items=())
    assert maybe_await(judge().audit(ANSWER, empty, None)) == []  # type: ignore[arg-type]
    assert seen == []


def test_calls_are_booked_as_judging() -> None:
    ledger = Ledger()
    model = {"plugin": "rule_based"}
    maybe_await(LLMJudge(LLMJudgeSettings(model=model)).entail(RATIONALE, POINTS, None), ledger)  # type: ignore[arg-type]
    assert {phase: usage.calls for phase, usage in ledger.usage().items()} == {"judge": 1}
    assert [prompt["operation"] for prompt in ledger.prompts] == ["entail"]


def test_by_rule_it_says_what_the_rules_judge_says() -> None:
    rules = Rules(NoSettings())
    both = (rules, LLMJudge(LLMJudgeSettings()))
    entailed = [maybe_await(j.entail(RATIONALE, POINTS, None)) for j in both]  # type: ignore[arg-type]
    audited = [maybe_await(j.audit(ANSWER, STANDARD, None)) for j in both]  # type: ignore[arg-type]
    for one, other in (entailed, audited):
        assert [(v.id, v.met) for v in one] == [(v.id, v.met) for v in other]
    assert [v.met for v in audited[0]] == [True, True]


def reply(*entries: tuple[int, list[str], bool]) -> str:
    verdicts = [
        {"number": n, "quotes": quotes, "why": "So.", "met": met} for n, quotes, met in entries
    ]
    return json.dumps({"verdicts": verdicts})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("yes", "no JSON object"),
        (reply((1, [], True)), "no verdict on number 2"),
        (reply((1, [], True), (1, [], True)), "two verdicts on number 1"),
        (reply((1, [], True), (3, [], True)), "number: 3 is none of the 2"),
    ],
)
def test_a_reply_that_is_no_verdict_is_an_error(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        entail(judge(text), POINTS[:2])


@pytest.mark.parametrize("quote", ["point 9", "First ... point 9"])
@pytest.mark.parametrize("met", [True, False])
def test_a_verdict_that_misquotes_is_without_support_and_says_nothing_of_the_others(
    quote: str, met: bool
) -> None:
    text = reply((1, ["point 2", quote], met), (2, ["point 5"], True))
    first, second = entail(judge(text, order="listed"), POINTS[:2])
    assert (first.met, first.supported) == (False, False)
    said = f"said {'met' if met else 'not met'}, quoting what the text does not say"
    assert first.evidence == f'{said}; So: "point 2", "{quote}"'
    assert (second.met, second.supported) == (True, True)


def test_a_verdict_that_quotes_nothing_rests_on_what_is_absent() -> None:
    first, _ = entail(judge(reply((1, [], True), (2, [], True)), order="listed"), POINTS[:2])
    assert (first.met, first.supported) == (True, True)


@pytest.mark.slow
@pytest.mark.parametrize(("said", "unsupported"), [("rules", 0), ("misquoting", None)])
def test_a_run_with_a_judge_that_always_misquotes_has_no_failed_case(
    said: str,
    unsupported: int | None,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(
        capsys, "domain=loan", "arch=full_context", "n_cases=6", "tracking=none", "judge=llm",
        "model@judge.model=judge_test_script", f"judge.model.reply={said}", "hydra.run.dir=r",
        "report=false",
    )  # fmt: skip
    assert done.status == 0
    summary = json.loads(Path("r/summary.json").read_text())
    assert summary["errors"]["n"] == 0
    counted = summary["unsupported_verdicts"]
    assert counted["of"] > 12
    assert counted["n"] == (counted["of"] if unsupported is None else unsupported)
    shown = framework(capsys, "show", "r", "case=0").out
    if unsupported is None:
        assert summary["axes"]["rcs"]["mean"] == 0
        line = f"unsupported verdicts: {counted['n']} of {counted['of']}"
        assert line in " ".join(done.out.split())
        assert "UNSUPPORTED VERDICTS" in shown
        assert "quoting what the text does not say" in " ".join(shown.split())
    else:
        assert summary["axes"]["rcs"]["mean"] > 0
        assert "unsupported" not in (done.out + shown).lower()


def test_quotes_may_be_cut_and_differ_in_case_and_space() -> None:
    text = reply((1, ["FIRST,   point 2 ... point 5 is"], True), (2, [], False))
    verdicts = entail(judge(text, order="listed"), POINTS[:2])
    assert verdicts[0].evidence == 'So: "FIRST,   point 2 ... point 5 is"'


@pytest.mark.parametrize("leak", ["typed_graph", "BM25", "arch=none", "the arm: sam", "retr_only"])
def test_an_arms_name_is_not_shown(leak: str, seen: list[Prompt]) -> None:
    with pytest.raises(Unblinded, match="name of an arm"):
        maybe_await(judge().entail(f"As {leak} says, it is so.", POINTS, None))  # type: ignore[arg-type]
    assert seen == []


def test_ordinary_words_are_no_names() -> None:
    check_blind("Reasons: none. The oracle was misrouted; Sam agreed in full context.")


def test_every_registered_arm_is_looked_for() -> None:
    for plugin in plugins("arch"):
        with pytest.raises(Unblinded):
            check_blind(f"arch={plugin.name}")


def test_settings_are_checked_and_their_identity_is_what_matters() -> None:
    cls = find("judge", "llm")
    for given, said in (
        ({"model": {}}, "judge.model.plugin: the name"),
        ({"model": {"plugin": "rule_base"}}, r"judge\.model: no plugin 'rule_base'.*'rule_based'"),
        ({"model": {"plugin": "rule_based", "stile": 1}}, r"judge\.model\.stile .*'style'"),
        ({"prompts": "paraphrases"}, "did you mean 'paraphrase'"),
        ({"per_call": -1}, "per_call: -1 given"),
        ({"order": "random"}, "judge.order"),
    ):
        with pytest.raises(UserError, match=said):
            settings_of(cls, given)
    plain, other = LLMJudgeSettings(), LLMJudgeSettings(prompts="paraphrase")
    assert identity_of(cls, plain) != identity_of(cls, other)
    claude = {"plugin": "anthropic"}
    slow = LLMJudgeSettings(model={**claude, "concurrency": 1})
    assert identity_of(cls, slow) == identity_of(cls, LLMJudgeSettings(model=claude))


@pytest.mark.parametrize("option", ["anthropic", "openai"])
def test_shipped_judges_have_a_model_of_their_own(option: str) -> None:
    with composer():
        plan = compose_plan([f"judge={option}", f"model={option}"])
    reader, its = plan.parts["model"].settings, plan.parts["judge"].settings.judging()[1]
    assert reader.name != its.name


def test_without_a_key_nothing_runs(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    done = run(capsys, "judge=anthropic", "tracking=none", f"hydra.run.dir={runs_dir / 'r'}")
    assert done.mistake.startswith("judge.model=anthropic: no key")
    assert not (runs_dir / "r").exists()


@pytest.mark.slow
def test_one_model_for_both_is_a_warning(
    capsys: pytest.CaptureFixture[str], runs_dir: Path
) -> None:
    short = ("n_cases=3", "arch=bm25", "tracking=none")
    for name, option, warned in (("one", "llm", True), ("two", "rules", False)):
        done = run(capsys, *short, f"judge={option}", f"hydra.run.dir={runs_dir / name}")
        summary = json.loads((done.directory / "summary.json").read_text())
        assert bool(summary["warnings"]) is warned
        assert ("judge and reader are the same model" in " ".join(done.out.split())) is warned
        assert summary["run"]["judge_kind"] == "rule-based"
        assert ("judge" in summary["ledger"]) is warned


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["typed_graph", "sam", "oracle"])
def test_no_prompt_of_a_run_names_an_arm(
    arch: str, capsys: pytest.CaptureFixture[str], runs_dir: Path
) -> None:
    place = f"hydra.run.dir={runs_dir / 'r'}"
    done = run(capsys, "judge=llm", f"arch={arch}", "n_cases=6", "tracking=none", place)
    names = {plugin.name for plugin in plugins("arch")} - {"none"}
    lines = (done.directory / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    shown = [
        f"{prompt['system']}\n{prompt['user']}"
        for line in lines
        for prompt in json.loads(line)["prompts"]
        if prompt["phase"] == "judge"
    ]
    assert len(shown) >= 6
    for text in shown:
        words = set(text.casefold().replace("(", " ").replace(",", " ").split())
        assert not words & names


def test_a_judge_is_another_by_the_prompts_that_it_asks_with_alone(tmp_path: Path) -> None:
    """A calibration that was paid for holds while other operations are worded anew."""
    own = LLMJudgeSettings().identity()["prompts"]
    for operation, changes in (("answer_question", False), ("decide", False), ("entail", True)):
        folder = tmp_path / operation / operation
        shutil.copytree(SHIPPED / operation, folder)
        (folder / "system.md").write_text((folder / "system.md").read_text() + "\nAnswer well.")
        given = LLMJudgeSettings(prompts=str(folder.parent)).identity()["prompts"]
        assert (given != own) == changes, operation
