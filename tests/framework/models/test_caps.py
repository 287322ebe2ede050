"""Estimates, caps and resume: no call starts that could pass a cap, and none is paid for twice."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from framework.engine.estimate import estimate, total
from framework.models.prices import price_of
from framework.reporting.page import write_report
from framework.testing.server import Faults
from tests.framework.models.serving import (
    BASE,
    held,
    measured,
    of,
    server,
    spent,
    summaries,
    totals,
)
from tests.launching import run


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["anthropic", "openai"])
@pytest.mark.parametrize(
    "sweep",
    [
        pytest.param(("-m", "arch=bm25,none", "n_cases=6"), marks=pytest.mark.slow),
        pytest.param(
            ("-m", "arch=summ_only,dpm", "n_cases=2", "reader=verified"), marks=pytest.mark.slow
        ),
        ("-m", "arch=sam", "n_cases=1", "domain=claims"),
    ],
    ids=["retrieval", "summaries", "sam"],
)
def test_an_estimate_is_within_a_fifth_of_what_is_then_measured(
    provider: str, sweep: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    # Without a provider's prompt cache, for which an estimate gives no discount.
    plain = ("model.prompt_caching=false",) if provider == "anthropic" else ()
    estimated = estimate([*BASE, *sweep, f"model={provider}", *plain])
    before = {e.arm: e.ledger for e in estimated}
    assert not list(Path().iterdir())
    with server(*sweep) as running:
        done = run(capsys, *BASE, *sweep, *of(running, provider), *plain, "hydra.sweep.dir=s")
    assert done.status == 0
    for summary in summaries(Path("s")):
        expected = before[summary["run"]["arch"]]
        assert expected.keys() == summary["ledger"].keys()
        for phase, found in summary["ledger"].items():
            assert expected[phase]["calls"] == found["calls"]
            assert expected[phase]["tokens_in"] == pytest.approx(found["tokens_in"], rel=0.2)
            assert expected[phase]["tokens_out"] == pytest.approx(found["tokens_out"], rel=0.2)
            assert expected[phase]["cost_usd"] == pytest.approx(found["cost_usd"], rel=0.2)
    assert total(estimated)["paid_calls"] == running.counts.calls
    again = estimate([*BASE, *sweep, *of(running, provider), *plain])
    assert total(again)["paid_calls"] == total(again)["paid_usd"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_an_estimate_holds_for_a_provider_that_counts_four_characters_a_token(
    provider: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A counter that shares nothing with the estimate's own."""
    sweep = ("-m", "arch=bm25,summ_only", "n_cases=3", "reader=verified")
    plain = ("model.prompt_caching=false",) if provider == "anthropic" else ()
    before = {e.arm: e.ledger for e in estimate([*BASE, *sweep, f"model={provider}", *plain])}
    with server(*sweep, tokens=lambda text: math.ceil(len(text) / 4)) as running:
        done = run(capsys, *BASE, *sweep, *of(running, provider), *plain, "hydra.sweep.dir=s")
    assert done.status == 0
    found = {s["run"]["arch"]: s["ledger"] for s in summaries(Path("s"))}
    assert found.keys() == before.keys() == {"bm25", "summ_only"}
    for arm, ledger in found.items():
        for phase, measured_ in ledger.items():
            assert before[arm][phase]["calls"] == measured_["calls"]
            for name in ("tokens_in", "tokens_out", "cost_usd"):
                assert before[arm][phase][name] == pytest.approx(measured_[name], rel=0.2)


@pytest.mark.slow
def test_a_dry_run_shows_the_estimate_and_writes_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = (*BASE, "-m", "arch=bm25,dpm", "n_cases=2", "model=anthropic")
    done = run(capsys, *given, "dry_run=true")
    assert done.status == 0
    assert "recall" in done.out
    assert "to be paid now" in done.out
    assert not list(Path().iterdir())
    assert run(capsys, "resume=x", "dry_run=true").status == 2


def worst_case(directory: Path) -> float:
    """The worst case of the call that a stopped run did not make, from its journal's last line."""
    line = (directory / "journal.jsonl").read_text(encoding="utf-8").splitlines()[-1]
    event = json.loads(line)
    assert event["type"] == "run.stopped"
    return float(event["payload"]["reason"].partition("could take $")[2].split(" ")[0])


