"""`write`: what a model wrote and passed is kept, the rest is by template, and it goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from framework.testing.server import ModelServer
from tests.launching import LOAN, framework, run

WORDS = ("domain=loan", "domain.tokens=2000", "n_cases=1", "seed=20", "model=openai")


def notes(user: str) -> list[str]:
    """The sentences that a prompt asks to be said."""
    block = user.partition("What it says:\n")[2].partition("\n\n")[0]
    said = [line.removeprefix("- ").removeprefix("EXACT: ") for line in block.splitlines()]
    return [text if text[-1:] in ".?!" else f"{text}." for text in said if text]


def faithful(operation: str, system: str, user: str) -> str:
    return " ".join(["To the file.", *notes(user)])


@pytest.mark.slow
def test_texts_that_pass_are_kept_and_a_run_takes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    asked: list[str] = []

    def answers(operation: str, system: str, user: str) -> str:
        asked.append(user)
        text = faithful(operation, system, user)
        if "Document: Credit report summary" in user:
            return text + " A bonus of $77,777 was paid."
        if "Kind: letter" in user and "Wrong with the last text" not in user:
            return "Thank you."
        return text

    with ModelServer(answers) as server:
        words = ("write", *WORDS, f"model.base_url={server.url}/v1", "--to", "w.jsonl")
        done = framework(capsys, *words)
        assert done.status == 0, done.err
        lines = Path("w.jsonl").read_text().splitlines()
        records = [json.loads(line) for line in lines[1:]]
        refused = [one for one in records if one["text"] is None]
        assert refused
        assert all(len(one["refused"]) == 3 for one in refused)
        assert all("not in the document: $77,777" in one["refused"][0] for one in refused)
        mended = [one for one in records if one["text"] and one["refused"]]
        assert mended
        assert all(len(one["refused"]) == 1 for one in mended)
        kept = len(records) - len(refused)
        assert f"{kept} of {len(records)} documents in the model's words" in done.out
        assert not any(t["text"] and "77,777" in t["text"] for t in records)

        # Killed within a line: the same command asks for what is lacking, and pays for none twice.
        before, calls = Path("w.jsonl").read_bytes(), server.counts.calls
        cut = before[: len(before) * 2 // 3]
        Path("w.jsonl").write_bytes(cut)
        again = framework(capsys, *words)
        assert again.status == 0, again.err
        assert Path("w.jsonl").read_bytes() == before
        assert server.counts.calls == calls
        other = framework(capsys, *words, "--asks", "2")
        assert "begun with asks 3" in other.mistake

    ran = run(capsys, *LOAN, *WORDS[1:4], "domain.written=w.jsonl", "arch=full_context",
              "protocol=retrieve")  # fmt: skip
    assert ran.status == 0, ran.err
    summary = (ran.directory / "summary.json").read_text() + "".join(
        path.read_text() for path in ran.directory.glob("*.json*")
    )
    assert f"of {len(records)} documents {kept} in the words of" in summary


def test_mistakes_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    to = ("--to", str(tmp_path / "w.jsonl"))
    for words, told in (
        (("domain=governance", "model=openai"), "only documents of regulated domains"),
        (("domain=loan", "model=rule_based"), "a language model is needed"),
        (("domain=loan", "model=openai", "--asks", "0"), "--asks: 0 given"),
        (("domain=loan", "model=openai", "domain.injection=false"), "domain.injection"),
    ):
        assert told in framework(capsys, "write", *words, *to).mistake
    assert not (tmp_path / "w.jsonl").exists()
