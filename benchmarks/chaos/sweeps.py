"""Faults of sweeps, of clocks, of files that two write, and of MLflow's store."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path

from benchmarks.chaos.faults import fault
from benchmarks.chaos.hostile import Answer, answers, serving
from benchmarks.chaos.trial import RUN, Place, asking

_SWEEP = ("-m", *RUN[:-1], "hydra.sweep.dir=s", "report=false", "n_cases=2", "gate=open")
_RETRIEVED = (*_SWEEP, "protocol=retrieve", "arch=bm25,last_mention")


_LATER = (*RUN[:-2], "tracking=mlflow", "protocol=retrieve", "report=false", "n_cases=2")
NOBODY = {"MLFLOW_TRACKING_URI": "http://127.0.0.1:9"}
"""An address where nobody answers."""


def _slowly(answer: Answer) -> Answer:
    """The answer, half a second later."""
    import time

    def late(handler: object) -> None:
        time.sleep(0.5)
        answer(handler)  # type: ignore[arg-type]

    return late


_LOST = "; N calls whose answer never came may have been billed as well, at most $N"


def _one_answered(place: Place) -> bool:
    """Whether a case of the sweep has ended, so that a call is in its account."""
    journals = (place.path / "s").glob("*/journal.jsonl")
    return any(b"case.finished" in journal.read_bytes() for journal in journals)


for _signal in (signal.SIGINT, signal.SIGTERM):

    @fault("sweep", f"{_signal.name} while a server answers, then resumed")
    def _signalled(place: Place, number: signal.Signals = _signal) -> str:
        with serving(_slowly(answers("Paris"))) as url:
            words = [word for word in asking(url) if not word.startswith(("hydra", "arch"))]
            process = place.start(
                "run", "-m", *words, "arch=bm25,last_mention", "hydra.sweep.dir=s", "report=false"
            )
            place.waits(process, lambda: _one_answered(place))
            process.send_signal(number)
            ended = place.ended(process)
            told = f"{ended}; {place.run('run', 'resume=s')}; {place.run('verify', 's')}"
            return told.replace(_LOST, "")  # whether any was under way hangs on the machine


@fault("sweep", "the disk is full in a job, then resumed")
def _full(place: Place) -> str:
    ended = place.ended(place.start("run", *_RETRIEVED, file_bytes=12_000))
    return f"{ended}; {place.run('run', 'resume=s')}; {place.run('verify', 's')}"


def _swept(place: Place) -> Path:
    assert place.run("run", *_RETRIEVED).startswith("0")
    return place.path / "s"


for _name, _old, _new in (
    ("sweep.json", b'"mean"', b'"maen"'),
    ("sweep_plan.json", b'"arch=bm25"', b'"arch=none"'),
    ("comparison.csv", b"0.", b"1."),
):
    _plan = _name == "sweep_plan.json"  # it says what is still to be run, so a resumption reads it
    _then = "verified and resumed" if _plan else "verified"

    @fault("sweep", f"{_name} edited, then {_then}")
    def _edited(
        place: Place, name: str = _name, old: bytes = _old, new: bytes = _new, plan: bool = _plan
    ) -> str:
        file = _swept(place) / name
        before = file.read_bytes()
        file.write_bytes(before.replace(old, new, 1))
        told = "; NOT EDITED" * (file.read_bytes() == before)
        return (
            place.run("verify", "s") + (f"; {place.run('run', 'resume=s')}" if plan else "") + told
        )


@fault("sweep", "a job's rows edited, then verified")
def _rows(place: Place) -> str:
    (rows, *_) = sorted(_swept(place).glob("*/rows.parquet"))
    rows.write_bytes(rows.read_bytes()[:-1] + b"x")
    return place.run("verify", "s")


@fault("sweep", "a job taken away, then verified")
def _taken(place: Place) -> str:
    (job, *_) = sorted(_swept(place).glob("*/journal.jsonl"))
    job.parent.rename(place.path / "elsewhere")
    return place.run("verify", "s")


_BACK = """
import datetime, time
from framework.store import journal
now, steps = time.time, [0]
def back():
    steps[0] += 1
    return steps[0] * 86_400
