"""Write the tables of the docs again, by their manifest; resumable.

    make results [ARGS="NAME ... | --sample COMMIT | --list"]

`docs/results/manifest.yaml` says of each table what makes it. An entry whose sweep was cut off goes
on where it was. `--sample COMMIT` draws entries, and an arm of each sweep, by the commit's hash, as
many as `SAMPLE_MINUTES` of CPU allow; it runs them again and compares what they say with what is
in the docs: status 1 where something differs. A command is run whole, and only where the manifest
gives its seconds. With names it takes these entries.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Container, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import yaml

from framework.engine.compose import compose_raw, composer, grid
from framework.errors import UserError
from framework.reporting.markdown import between_markers, put_between_markers

ROOT: Final = Path(__file__).resolve().parent.parent
MANIFEST: Final = ROOT / "docs" / "results" / "manifest.yaml"
RUNS: Final = Path("runs") / "results"
SAMPLE_MINUTES: Final = 3
"""Of CPU that a sample may take, by what the manifest says of its entries."""
CHEAP_SECONDS: Final = 30
"""Of CPU that a command may take to be sampled."""
_INTO: Final = "--into="
_NUMBER: Final = re.compile(r"\d*\.\d+|\d+")


def main(arguments: Sequence[str] | None = None) -> int:
    """Make what is asked for. The status."""
    parser = argparse.ArgumentParser(
        prog="make results", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="entries; all without one")
    parser.add_argument("--list", action="store_true", help="print the entries and what they cost")
    parser.add_argument("--sample", metavar="COMMIT", help="run drawn arms and compare")
    args = parser.parse_args(arguments)
    entries = {entry["name"]: entry for entry in yaml.safe_load(MANIFEST.read_text())}
    unknown = set(args.names) - entries.keys()
    if unknown:
        parser.error(f"no entry {', '.join(sorted(unknown))}; there are {', '.join(entries)}")
    chosen = [entries[name] for name in args.names or entries]
    if args.list:
        for entry in chosen:
            made = "before the corrections" if entry["commit"] == "before" else entry["commit"]
            print(f"{entry['name']:<18} {entry['minutes']:>4} min of CPU, made at {made}")
        return 0
    if args.sample:
        drawn = sample_of(chosen, args.sample, None if args.names else SAMPLE_MINUTES)
        found = [
            differing(entry, arms, args.sample) if arms else differing_command(entry, args.sample)
            for entry, arms in drawn
        ]
        return int(any(found))
    for entry in chosen:
        make(entry)
    return 0


def make(entry: dict[str, Any]) -> None:
    """Run an entry, or go on with it, and write its tables. Raises UserError where it fails."""
    if "command" in entry:
        call("-m", *entry["command"])
        return
    directory = RUNS / entry["name"]
    if directory.exists():
        call("run.py", f"resume={directory}")
    else:
        call("run.py", *entry["sweep"], f"hydra.sweep.dir={directory}")
    for place, how in entry["tables"].items():
        put_between_markers(str(ROOT / place), table(directory, how))


def table(directory: Path, how: list[str] | dict[str, list[str]], *, partly: bool = False) -> str:
    """A table of a sweep, by `table` and these words, or tables of recipes by their captions.

    partly : a caption that a recipe does not give is left out; else it raises UserError. The pages
    of recipes stand beside the sweep, which must hold nothing else to be verified.
    """
    if isinstance(how, list):
        return call("-m", "framework", "table", str(directory), *how).strip()
    found = []
    for recipe, captions in how.items():
        page = directory.with_name(f"{directory.name}_recipe")
        words = ("--recipe", recipe, str(directory), "--to", str(page))
        parts = call("-m", "framework", "report", *words).split("\n\n")
        for caption in captions:
            at = [i for i, part in enumerate(parts) if part.startswith(f"*{caption}")]
            if at:
                found += parts[at[0] : at[0] + 2]
            elif not partly:
                raise UserError(f"{recipe} of {directory} has no table {caption!r}")
    return "\n\n".join(found)


def sample_of(
    entries: Sequence[dict[str, Any]], commit: str, minutes: float | None
) -> list[tuple[dict[str, Any], list[str]]]:
    """Entries in an order drawn by the commit, each with an arm drawn by it and those beside it.

    A command has no arms. minutes : of CPU; an entry that would take more than is left is passed
    over. None for no limit.
    """

    def number(*words: str) -> int:
        return int(hashlib.sha256(" ".join((commit, *words)).encode()).hexdigest(), 16)

    found = []
    for entry in sorted(entries, key=lambda entry: number(entry["name"])):
        if entry["sample"] is False:
            continue
        run: list[str] = []
        if "command" in entry:
            cost = entry["seconds"] / 60
        else:
            with composer():
                arms = sorted(arms_of(entry["sweep"]))
            drawn = arms[number(entry["name"], "arm") % len(arms)]
            run = list(dict.fromkeys((drawn, *entry["sample"])))
            cost = entry["minutes"] * len(run) / len(arms)
        if minutes is not None:
            if cost > minutes:
                continue
            minutes -= cost
        found.append((entry, run))
    return found


def differing(entry: dict[str, Any], arms: Sequence[str], commit: str) -> list[str]:
    """Rows of these arms that the docs do not hold as they are; each is printed."""
    directory = RUNS / f"sample-{commit[:8]}-{entry['name']}-{arms[0]}"
    if not directory.exists():
        kept = [w for w in entry["sweep"] if not w.startswith(("arch=", "tracking="))]
        with composer():
            named = compose_raw(_experiment(kept)).get("baseline")
        # Differences from a baseline are only in tables of which the manifest keeps it beside.
        baseline = () if named in arms else (f"baseline={arms[0]}",)
        given = (*kept, f"arch={','.join(arms)}", *baseline, f"hydra.sweep.dir={directory}")
        call("run.py", *given, "tracking=none")  # nobody asked for a run to compare with others
    missing = []
    joint = entry.get("joint", ())
    for place, how in entry["tables"].items():
        made = table(directory, how, partly=True)
        stated = rows(between_markers(str(ROOT / place)), joint)
        new = [row for row in rows(made, joint) if not any(same(row, old) for old in stated)]
        missing += [f"{place}: {row}" for row in new]
    print(f"{entry['name']}: {', '.join(arms)}: {len(missing)} rows differ", flush=True)
    for row in missing:
        print(f"  now {row}")
    return missing


def differing_command(entry: dict[str, Any], commit: str) -> list[str]:
    """Lines of a command's tables that are not those of the docs; each is printed.

    It writes into copies of the pages. Raises UserError where it fails.
    """
    directory = RUNS / f"sample-{commit[:8]}-{entry['name']}"
    words: list[str] = []
    places: dict[str, str] = {}
    for word in entry["command"]:
        place = word.removeprefix(_INTO)
        if place == word:
            words.append(word)
            continue
        path, _, name = place.partition("#")
        copy = directory / path
        if copy not in {Path(made.partition("#")[0]) for made in places.values()}:
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, copy)
        places[place] = f"{copy.absolute()}#{name}".rstrip("#")
        words.append(f"{_INTO}{places[place]}")
    call("-m", *words)
    missing = []
    for place, made in places.items():
        stated, now = (between_markers(p).splitlines() for p in (str(ROOT / place), made))
        pairs = zip_longest(stated, now, fillvalue="")
        missing += [f"{place}: {new or f'no {old}'}" for old, new in pairs if not same(new, old)]
    print(f"{entry['name']}: {len(missing)} lines differ", flush=True)
    for line in missing:
        print(f"  now {line}")
    return missing


def arms_of(overrides: Sequence[str]) -> set[str]:
    """The arms of a sweep: those given, or those of its experiment."""
    named = [word.partition("=")[2] for word in overrides if word.startswith("arch=")]
    if named:
        return {arm for words in named for arm in words.split(",")}
    # Of the rest no word but the experiment names arms, and composing takes one value of each.
    given = _experiment(overrides)
    jobs = grid(given, compose_raw(given))
    return {word.partition("=")[2] for job in jobs for word in job if word.startswith("arch=")}


def _experiment(overrides: Sequence[str]) -> list[str]:
    return [word for word in overrides if word.startswith("+experiment=")]


def rows(table: str, without: Container[str] = ()) -> list[str]:
    """The lines of Markdown tables, without their headings and without the columns of these."""
    found = []
    lines = [line.strip() for line in table.splitlines()]
    headings: list[str] = []
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if not line.startswith("|") or line.startswith("| ---"):
            continue
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if after.startswith("| ---"):
            headings = cells
        elif without:
            kept = [c for h, c in zip(headings, cells, strict=True) if h not in without]
            found.append(f"| {' | '.join(kept)} |")
        else:
            found.append(line)
    return found


def same(a: str, b: str) -> bool:
    """Whether two rows say the same: how many digits are printed depends on the whole table."""
    if _NUMBER.sub("#", a) != _NUMBER.sub("#", b):
        return False
    pairs = zip(_NUMBER.findall(a), _NUMBER.findall(b), strict=True)
    return all(abs(float(x) - float(y)) <= _half_a_digit(x, y) for x, y in pairs)


def _half_a_digit(a: str, b: str) -> float:
    """What rounding alone can put between two numbers; 0 where both have the same digits."""
    places = [len(text.partition(".")[2]) for text in (a, b)]
    return 0.0 if places[0] == places[1] else sum(0.5001 * 10**-n for n in places)


def call(*words: str) -> str:
    """Run Python with these words and give what it prints. Raises UserError where it fails."""
    done = subprocess.run([sys.executable, *words], cwd=ROOT, text=True, stdout=subprocess.PIPE)
    if done.returncode:
        raise UserError(f"{' '.join(words)} ended with status {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(f"make results: {error}")