@pytest.mark.slow
def test_half_the_estimate_as_a_cap_stops_within_one_call_and_a_higher_one_finishes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = ("arch=bm25", "n_cases=12", "model.max_tokens=600")
    with server("arch=bm25", "n_cases=12") as running:
        sent_to = of(running, "openai")
        cap = total(estimate([*BASE, *given, *sent_to]))["cost_usd"] / 2
        done = run(capsys, *BASE, *given, *sent_to, f"max_cost_usd={cap}", "hydra.run.dir=capped")
        assert done.status == 1
        assert "stopped: max_cost_usd=" in done.err
        assert "resume it with resume=capped" in done.err
        (account,) = spent()
        assert cap - worst_case(Path("capped")) <= account.usd <= cap
        assert held() == 0
        calls = running.counts.calls
        assert calls == account.calls
        # The same cap again starts no call; a higher one finishes.
        assert run(capsys, "resume=capped").status == 1
        assert running.counts.calls == calls
        assert run(capsys, "resume=capped", "max_cost_usd=100").status == 0
        assert max(running.counts.requests.values()) == 1
        (account,) = spent()
        assert account.calls == running.counts.calls
        assert run(
            capsys, *BASE, *given, *sent_to, "model.cache=other.sqlite", "hydra.run.dir=whole"
        ).status == 0  # fmt: skip
    assert measured(Path("capped")) == measured(Path("whole"))


@pytest.mark.slow
def test_a_cap_is_shared_by_the_jobs_of_a_sweep(capsys: pytest.CaptureFixture[str]) -> None:
    sweep = ("-m", "arch=bm25,last_mention", "n_cases=6", "model.max_tokens=600")
    with server(*sweep) as running:
        given = (*BASE, *sweep, *of(running, "anthropic"))
        cap = total(estimate(list(given)))["tokens_in"]
        done = run(capsys, *given, f"max_tokens_total={int(cap)}", "hydra.sweep.dir=s")
        assert done.status == 1
        assert "max_tokens_total=" in done.err
        assert len(summaries(Path("s"))) < 2
        (account,) = spent()
        assert account.tokens <= cap
        assert run(capsys, "resume=s", "max_tokens_total=null").status == 0
        assert max(running.counts.requests.values()) == 1
        (account,) = spent()
        assert account.calls == running.counts.calls == totals_and_lost(account.lost_calls)


