"""Lines and files of each room, and the walk of one case through them.

`python -m benchmarks.house [CHECKOUT]`. A walk is the calls between rooms while one case is run,
from composing to the sealed directory. A crossing is a call from one room into another; a back-step
is a crossing against the arrows of `pyproject.toml`: into a room that may import the caller's.
Plugins are called through their contracts, so their groups stand above the framework.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

from benchmarks._measure import result

BEFORE = {"framework": 44_096, "framework + plugins + benchmarks": 65_984}
"""Lines of Python at commit 0e63ac5."""

WALK = """
import collections, os, runpy, sys
root = os.getcwd() + os.sep
rooms, crossings, names = [], collections.Counter(), {}

def room(code):
    path = code.co_filename
    if path not in names:
        part = path.removeprefix(root).split(os.sep) if path.startswith(root) else []
        kept = len(part) > 1 and part[0] in ("framework", "plugins")
        names[path] = part[0] + "." + part[1].removesuffix(".py") if kept else None
    return names[path]

def watch(frame, event, arg):
    if event == "call" and frame.f_code.co_name != "<module>":
        here, caller = room(frame.f_code), frame.f_back
        while caller is not None and (room(caller.f_code) is None):
            caller = caller.f_back
        if here and caller is not None and (there := room(caller.f_code)) != here:
            crossings[there, here] += 1
            if here not in rooms:
                rooms.append(here)

opened = collections.Counter()

def hear(event, args):
    if event == "open" and isinstance(args[0], str) and f"walk-{os.getpid()}" in args[0]:
        if args[1] is None or "r" in str(args[1]) and "+" not in str(args[1]):
            opened[os.path.basename(args[0])] += 1

sys.addaudithook(hear)
sys.argv = ["run.py", "domain=loan", "arch=bm25", "budget=tight", "n_cases=1", "tracking=none",
            f"run_name=walk-{os.getpid()}", *sys.argv[1:]]
sys.setprofile(watch)
try:
    runpy.run_path("run.py", run_name="__main__")
except SystemExit:
    pass
sys.setprofile(None)
import json
print("WALK " + json.dumps([rooms, [[*k, n] for k, n in crossings.items()], opened]))
"""


def lines_of(checkout: Path) -> dict[str, tuple[int, int]]:
    """Files and lines of Python by room."""
    found: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for top in ("framework", "plugins", "benchmarks", "hydra_plugins", "tests"):
        for path in (checkout / top).rglob("*.py"):
            part = path.relative_to(checkout).parts
            room = top if top in ("tests", "benchmarks") else "/".join(part[:2])
            found[room] += len(path.read_text(encoding="utf-8").splitlines())
            files[room] += 1
    return {room: (files[room], found[room]) for room in sorted(found)}


def ranks_of(checkout: Path) -> dict[str, int]:
    """How high each room of framework stands, by the layer contract; plugins above all."""
    config = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = config["tool"]["importlinter"]["contracts"]
    layers = next(c for c in contracts if c["type"] == "layers")["layers"]
    return {
        f"framework.{name}": len(layers) - height
        for height, layer in enumerate(layers)
        for name in re.findall(r"\w+", layer)
    }


def walk_of(checkout: Path) -> tuple[list[str], Counter[tuple[str, str]], Counter[str]]:
    """The rooms that one case enters, in order; the crossings; how often a file is read again."""
    done = subprocess.run(
        [sys.executable, "-c", WALK], cwd=checkout, capture_output=True, text=True, check=False
    )
    line = next(line for line in done.stdout.splitlines() if line.startswith("WALK "))
    rooms, crossings, opened = json.loads(line.removeprefix("WALK "))
    return rooms, Counter({(a, b): n for a, b, n in crossings}), Counter(opened)


def main() -> None:
    checkout = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    rooms = lines_of(checkout)
    for room, (files, lines) in rooms.items():
        print(f"{room:28} {files:5} files {lines:7,} lines")
    totals = {
        "framework": sum(n for room, (_, n) in rooms.items() if room.startswith("framework/")),
        "framework + plugins + benchmarks": sum(
            n for room, (_, n) in rooms.items() if room != "tests"
        ),
    }
    ranks = ranks_of(checkout)
    entered, crossings, opened = walk_of(checkout)
    back = Counter(
        {
            (a, b): n
            for (a, b), n in crossings.items()
            if a.startswith("framework") and b.startswith("framework")
            if ranks.get(b, 0) > ranks.get(a, 0)
        }
    )
    print(f"\none case enters {len(entered)} rooms: {', '.join(entered)}")
    print(f"{len(crossings)} kinds of crossing, {crossings.total():,} in all")
    print(f"{len(back)} kinds of back-step, {back.total():,} in all")
    for (a, b), n in back.most_common():
        print(f"  {a} -> {b}: {n}")
    print("files of the run that are read, and how often:")
    print("  " + ", ".join(f"{name} {n}" for name, n in opened.most_common()))
    results = [
        result(f"lines of {name}", lines, BEFORE[name], "commit 0e63ac5", "lines", 1, digits=3)
        for name, lines in totals.items()
    ]
    print(json.dumps(results))


if __name__ == "__main__":
    main()
