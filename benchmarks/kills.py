"""Kill runs of four third-party memory systems at random moments, go on with each, and compare.

    python -m benchmarks.kills [--kills N] [--seed N] [--record FILE]

The systems are one in sh, one in Python whose searches are counted in a file as paid, one in Python
that asks a language model at every write, whose calls a server of ours counts there too, and
`server_memory`, or a toy in its place where its environment is not made. A run is killed (SIGKILL)
again and again until it is done. Then no row may be lost or doubled; nothing may have been paid for
twice, what was under way at the moment of a kill included (`paid_again`; `answered_ms` is how long
before its kill the answer was out, where it was; `kept` how many calls and searches were under way
at a kill and were not asked again); no view may be over the budget; where the system is declared
deterministic, the rows of two undisturbed runs are the same, and those of the killed one too. A
paid answer takes PAID_S seconds, so that kills hit some that are under way.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from framework.engine.compose import compose_plan, composer
from framework.rows import measured
from framework.store import verify_run
from framework.store.state import load_state
from framework.text.canonical import digest

ROOT: Final = Path(__file__).resolve().parent.parent
STUBS: Final = ROOT / "tests" / "plugins" / "archs" / "external"
BRIDGE: Final = ROOT / "plugins" / "archs" / "external" / "systems"
LEDGER: Final = "paid.jsonl"
_CASES: Final = 6
RUN: Final = (
    "domain=loan",
    "protocol=retrieve",
    f"n_cases={_CASES}",
    "tracking=none",
    "arch.canaries=false",
    "report=false",
)
PAID_S: Final = 0.1


class Model(ThreadingHTTPServer):
    """A language model that says every text again, and writes down what it was paid for."""

    def __init__(self, ledger: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.ledger, self.lock = ledger, threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request: object, client_address: object) -> None:
        """Whoever asked was killed: half a question, or nobody who takes the answer."""


class _Answer(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:  # the name that the class looks for
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._note({"search": asked["messages"], "time": time.time()})
        time.sleep(PAID_S)
        said = {"message": {"content": asked["messages"][-1]["content"]}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1}
        body = json.dumps({"choices": [said], "usage": usage, "model": "counted"}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self._note({"search": asked["messages"], "answered": time.time()})

    def _note(self, line: Mapping[str, Any]) -> None:
        with self.server.lock, self.server.ledger.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(line)}\n")

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


def systems(place: Path) -> dict[str, dict[str, Any]]:
    """The mappings, by name."""
    python = [sys.executable, "-S", "-E"]
    paid = [str(place / LEDGER), str(PAID_S)]
    found: dict[str, dict[str, Any]] = {
        "shell": {"command": ["sh", str(STUBS / "memory.sh")], "deterministic": True},
        "counted": {"command": [*python, str(STUBS / "counted.py"), *paid]},
        "caller": {
            "command": [sys.executable, str(STUBS / "caller.py"), str(BRIDGE)],
            "models": {"chat": True, "embeddings": True},
        },
    }
    with composer():
        shipped = compose_plan(["arch=server_memory"]).parts["arch"].settings
    if not shipped.own_environment.is_there:
        command = [*python, str(STUBS / "toy.py")]
        found["toy"] = {"command": command, "deterministic": True}
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Kill, go on, compare. The status: 1 where something was lost, doubled or paid twice."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=16)
    parser.add_argument("--record", type=Path, help="write what was found there too")
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        found = killed(Path(scratch), args.kills, args.seed)
    text = json.dumps(found, indent=1)
    print(text)
    if args.record is not None:
        args.record.write_text(f"{text}\n", encoding="utf-8")
    return int(bool(found["problems"]))


def killed(place: Path, kills: int, seed: int) -> dict[str, Any]:
    """How many kills hit what, and what was wrong after them."""
    rng = random.Random(seed)
    mapped = systems(place)
    (place / "arch").mkdir()
    for name, mapping in mapped.items():
        text = json.dumps({"defaults": ["process", "_self_"], **mapping})
        (place / "arch" / f"{name}.yaml").write_text(text)
    names = [*mapped, *(() if "toy" in mapped else ("server_memory",))]
    model = Model(place / LEDGER)
    seconds, wanted = {}, {}
    hit: Counter[str] = Counter()
    sent, problems = list[float](), list[str]()
    again, answered, kept = Counter[float](), list[float](), 0
    for name in names:
        begun = time.monotonic()
        _finish(place, name, place / f"whole-{name}", model)
        seconds[name] = time.monotonic() - begun
        wanted[name] = measured(load_state(place / f"whole-{name}").rows)
        if mapped.get(name, {}).get("deterministic", False):
            _finish(place, name, place / f"again-{name}", model)
            if digest(measured(load_state(place / f"again-{name}").rows)) != digest(wanted[name]):
                problems.append(f"{name}: two undisturbed runs have other rows")
    (place / LEDGER).unlink(missing_ok=True)
    attempt = 0
    while hit.total() < kills:
        name = names[attempt % len(names)]
        directory = place / f"{name}-{attempt}"
        attempt += 1
        for _ in range(rng.randint(3, 8)):
            after = rng.uniform(0.1, 0.9) * seconds[name]
            if hit.total() == kills or not _kill(after, place, name, directory, sent, model):
                break
            hit[f"{name}: {_where(directory)}"] += 1
        _finish(place, name, directory, model)
        problems += [f"{directory.name}: {p}" for p in _problems(directory, name, mapped, wanted)]
        problems += [f"{directory.name}: {p}" for p in _twice(place, sent, again, answered)]
        kept += _kept(place, sent)
        (place / LEDGER).unlink(missing_ok=True)
        print(f"{hit.total()} kills, {attempt} runs, {problems}", file=sys.stderr, flush=True)
    return {
        "kills": hit.total(),
        "runs": attempt,
        "where": dict(sorted(hit.items())),
        "paid_again": {
            "calls": again.total(),
            "kills": len(again),
            "answered_ms": sorted(round(1000 * one, 1) for one in answered),
        },
        "kept": kept,
        "problems": problems,
    }


def _words(name: str, directory: Path, model: Model) -> list[str]:
    """What begins the run, or goes on with it; its exchanges and responses are beside it."""
    if directory.exists():
        return [f"resume={directory}"]
    kept = f"arch.exchanges={directory}.exchanges"
    words = [f"arch={name}", *RUN, kept, f"hydra.run.dir={directory}"]
    if name == "caller":
        words += ["model=openai", f"model.base_url=http://127.0.0.1:{model.server_port}/v1"]
        words += ["model.api_key_env=null", f"model.cache={directory}.sqlite"]
    return ["--config-dir", str(directory.parent), *words]


def _command(name: str, directory: Path, model: Model) -> list[str]:
    return [sys.executable, str(ROOT / "run.py"), *_words(name, directory, model)]


def _finish(place: Path, name: str, directory: Path, model: Model) -> None:
    command = _command(name, directory, model)
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{directory.name}: {done.stderr}")


def _kill(
    seconds: float,
    place: Path,
    name: str,
    directory: Path,
    sent: list[float],
    model: Model,
) -> bool:
    """Start or go on, and kill after so long; whether it was still running.

    sent : gets when the signal was sent.
    """
    process = subprocess.Popen(
        _command(name, directory, model),
        cwd=place,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        sent.append(time.time())
        process.send_signal(signal.SIGKILL)
        process.wait()
        return True
    return False


def _where(directory: Path) -> str:
    """What a kill hit, as it shows on disk."""
    if not directory.exists():
        return "start"
    state = load_state(directory)
    if state.finished is not None:
        return "after the seal"
    return "between cases" if state.rows else "before the first row"


def _problems(
    directory: Path,
    name: str,
    mapped: Mapping[str, Mapping[str, Any]],
    wanted: Mapping[str, Sequence[Mapping[str, Any]]],
) -> list[str]:
    rows = measured(load_state(directory).rows)
    keys = [row["case_id"] for row in rows]
    found = list(verify_run(directory).problems)
    if sorted(keys) != sorted(row["case_id"] for row in wanted[name]):
        found.append(f"rows of {sorted(keys)}")
    deterministic = mapped.get(name, {}).get("deterministic", False)
    if deterministic and digest(rows) != digest(wanted[name]):
        found.append("other rows than undisturbed")
    found += [f"{row['case_id']}: {row['error']}" for row in rows if row["error"]]
    found += [
        f"{row['case_id']}: a view of {row['view_tokens']} tokens under {row['budget_tokens']}"
        for row in rows
        if row["view_tokens"] > row["budget_tokens"]
    ]
    return [str(one) for one in found]


def _paid(place: Path) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """When each search and call of a model was asked for, and when its answer was out."""
    ledger = place / LEDGER
    lines = ledger.read_text().splitlines() if ledger.is_file() else []
    asked: dict[str, list[float]] = {}
    out: dict[str, list[float]] = {}
    for line in lines:
        told = json.loads(line)
        for times, key in ((asked, "time"), (out, "answered")):
            if key in told:
                times.setdefault(json.dumps(told["search"]), []).append(told[key])
    return asked, out


def _twice(
    place: Path, sent: Sequence[float], again: Counter[float], answered: list[float]
) -> list[str]:
    """Searches and calls of a model that were paid for again.

    again : gets, by the moment of the kill before it, how many were paid for again. answered : gets
    the seconds from an answer to the kill that came before it was kept.
    """
    asked, out = _paid(place)
    found = []
    for search, at in asked.items():
        for moment in at[:-1]:
            kill = next((one for one in sent if one >= moment), 0.0)
            again[kill] += 1
            found.append(f"paid again: {search[:80]}")
            answered += [kill - one for one in out.get(search, ()) if moment <= one < kill]
    return found


def _kept(place: Path, sent: Sequence[float]) -> int:
    """Searches and calls that were under way at a kill, and were not asked again."""
    asked, out = _paid(place)
    return sum(
        len(at) == 1 and any(at[0] <= kill < out[search][0] for kill in sent)
        for search, at in asked.items()
        if search in out
    )


if __name__ == "__main__":
    sys.exit(main())
