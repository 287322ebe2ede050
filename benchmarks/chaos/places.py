"""Faults of what strangers hand over: texts that are shown elsewhere, links, directories."""

from __future__ import annotations

import csv
import json
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from benchmarks.chaos.faults import fault
from benchmarks.chaos.hostile import answers, serving
from benchmarks.chaos.sweeps import NOBODY
from benchmarks.chaos.trial import MARKER, QUESTIONS, RUN, Place, asking

TEXT = "=1+1<script>alert(1)</script>\x1b[31m\u202e|'\"\n../../x"
_FOLDED = ("<script>alert(1)", "\x1b[", "\u202e")


def _questions(place: Place) -> str:
    """Questions whose ids, titles and texts are hostile, the answers among them."""
    found = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    for number, question in enumerate(found):
        question["_id"] = f"../{number}/{TEXT}"
        question["question"] += TEXT
        question["answer"] = TEXT
        for passage in question["context"]:
            passage[0] = f"{TEXT} {passage[0]}"
        for fact in question["supporting_facts"]:
            fact[0] = f"{TEXT} {fact[0]}"
    (place.path / "hostile.json").write_text(json.dumps(found), encoding="utf-8")
    return f"domain.path={place.path / 'hostile.json'}"


def _shown(place: Place) -> list[str]:
    """Where a hostile text stands as it is."""
    found = []
    for page in place.path.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        found += [f"raw HTML in {page.name}"] * ("<script>alert(1)" in text)
    for table in place.path.rglob("*.csv"):
        cells = table.read_text(encoding="utf-8").replace('"', "").replace("\n", ",").split(",")
        found += [f"a formula in {table.name}"] * any(c.startswith(("=", "@")) for c in cells)
    said = "".join(place.said)
    return found + ["escape codes in the terminal"] * any(mark in said for mark in _FOLDED[1:])


@fault("text", "hostile ids, titles and answers into page, terminal, CSV and MLflow", short=True)
def _hostile(place: Place) -> str:
    path = _questions(place)
    with serving(answers(TEXT, TEXT)) as url:
        words = [path if w.startswith("domain.path") else w for w in asking(url)]
        words = ["tracking=mlflow" if w.startswith("tracking") else w for w in words]
        outcomes = [place.run(*words, "budget=loose")]
    outcomes += [place.run("show", "r", "case=0"), place.run("verify", "r")]
    with closing(sqlite3.connect(place.path / "mlruns" / "mlflow.db")) as store:
        logged = store.execute("SELECT count(*) FROM metrics").fetchone()[0]
    return "; ".join([*outcomes, *([] if logged else ["nothing in MLflow"]), *_shown(place)])


@fault("text", "formulas in questions, answers and names, into comparison.csv and label sheets")
def _formulas(place: Place) -> str:
    (place.path / "mine" / "arch").mkdir(parents=True)
    for name in ("@SUM", "-1+1"):
        (place.path / "mine" / "arch" / f"{name}.yaml").write_text("defaults: [bm25, _self_]\n")
    found = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    for question in found:
        question["question"] = f"=cmd|' /C calc'!A0 {question['question']}"
        for passage in question["context"]:
            passage[1] = [f"\t=1+1;@SUM(1) {sentence}" for sentence in passage[1]]
    (place.path / "hostile.json").write_text(json.dumps(found), encoding="utf-8")
    with serving(answers("+1+1", "\r=1+1")) as url:
        words = [w for w in asking(url) if not w.startswith(("domain.path", "arch", "hydra"))]
        swept = place.run(
            "run", "-m", "--config-dir=mine", *words, f"domain.path={place.path / 'hostile.json'}",
            "arch=@SUM,-1+1", "hydra.sweep.dir=s", "report=false",
        )  # fmt: skip
    told = [swept, place.run("verify", "s"), place.run("label", "s", "--out", "verdicts.csv")]
    told.append(place.run("label", "s", "--of", "views", "--out", "views.csv"))
    tables = [*(place.path / "s").glob("*.csv"), *place.path.glob("*.csv")]
    cells = []
    for table in tables:
        with table.open(newline="", encoding="utf-8") as file:
            cells += [cell for row in csv.reader(file) for cell in row]
    taken = [c for c in cells if c.startswith(tuple("=+-@\t\r")) and not _is_number(c)]
    told += [f"A FORMULA {cell!r}" for cell in taken[:1]]
    quoted = {c[1:2] for c in cells if c.startswith("'")}
    return "; ".join(
        [*told, f"{len(tables)} tables", f"with {' '.join(map(ascii, sorted(quoted)))}"]
    )