class Back(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.now(tz) - datetime.timedelta(seconds=back())
journal.datetime = Back
time.time = lambda: now() - back()
"""


@fault("clock", "steps back a day whenever it is read")
def _clock(place: Place) -> str:
    with serving(answers("Paris")) as url:
        ran = place.ended(place.start(*asking(url), "max_cost_usd=1", first=_BACK))
    reported = place.ended(place.start("report", "r", first=_BACK))
    return "; ".join([ran, reported, place.run("verify", "r")])


def _both(place: Place, *commands: Sequence[str], first: str = "") -> str:
    """Two commands at once: their outcomes, in the order of the alphabet."""
    begun = [place.start(*command, first=first) for command in commands]
    return "; ".join(sorted(place.ended(process) for process in begun))


_REFUSALS = (
    "error: r exists already; resume it with resume=r",
    "error: another process is writing the journal r/journal.jsonl",
)
"""Of the second in a directory: which of them hangs on how far the first has come."""


@fault("two at once", "runs in one directory")
def _same_run(place: Place) -> str:
    with serving(_slowly(answers("Paris"))) as url:
        both = _both(place, asking(url), asking(url))
    for said in _REFUSALS:
        both = both.replace(said, "error: the directory is another's, said in one of two ways")
    return f"{both}; {place.run('verify', 'r')}"


@fault("two at once", "reports of one run")
def _same_report(place: Place) -> str:
    with serving(answers("Paris")) as url:
        place.ask(url, "report=false")
    both = _both(place, ("report", "r"), ("report", "r"))
    left = [str(p) for p in place.path.rglob("*draft*")]
    return f"{both}; {place.run('verify', 'r')}" + f"; LEFT {left}" * bool(left)


@fault("two at once", "resumptions of one run")
def _same_resume(place: Place) -> str:
    with serving(_slowly(answers("Paris"))) as url:
        process = place.start(*asking(url), "model.concurrency=1", "n_cases=4")
        place.waits(process, lambda: (place.path / "r" / "journal.jsonl").exists())
        process.kill()
        place.ended(process)
        both = _both(place, ("run", "resume=r"), ("run", "resume=r"))
    return f"{both}; {place.run('verify', 'r')}"


@fault("two at once", "resumptions of one sweep, each with other operational settings")
def _same_sweep(place: Place) -> str:
    with serving(_slowly(answers("Paris"))) as url:
        words = [word for word in asking(url) if not word.startswith(("hydra", "arch", "n_cases"))]
        slow = ("model.concurrency=1", "repeats=3", "report=false", "hydra.sweep.dir=s")
        process = place.start("run", "-m", *words, "arch=bm25,last_mention", *slow)
        place.waits(process, lambda: _one_answered(place))
        process.kill()
        place.ended(process)
        again = ("run", "resume=s")
        both = _both(place, (*again, "model.retries=0"), (*again, "model.retries=2"))
    return f"{both.replace(_LOST, '')}; {place.run('verify', 's')}"


@fault("two at once", "runs with one cache and one cap")
def _same_cache(place: Place) -> str:
    more = ("model.cache=c.sqlite", "max_cost_usd=1", "report=false")
    with serving(_slowly(answers("Paris"))) as url:
        first, second = asking(url), tuple(w.replace("dir=r", "dir=q") for w in asking(url))
        both = _both(place, (*first, *more), (*second, *more))
    return f"{both}; {place.run('verify', 'r')}; {place.run('verify', 'q')}"


@fault("two at once", "uploads to a new store of MLflow")
def _same_store(place: Place) -> str:
    for name in ("r", "q"):
        place.run(*_LATER, f"hydra.run.dir={name}", env=NOBODY)
    both = _both(place, ("sync", "r"), ("sync", "q"))
    left = sorted(p.name for p in (place.path / "mlruns").glob(".*"))
    return both + f"; LEFT {left}" * bool(left)


_SLOWLY = """
import time
from framework.store import openings, register
def slowly(read):
    def late(path):
        found = read(path)
        time.sleep(1)
        return found
    return late
register.locks, openings.entries = slowly(register.locks), slowly(openings.entries)
"""
"""Whoever reads a register writes to it a second later, so that two surely meet."""
_PLAN = """
title: {title}
stop: fixed
hypotheses:
  - {{name: a, claim: c, role: primary, arm: bm25, against: none, axis: eda, budget: tight,
     direction: higher, margin: 0.1, test: paired, alpha: 0.05, n: 10}}
"""


@fault("two at once", "pre-registrations locked in one register, then the same one twice")
def _same_register(place: Place) -> str:
    for name in ("a", "b", "c"):
        (place.path / f"{name}.yaml").write_text(_PLAN.format(title=name))
    told = [
        _both(place, ("prereg", "lock", one), ("prereg", "lock", other), first=_SLOWLY)
        for one, other in (("a.yaml", "b.yaml"), ("c.yaml", "c.yaml"))
    ]
    told.append(place.run("prereg", "list"))
    return "; ".join(told) + f"; {len(place.said[-2].splitlines())} locked"


_LOOP = (
    "protocol=improve", "target=longmemeval", "tracking=none", "report=false", "domain.sessions=6",
    "protocol.pool=24", "protocol.optimize=6", "protocol.confirm=6", "protocol.test=6",
    "protocol.max_candidates=1",
)  # fmt: skip


@fault("two at once", "improvement loops that open the same held-out cases")
def _same_opening(place: Place) -> str:
    loops = [(*_LOOP, f"hydra.run.dir={name}") for name in ("q", "r")]
    told = [_both(place, *loops, first=_SLOWLY)]
    told += [place.run("verify", name) for name in ("q", "r")]
    opened = (place.path / "openings.jsonl").read_text().splitlines()
    flagged = sum("had been opened before" in said for said in place.said)
    return "; ".join(told) + f"; {len(opened)} opened, {flagged} told of the other"


@fault("MLflow", "the disk is full while its tables are made, then again")
def _half(place: Place) -> str:
    process = place.start(*_LATER, "hydra.run.dir=r", file_bytes=200_000)
    return f"{place.ended(process)}; {place.run('sync', 'r')}"
