"""Whole runs through both SDKs against the local server: equal to the rules, paid for once."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from benchmarks.chaos.hostile import says, serving
from benchmarks.chaos.trial import QUESTIONS
from framework.testing.server import KINDS, Faults
from tests.framework.models.serving import (
    BASE,
    USAGE,
    held,
    measured,
    of,
    server,
    spent,
    summaries,
    totals,
)
from tests.launching import framework, run

PROVIDERS = ("anthropic", "openai")
SWEEP = ("-m", "arch=bm25,dpm,summ_only", "n_cases=3")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def jobs(directory: Path) -> dict[str, Path]:
    """The job directories of a sweep by arm."""
    found = sorted(p.parent for p in directory.glob("*/summary.json"))
    return {path.name.split("-")[1]: path for path in found}


@pytest.mark.slow
def test_two_servers_are_swept(capsys: pytest.CaptureFixture[str]) -> None:
    with server("arch=none", "n_cases=1") as running:
        both = [
            f"{host}:{running.url.rpartition(':')[2]}/v1" for host in ("127.0.0.1", "localhost")
        ]
        urls = ",".join(f"http://{address}" for address in both)
        given = (*of(running, "openai"), "arch=none", "n_cases=1")
        done = run(
            capsys, *BASE, "-m", *given, f"model.base_url={urls}", "hydra.sweep.dir=s",
            "report=false",
        )  # fmt: skip
    assert done.status == 0, done.err
    found = {summary["run"]["model"] for summary in summaries(Path("s"))}
    assert found == {f"openai(base_url={address})" for address in both}
    assert len({path.parent.name for path in Path("s").glob("*/summary.json")}) == 2


@pytest.mark.slow
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_sweep_decides_as_the_rules_do_is_paid_once_and_replays_without_the_server(
    provider: str, capsys: pytest.CaptureFixture[str]
) -> None:
    off = run(capsys, *BASE, *SWEEP, "hydra.sweep.dir=rules")
    assert off.status == 0
    with server(*SWEEP) as running:
        common = (*BASE, *SWEEP, *of(running, provider))
        assert run(capsys, *common, "hydra.sweep.dir=first").status == 0
        served = running.counts.calls
        assert served > 0
        for arm, path in jobs(Path("first")).items():
            assert measured(path, *USAGE) == measured(jobs(Path("rules"))[arm], *USAGE)
        assert totals(Path("first"))["paid_calls"] == served
        assert run(capsys, *common, "hydra.sweep.dir=second").status == 0
        assert running.counts.calls == served
    assert totals(Path("second"))["paid_usd"] == 0
    replayed = run(capsys, *common, "model.replay=true", "hydra.sweep.dir=third")
    assert replayed.status == 0
    for arm, path in jobs(Path("first")).items():
        for again in ("second", "third"):
            assert measured(jobs(Path(again))[arm]) == measured(path)
    assert {s["run"]["model_kind"] for s in summaries(Path("third"))} == {"llm"}


@pytest.mark.slow
def test_dpm_over_three_budgets_reads_the_log_from_the_providers_cache(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sweep = ("-m", "arch=dpm", "budget=tight,moderate,loose", "n_cases=2")
    with server(*sweep) as running:
        done = run(capsys, *BASE, *sweep, *of(running, "anthropic"), "hydra.sweep.dir=s")
    assert done.status == 0
    ledgers = [s["ledger"]["recall"] for s in summaries(Path("s"))]
    kept = [ledger["tokens_cached"] for ledger in ledgers]
    assert sorted(n > 0 for n in kept) == [False, True, True]
    for ledger in (entry for entry in ledgers if entry["tokens_cached"]):
        new = ledger["tokens_in"] - ledger["tokens_cached"]
        assert ledger["tokens_cached"] > new
        expected = (1.0 * new + 0.1 * ledger["tokens_cached"] + 5.0 * ledger["tokens_out"]) / 1e6
        assert ledger["cost_usd"] == pytest.approx(expected)


@pytest.mark.slow
@pytest.mark.parametrize("provider", PROVIDERS)
def test_faults_lose_no_case_and_pay_for_nothing_twice(
    provider: str, capsys: pytest.CaptureFixture[str]
) -> None:
    check_faults(provider, 40, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("provider", PROVIDERS)
def test_faults_over_three_hundred_cases(provider: str, capsys: pytest.CaptureFixture[str]) -> None:
    check_faults(provider, 300, capsys)


def check_faults(provider: str, n: int, capsys: pytest.CaptureFixture[str]) -> None:
    """A fifth of the calls meets a fault; what was answered is counted alike on both sides."""
    sweep = ("-m", "arch=bm25,last_mention", f"n_cases={n}", "reader=verified", "max_errors=1000")
    faults = Faults(rates={kind: 0.2 / len(KINDS) for kind in KINDS}, seed=6, late_s=0.05)
    with server(*sweep, faults=faults) as running:
        done = run(capsys, *BASE, *sweep, *of(running, provider), "hydra.sweep.dir=s")
        counts = running.counts
    assert done.status == 0
    assert all(counts.faults[kind] for kind in KINDS) or n < 300
    found = summaries(Path("s"))
    assert [s["run"]["n_cases"] for s in found] == [n, n]
    kinds = {kind for s in found for kind in s["errors"]["kinds"]}
    assert kinds <= {"ModelError", "UnreadableError"}
    assert max(counts.requests.values()) == 1
    total = totals(Path("s"))
    assert total["paid_calls"] == counts.calls
    unread = sum(counts.faults[kind] for kind in ("malformed", "refuse", "too_long"))
    assert (total["repairs"] > 0) == (unread > 0)
    (account,) = spent()
    assert (account.calls, account.tokens) == (counts.calls, counts.tokens_in + counts.tokens_out)
    assert account.lost_calls == counts.lost
    assert account.usd == pytest.approx(total["paid_usd"])
    assert held() == 0


def test_an_answer_that_cannot_be_read_even_when_asked_again_is_an_error_and_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with server("arch=bm25", "n_cases=2", faults=Faults(rates={"malformed": 1.0})) as running:
        done = run(
            capsys, *BASE, "arch=bm25", "n_cases=2", "max_errors=2", *of(running, "openai"),
            "hydra.run.dir=r",
        )  # fmt: skip
    assert done.status == 0
    (summary,) = summaries(Path("r"))
    assert summary["errors"]["n"] == 2
    assert summary["errors"]["kinds"] == {"UnreadableError": 2}
    total = summary["ledger"]["total"]
    assert (total["calls"], total["repairs"], total["unreadable"]) == (4, 2, 2)
    assert running.counts.calls == total["paid_calls"] == 4


def test_an_answer_with_a_key_twice_is_unreadable_and_asked_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can say which of the two values it gave."""
    twice = '{"answer": "Paris", "evidence": "", "answer": "Rome"}'
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with serving(says(twice)) as url:
        done = run(
            capsys, f"domain.path={QUESTIONS}", "domain.unknown_file=true", "domain=hotpotqa",
            "tracking=none", "arch=bm25", "gate=open", "n_cases=1", "max_errors=1", "model=openai",
            f"model.base_url={url}/v1", "hydra.run.dir=r",
        )  # fmt: skip
    (summary,) = summaries(Path("r"))
    total = summary["ledger"]["total"]
    assert (total["calls"], total["repairs"], total["unreadable"]) == (2, 1, 1)
    assert "the key 'answer' stands twice in an object" in Path("r/answers.jsonl").read_text()
    assert done.status == 0