def _is_number(cell: str) -> bool:
    with suppress(ValueError):
        float(cell)
        return True
    return False


@contextmanager
def _mlflow(place: Place) -> Iterator[str]:
    """MLflow's own server, whose store is in the place."""
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(
        [sys.executable, "-m", "mlflow", "server", "--port", str(port), "--workers", "1",
         "--backend-store-uri", f"sqlite:///{place.path / 'm.db'}",
         "--artifacts-destination", str(place.path / "artifacts"), "--serve-artifacts"],
        cwd=place.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        until = time.monotonic() + 120
        while time.monotonic() < until:
            with suppress(OSError), urllib.request.urlopen(f"{url}/health", timeout=2):
                break
            time.sleep(0.2)
        yield url
    finally:
        import os
        import signal

        os.killpg(process.pid, signal.SIGTERM)
        process.wait(20)


@fault("MLflow", "a live server, while a model's server repeats the key")
def _live(place: Place) -> str:
    with _mlflow(place) as store, serving(answers(MARKER, f"It is {MARKER}.")) as url:
        words = ["tracking=mlflow" if w.startswith("tracking") else w for w in asking(url)]
        ran = place.run(*words, f"tracking.uri={store}")
    with closing(sqlite3.connect(place.path / "m.db")) as database:
        counts = [database.execute(f"SELECT count(*) FROM {t}").fetchone()[0]
                  for t in ("params", "tags", "metrics")]  # fmt: skip
    files = sum(p.is_file() for p in (place.path / "artifacts").rglob("*"))
    return ran if all(counts) and files else f"{ran}; NOTHING THERE {counts} {files}"


def _run(place: Place) -> Path:
    ran = place.run("run", *RUN, "protocol=retrieve", "report=false", "n_cases=2")
    assert ran.startswith("0"), ran
    return place.path / "r"


_OWN = "what the user wrote"


@fault("links", "a run whose figures/ is a link to the user's pictures, then reported", short=True)
def _figures(place: Place) -> str:
    run, own = _run(place), place.path / "pictures"
    own.mkdir()
    (own / "mine.svg").write_text(_OWN)
    (run / "figures").symlink_to(own)
    told = place.run("report", "r")
    kept = [p.name for p in own.iterdir()] == ["mine.svg"]
    return told + "; THE USER'S PICTURES ARE CHANGED" * (not kept)


@fault("links", "a run with links in the places of drafts, then reported")
def _drafts(place: Place) -> str:
    run, own = _run(place), place.path / "mine.txt"
    own.write_text(_OWN)
    for name in ("report.html", "report.md"):
        (run / name).symlink_to(own)
        (run / f"{name}.draft").symlink_to(own)
    told = place.run("report", "r")
    return told + "; THE USER'S FILE IS CHANGED" * (own.read_text() != _OWN)


@fault("links", "a run whose report is a link to a file of the user's, then uploaded")
def _uploaded(place: Place) -> str:
    words = (*RUN[:-2], "tracking=mlflow", "hydra.run.dir=r", "protocol=retrieve", "n_cases=2")
    place.run(*words, "report=false", env=NOBODY)
    run, own = place.path / "r", place.path / "mine.txt"
    own.write_text(_OWN)
    (run / "report.html").symlink_to(own)
    (run / "figures").mkdir()
    (run / "figures" / "forest-0.svg").symlink_to(own)
    told = place.run("sync", "r")
    sent = [p for p in (place.path / "mlruns").rglob("*") if p.is_file() and p.suffix != ".db"]
    leaked = any(_OWN.encode() in p.read_bytes() for p in sent)
    return told + "; THE USER'S FILE IS UPLOADED" * leaked


for _name in ("answers.jsonl", "journal.jsonl", "manifest.json", "rows.parquet"):

    @fault("links", f"a run whose {_name} is a link to a device, then verified")
    def _device(place: Place, name: str = _name) -> str:
        run = _run(place)
        (run / name).unlink()
        (run / name).symlink_to("/dev/zero")
        return place.run("verify", "r")


for _kind, _spec in (
    ("a spec that names Python", "name: !!python/object/apply:os.system ['touch owned']\n"),
    ("a spec that reads the environment", "name: ${oc.env:OPENAI_API_KEY}\n"),
    ("a spec that is a device", ""),
):

    @fault("files", _kind)
    def _stranger(place: Place, spec: str = _spec) -> str:
        if spec:
            (place.path / "spec.yaml").write_text(spec)
        path = "spec.yaml" if spec else "/dev/zero"
        told = place.run("run", "domain=loan", f"domain.spec={path}", "tracking=none")
        return told + "; OWNED" * (place.path / "owned").exists()


for _what, _words in (
    ("given as the name of its variable", (f"model.api_key_env={MARKER}",)),
    ("given in the query of base_url", (f"model.base_url='http://127.0.0.1:9/v1?key={MARKER}'",)),
):

    @fault("key", _what)
    def _key(place: Place, words: tuple[str, ...] = _words) -> str:
        return place.run(*asking("http://127.0.0.1:9"), *words)

    @fault("key", f"{_what}, where no variable has it")
    def _unknown(place: Place, words: tuple[str, ...] = _words) -> str:
        keys = {"OPENAI_API_KEY": "another-key-0123456789", "ANTHROPIC_API_KEY": ""}
        return place.run(*asking("http://127.0.0.1:9"), *words, env=keys)


def _twice(run: Path) -> None:
    file = run / "manifest.json"
    file.write_bytes(file.read_bytes().replace(b"{", b'{"seed": 8, ', 1))


def _like_a_report(run: Path) -> None:
    (run / "report.x").write_text(_OWN)


def _in_baseline(run: Path) -> None:
    (run / "baseline").mkdir()
    (run / "baseline" / "x").write_text(_OWN)


for _what, _change in (
    ("a key put before its like in manifest.json", _twice),
    ("a file named report.x", _like_a_report),
    ("a file in baseline/", _in_baseline),
):

    @fault("finished run", f"{_what}, then verified")
    def _tampered(place: Place, change: Callable[[Path], None] = _change) -> str:
        run = _run(place)
        change(run)
        told = place.run("verify", "r")
        return f"{told}; {place.said[-2].splitlines()[0]}" if place.said[-2] else told


_BOMB = "x0: &x0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 10)}]\n" for n in range(1, 10)
)


@fault("files", "aliases that make 10^10 values, in a directory of hydra.searchpath")
def _searched(place: Place) -> str:
    (place.path / "mine" / "arch").mkdir(parents=True)
    (place.path / "mine" / "arch" / "bomb.yaml").write_text(_BOMB)
    return place.run("run", *RUN, "hydra.searchpath=[file://mine]", "arch=bomb")


@fault("finished run", "the disk is full, then reported")
def _unwritable(place: Place) -> str:
    _run(place)
    return place.ended(place.start("report", "r", file_bytes=0))


@fault("finished run", "may only be read, then reported")
def _read_only(place: Place) -> str:
    run = _run(place)
    run.chmod(0o555)
    try:
        return place.ended(place.start("report", "r", may_write=False))
    finally:
        run.chmod(0o755)


@fault("run", "the disk is full while it goes on, then resumed")
def _full(place: Place) -> str:
    ended = place.ended(place.start("run", *RUN, "report=false", file_bytes=12_000))
    return f"{ended}; {place.run('run', 'resume=r')}; {place.run('verify', 'r')}"