@pytest.mark.slow
def test_one_cap_holds_for_the_reader_and_the_judge(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("arch=oracle", "n_cases=8", "judge=openai", "model.max_tokens=600")
    with server(*given) as running:
        sent_to = (
            *of(running, "anthropic"),
            f"judge.model.base_url={running.url}/v1",
            "judge.model.max_tokens=600",
            "judge.model.backoff_s=0.01",
        )
        estimated = estimate([*BASE, *given, *sent_to])
        (ledger,) = (e.ledger for e in estimated)
        assert min(ledger["answer"]["cost_usd"], ledger["judge"]["cost_usd"]) > 0
        cap = total(estimated)["cost_usd"] / 2
        done = run(capsys, *BASE, *given, *sent_to, f"max_cost_usd={cap}", "hydra.run.dir=r")
        assert done.status == 1
        assert "stopped: max_cost_usd=" in done.err
        (account,) = spent()
        assert cap - worst_case(Path("r")) <= account.usd <= cap
        assert (account.calls, held()) == (running.counts.calls, 0)
        assert run(capsys, "resume=r", "max_cost_usd=100").status == 0
        assert max(running.counts.requests.values()) == 1
    (summary,) = summaries(Path("r"))
    phases = summary["ledger"]
    assert phases["total"]["calls"] == phases["answer"]["calls"] + phases["judge"]["calls"]
    (account,) = spent()
    assert account.usd == pytest.approx(phases["total"]["cost_usd"])
    assert summary["errors"]["n"] == 0


@pytest.mark.slow
def test_a_cap_met_by_a_gates_baseline_ends_the_sweep(capsys: pytest.CaptureFixture[str]) -> None:
    gated = ("gate=noninferiority", "gate.baseline=bm25", "gate.axes=[eda]")
    sweep = ("-m", "arch=last_mention,random_context", "n_cases=4", "model.max_tokens=600")
    with server("-m", "arch=last_mention,random_context,bm25,none", "n_cases=4") as running:
        given = (*BASE, *gated, *sweep, *of(running, "openai"))
        cap = total(estimate([*BASE, "arch=bm25", "n_cases=4", "model=openai"]))["tokens_in"]
        done = run(capsys, *given, f"max_tokens_total={int(cap)}", "hydra.sweep.dir=s")
        assert done.status == 1
        assert done.err.count("stopped: ") == 1
        assert "stopped: gate.baseline s/loan-bm25" in done.err
        assert "resume it with resume=s" in done.err
        assert done.out.splitlines() == ["sweep: s"]
        assert [p.parent.name.split("-")[1] for p in Path("s").glob("*/journal.jsonl")] == ["bm25"]
        assert held() == 0
        again = run(capsys, "resume=s", "max_tokens_total=null")
        assert again.status in (0, 3), again.err
        assert max(running.counts.requests.values()) == 1
    assert len(list(Path("s").glob("*/summary.json"))) == 4


def totals_and_lost(lost: int) -> int:
    """Calls in the ledgers that a request was made for: each request once, stored or not."""
    assert lost == 0
    import sqlite3

    with sqlite3.connect(".cache/responses.sqlite") as db:
        (count,) = db.execute("SELECT count(*) FROM responses").fetchone()
    db.close()
    return int(count)


@pytest.mark.slow
def test_too_many_errors_end_a_run_after_what_is_under_way(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = ("arch=bm25", "n_cases=30", "max_errors=2")
    with server(*given, faults=Faults(rates={"refuse": 0.5})) as running:
        done = run(capsys, *BASE, *given, *of(running, "openai"), "hydra.run.dir=r")
        assert done.status == 1
        assert "cases failed" in done.err
        assert 0 < running.counts.calls < 30
        (account,) = spent()
        assert account.lost_calls == 0
        assert account.calls == running.counts.calls
        assert run(capsys, "resume=r", "max_errors=1000").status == 0
        assert max(running.counts.requests.values()) == 1
    (summary,) = summaries(Path("r"))
    assert summary["run"]["n_cases"] == 30


@pytest.mark.slow
def test_repeats_are_samples_of_their_own_with_their_noise(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = ("arch=bm25", "n_cases=3", "repeats=2")
    with server(*given) as running:
        done = run(capsys, *BASE, *given, *of(running, "anthropic"), "hydra.run.dir=r")
    assert done.status == 0
    assert running.counts.calls == 6
    (summary,) = summaries(Path("r"))
    assert summary["axes"]["frp"]["noise_sd"] == 0.0
    assert "noise" in done.out


@pytest.mark.slow
def test_a_model_without_a_price_is_counted_in_tokens(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("arch=bm25", "n_cases=1", "model.name=llama-of-mine")
    with server("arch=bm25", "n_cases=1") as running:
        done = run(capsys, *BASE, *given, *of(running, "openai"), "hydra.run.dir=r")
    assert done.status == 0
    assert "llama-of-mine has no price in conf/prices.yaml" in done.err
    found = totals(Path("r"))
    assert found["cost_usd"] == 0
    assert found["tokens_in"] > 0


@pytest.mark.slow
def test_dollars_of_a_model_without_a_price_are_empty_and_a_line_says_how_to_give_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = ("arch=bm25", "n_cases=1", "model.name=llama-of-mine")
    with server("arch=bm25", "n_cases=1") as running:
        done = run(capsys, *BASE, *given, *of(running, "openai"), "hydra.run.dir=r")
    assert done.status == 0
    (summary,) = summaries(Path("r"))
    total = summary["ledger"]["total"]
    assert total["cost_usd"] is None
    assert total["paid_usd"] is None
    assert total["tokens_in"] > 0
    assert any("llama-of-mine has no price" in warning for warning in summary["warnings"])
    assert not [name for name in summary["axes"] if name.endswith("_usd")]
    write_report(Path("r"))
    written = Path("r", "report.md").read_text(encoding="utf-8")
    (row,) = [line for line in written.splitlines() if "| total |" in line]
    assert "0.0000" not in row
    assert "conf/prices.yaml" in written


def test_the_papers_models_have_prices() -> None:
    for name in (
        "claude-sonnet-4-6", "gpt-4o-2024-08-06", "gpt-5.1", "text-embedding-3-small",
    ):  # fmt: skip
        assert price_of(name) is not None, name