@pytest.mark.slow
def test_what_memory_kept_stands_though_no_answer_can_be_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = ("arch=bm25", "n_cases=3")
    with server(*given, faults=Faults(rates={"malformed": 1.0})) as running:
        asked = (*BASE, *given, *of(running, "openai"), "max_errors=3")
        done = run(capsys, *asked, "hydra.run.dir=r")
    (failed,) = summaries(Path("r"))
    run(capsys, *BASE, *given, "protocol=retrieve", "hydra.run.dir=free")
    (free,) = summaries(Path("free"))
    kept = {axis: entry for axis, entry in free["axes"].items() if entry["n"]}
    assert {"p_ret", "surface_ceiling", "retained"} <= kept.keys()
    assert {axis: failed["axes"][axis] for axis in kept} == kept
    assert failed["strata"].keys() == free["strata"].keys()
    assert "Every row failed, 3 of 3; most often: UnreadableError: decide" in done.out
    assert "surface_ceiling" in done.out
    case = measured(Path("r"))[0]["case_id"]
    shown = framework(capsys, "show", "r", f"case={case}").out
    assert "ERROR UnreadableError: decide" in shown
    assert "VIEW (" in shown
    assert "REPLY to decide (answer)" in shown
    assert "{" in shown.partition("REPLY to decide (answer)")[2]


