"""The faults, each with what it does to a run. A function gives the outcome of its trial."""

from __future__ import annotations

import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.chaos.hostile import (
    BODIES,
    Answer,
    answers,
    body_of,
    drips,
    never_ends,
    packed,
    redirects,
    says,
    sends,
    serving,
)
from benchmarks.chaos.trial import MARKER, RUN, Place, asking

Trial = Callable[[Place], str]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: its group and name in the table, its trial, and whether the short form has it."""

    group: str
    name: str
    trial: Trial
    short: bool = False


FAULTS: Final[list[Fault]] = []


def fault(group: str, name: str, *, short: bool = False) -> Callable[[Trial], Trial]:
    """Put a trial into the table."""

    def add(trial: Trial) -> Trial:
        FAULTS.append(Fault(group, name, trial, short))
        return trial

    return add


def _served(name: str, answer: Answer, *argv: str, short: bool = False) -> None:
    """A server with one answer to all, by each protocol."""
    for provider in ("openai", "anthropic"):

        def trial(place: Place, provider: str = provider) -> str:
            with serving(answer) as url:
                return place.ask(url, *argv, provider=provider)

        fault(f"server ({provider})", name, short=short and provider == "openai")(trial)


_served("drips a byte now and then", drips, "model.retries=0", short=True)
_served("sends without end", never_ends, "model.timeout_s=60")
_served("sends 64 MB in a few KB", packed, short=True)
_served("redirects to another host", redirects("http://localhost:9/x"), short=True)
for _name, _body in BODIES.items():
    _served(f"sends a body that is none: {_name}", sends(_body))
_served("asks to wait for ever", sends(b"{}", 429, Retry_After="nan"), "model.retries=0")
_served(
    "refuses the key and repeats it", sends(f'{{"error":{{"message":"{MARKER}"}}}}'.encode(), 401)
)
_served("fails and repeats the key", sends(f'{{"error":{{"message":"{MARKER}"}}}}'.encode(), 500))
_served("answers", answers("Paris"), short=True)


@fault("signal", "Ctrl-C while a server drips")
def _interrupted(place: Place) -> str:
    with serving(drips) as url:
        process = place.start(*asking(url), "model.timeout_s=600")
        place.waits(process, lambda: (place.path / "r" / "journal.jsonl").exists())
        process.send_signal(signal.SIGINT)
        return place.ended(process)


@contextmanager
def unfinished(place: Place) -> Iterator[Path]:
    """A run that was stopped after some of its cases."""
    with serving(answers("Paris")) as url:
        process = place.start(*asking(url), "model.concurrency=1")
        journal = place.path / "r" / "journal.jsonl"
        place.waits(process, lambda: journal.exists() and b"case.finished" in journal.read_bytes())
        process.kill()
        place.ended(process)
        yield place.path / "r"


def _replace(path: Path, old: bytes, new: bytes) -> None:
    path.write_bytes(path.read_bytes().replace(old, new, 1))


for _file, _old, _new in (
    ("answers.jsonl", b'"error"', b'"errer"'),
    ("config.yaml", b"seed: 7", b"seed: 8"),
    ("manifest.json", b'"seed": 7', b'"seed": 8'),
    ("journal.jsonl", b'"type":"run.started"', b'"type":"run.begun"'),
):

    @fault("unfinished run", f"{_file} edited, then resumed", short=_file == "answers.jsonl")
    def _edited(place: Place, file: str = _file, old: bytes = _old, new: bytes = _new) -> str:
        with unfinished(place) as run:
            _replace(run / file, old, new)
            return place.run("run", "resume=r")


for _what, _said in (
    ("negative", -1000),
    ("absurd", 10**30),
    ("infinite", float("inf")),
    ("of text", "many"),
):
    _served(
        f"says {_what} counts of tokens",
        says('{"answer": "Paris", "evidence": ""}', _said, _said),
        "max_cost_usd=1",
    )
_served("says no counts of tokens", sends(body_of('{"answer": "Paris", "evidence": ""}')))
_served("repeats the key in its answer", answers(MARKER, f"It is {MARKER}."), short=True)
_ESCAPED = "".join(f"\\u{ord(letter):04x}" for letter in MARKER)
_served("repeats the key in escapes", says(f'{{"answer": "{_ESCAPED}", "evidence": ""}}'))


@fault("cache", "is no database", short=True)
def _no_database(place: Place) -> str:
    (place.path / "c.sqlite").write_bytes(b"no database, but long enough to look at" * 100)
    with serving(answers("Paris")) as url:
        return place.ask(url, "model.cache=c.sqlite")


@fault("cache", "is a directory")
def _directory(place: Place) -> str:
    (place.path / "c.sqlite").mkdir()
    with serving(answers("Paris")) as url:
        return place.ask(url, "model.cache=c.sqlite")


@fault("cache", "holds damaged responses")
def _damaged(place: Place) -> str:
    with serving(answers("Paris")) as url:
        place.ask(url, "model.cache=c.sqlite", "hydra.run.dir=first")
        with closing(sqlite3.connect(place.path / "c.sqlite")) as db, db:
            db.execute("UPDATE responses SET response = substr(response, 1, 9)")
        return place.ask(url, "model.cache=c.sqlite")


@fault("files", "an option whose aliases make 10^10 values of it", short=True)
def _bomb(place: Place) -> str:
    (place.path / "mine" / "arch").mkdir(parents=True)
    lists = "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 11))
    (place.path / "mine" / "arch" / "bomb.yaml").write_text(f"a0: &a0 [1, 2]\n{lists}")
    return place.run("run", "--config-dir=mine", *RUN, "arch=bomb")


for _kind, _text in (
    ("aliases that make 10^10 values of it", "a0: &a0 [1]\n" + "".join(
        f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 11)
    )),
    ("100,000 brackets", "[" * 100_000),
    ("a key twice", "name: loan\nname: claims\n"),
    ("no text", "\x00\x01"),
):  # fmt: skip

    @fault("files", f"a spec with {_kind}")
    def _spec(place: Place, text: str = _text) -> str:
        (place.path / "spec.yaml").write_text(text)
        return place.run("run", "domain=loan", "domain.spec=spec.yaml", "tracking=none")


_HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e=1+1|'\"\n../../x"


@fault(
    "text", "an answer of HTML, escape codes, a formula and marks from right to left", short=True
)
def _hostile(place: Place) -> str:
    with serving(answers(_HOSTILE, _HOSTILE)) as url:
        outcomes = [place.ask(url), place.run("report", "r"), place.run("show", "r", "case=0")]
    page = (place.path / "r" / "report.html").read_text(encoding="utf-8")
    found = ["raw HTML in the page"] * ("<script>alert(1)" in page)
    found += ["escape codes in the terminal"] * any("\x1b[31m" in said for said in place.said)
    return "; ".join([*outcomes, *found])


@fault("terminal", "takes ASCII alone")
def _ascii(place: Place) -> str:
    plain = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONIOENCODING": ""}
    with serving(answers("Caf\xe9 \u2028")) as url:
        ran = place.ended(place.start(*asking(url), env=plain))
    return "; ".join([ran, place.run("show", "r", "case=0", env=plain)])


for _what, _word in (
    ("300 characters", f"run_name={'x' * 300}"),
    ("two lines", "run_name='a\nb'"),
    ("the environment", "run_name=${oc.env:OPENAI_API_KEY}"),
    ("the environment, escaped", "run_name=\\${oc.env:OPENAI_API_KEY}"),
):

    @fault("run_name", f"of {_what}")
    def _named(place: Place, word: str = _word) -> str:
        return place.run("run", *RUN[:-1], "protocol=retrieve", word)