@pytest.mark.slow
def test_a_refusal_keeps_what_the_provider_said_and_a_lost_connection_its_address(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    httpserver: HTTPServer,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key")
    said = "maximum context length is 8192 tokens (key planted-key)"
    httpserver.expect_request("/v1/chat/completions").respond_with_json(
        {"error": {"message": said, "type": "invalid_request_error"}}, status=400
    )
    once = ("model.retries=0", "max_errors=1", "n_cases=1", "arch=bm25", "hydra.run.dir=a")
    place = ("model=openai", f"model.base_url={httpserver.url_for('/v1')}")
    run(capsys, *BASE, *place, *once)
    (row,) = measured(Path("a"))
    assert "400: BadRequestError: maximum context length is 8192 tokens (key ***)" in row["error"]
    away = "http://127.0.0.1:9/v1"
    run(capsys, *BASE, "model=openai", f"model.base_url={away}", *once[:-1], "hydra.run.dir=b")
    (row,) = measured(Path("b"))
    assert f"connection: to {away} lost" in row["error"]


@pytest.mark.slow
def test_a_check_that_cannot_be_read_abstains(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("arch=bm25", "n_cases=2", "reader=verified")
    with server(*given, faults=Faults(rates={"malformed": 1.0})) as running:
        done = run(capsys, *BASE, *given, *of(running, "anthropic"), "hydra.run.dir=r")
    assert done.status == 0
    assert {row["decision"] for row in measured(Path("r"))} == {"ABSTAIN"}


@pytest.mark.slow
def test_a_replay_that_misses_names_operation_and_case(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with server("arch=bm25", "n_cases=2") as running:
        common = (*BASE, "arch=bm25", *of(running, "openai"))
        assert run(capsys, *common, "n_cases=1", "hydra.run.dir=one").status == 0
        again = run(capsys, *common, "n_cases=2", "model.replay=true", "hydra.run.dir=two")
        assert again.status == 1
        assert "model.replay: no stored response for decide, sample 0 (case " in again.err
        assert running.counts.calls == 1
        before = running.counts.calls
        assert run(capsys, "resume=two", "model.replay=false").status == 0
        assert running.counts.calls == before + 1


@pytest.mark.slow
def test_a_missing_key_and_a_missing_cache_are_told_before_anything_is_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for given, word in (
        (("model=anthropic",), "ANTHROPIC_API_KEY"),
        (("model=openai",), "OPENAI_API_KEY"),
        (("model=openai", "model.replay=true"), ".cache/responses.sqlite"),
        (("model=openai", "model.base_url=http://me:secret@host/v1"), "never in the address"),
        (
            ("model=openai", "model.base_url=http://127.0.0.1:1", "model.name=x", "max_cost_usd=1"),
            "x has no price",
        ),
    ):
        done = run(capsys, *BASE, "n_cases=1", *given, "hydra.run.dir=r")
        assert done.status == 2, done.err
        assert word in done.err
        assert len(done.err.strip().splitlines()) == 1
        assert "secret" not in done.err or "address" not in word
    assert not list(Path().iterdir())


@pytest.mark.slow
def test_a_refused_key_ends_the_run_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with server("arch=bm25", "n_cases=20") as running:
        done = run(
            capsys, *BASE, "arch=bm25", "n_cases=20", "model=openai",
            f"model.base_url={running.url}/nothing", "hydra.run.dir=r",
        )  # fmt: skip
    assert done.status == 1
    assert "404" in done.err
    assert "resume it with resume=r" in done.err
    assert running.counts.calls == 0


@pytest.mark.slow
def test_no_key_is_left_anywhere(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key is planted, sent, answered and refused; then every file is searched, MLflow's too."""
    keys = {"ANTHROPIC_API_KEY": "planted-key-1", "OPENAI_API_KEY": "planted-key-2"}
    for name, key in keys.items():
        monkeypatch.setenv(name, key)
    given = ("arch=dpm", "n_cases=3", "max_errors=1000")
    faults = Faults(rates={"429": 0.2, "malformed": 0.2, "close": 0.1, "refuse": 0.2}, seed=2)
    with server(*given, faults=faults) as running:
        for provider in PROVIDERS:
            done = run(
                capsys, *BASE, *given, *of(running, provider), "tracking=mlflow",
                f"hydra.run.dir={provider}",
            )  # fmt: skip
            assert done.status == 0, done.err
            assert "planted" not in done.out + done.err
        sent = " ".join(running.counts.keys)
    assert all(key in sent for key in keys.values())
    searched = [path for path in Path().rglob("*") if path.is_file()]
    assert {"responses.sqlite", "journal.jsonl", "mlflow.db"} <= {p.name for p in searched}
    for path in searched:
        data = path.read_bytes().lower()
        assert b"planted" not in data, path
        assert b"authorization" not in data, path
        assert b"x-api-key" not in data, path
