"""Third-party memory systems beside ours, in one table: `make memories`, or with `REPLAY=1`.

Without --replay every system whose mapping ships and that is on this machine is asked; a run that
was cut off goes on, and nothing is asked twice. With --replay the recorded exchanges answer, none
of the systems is needed, and rows are compared with those recorded. --keep records what is measured
here. --model measures all arms with another model or encoder, each in a directory of its own:
`make memories ARGS='--model "model=openai model.name=... embedder=e5"'`.

No number of these tables says anything about a product (docs/results/memories.md).
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Final

from benchmarks.memory_tables import (
    ALSO,
    ARMS,
    BUDGETS,
    LIKE,
    by_depth,
    depths_head,
    differences,
    differences_head,
    option_of,
    table,
)
from framework.analysis.evidence import Job
from framework.contracts import Arch, ArchContext
from framework.engine.compose import compose_plan, composer
from framework.errors import UserError
from framework.records import EMPTY, Row
from framework.reporting.markdown import put_between_markers
from framework.rows import measured
from framework.store.directory import ANSWERS
from framework.store.state import read_run
from framework.text.canonical import digest

ROOT: Final = Path(__file__).resolve().parent.parent
RECORDED: Final = ROOT / "benchmarks" / "recorded" / "memories"
ROWS: Final = RECORDED / "rows.json"
DATA: Final = ROOT.parent / "shared" / "data"
MODEL: Final = "model=local model.max_tokens=300"
"""Without the limit the packaged model runs on to the end of what a system allows, 2,000 tokens."""
HEAD: Final = 6
"""Cases, from the first, whose rows are recorded apart: as many as a test runs again."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Cases that all arms get.

    file : of a data set that is no part of the package. small : whether it is for systems that ask
    a language model at every write; the others are measured on the large ones. limit : results that
    a system is asked for, where a history may have more events than the shipped limit: no arm of
    ours has one, so that the budget alone must cut. also : arms of ours beside the usual ones.
    """

    name: str
    overrides: tuple[str, ...]
    file: str = ""
    small: bool = False
    limit: int | None = None
    also: tuple[str, ...] = ()


_DEPTHS: Final = (1, 2, 3, 4)
_GOVERNANCE: Final = ("domain=governance", f"domain.depths=[{','.join(map(str, _DEPTHS))}]")
_LOCOMO: Final = ("domain=locomo", "n_cases=null", "domain.unknown_file=true")
_CONVERSATIONS: Final = "locomo/locomo_first5.json"
_SESSIONS: Final = 3
_QUESTIONS: Final = 9
"""Of the first conversation, where a system asks a model at every write."""
_ALL: Final = 1_000
"""More than any history has events (501 at most)."""
SETTINGS: Final = (
    Setting(
        name="governance",
        overrides=(*_GOVERNANCE, "domain.tasks_per_history=5", "n_cases=60"),
        limit=_ALL,
    ),
    Setting(name="loan", overrides=("domain=loan", "n_cases=60")),
    Setting(
        name="office_numbers",
        overrides=("domain=office", "domain.aliases=0", "n_cases=96"),
        limit=_ALL,
        also=ALSO,
    ),
    Setting(name="office", overrides=("domain=office", "n_cases=96"), limit=_ALL, also=ALSO),
    Setting(
        name="longmemeval",
        overrides=("domain=longmemeval", "n_cases=null"),
        file="longmemeval/snapshot.json",
        limit=_ALL,
    ),
    Setting(name="locomo", overrides=_LOCOMO, file=_CONVERSATIONS, limit=_ALL),
    Setting(
        name="governance_60_records",
        overrides=(*_GOVERNANCE, "domain.items=60", "domain.tasks_per_history=3", "n_cases=3"),
        small=True,
    ),
    Setting(name="loan_2", overrides=("domain=loan", "n_cases=2"), small=True),
    Setting(name="locomo_3_sessions", overrides=_LOCOMO, file=_CONVERSATIONS, small=True),
)


@dataclass(frozen=True, kw_only=True)
class System:
    """A shipped mapping of a real system. asks : whether it asks a language model of the run's.

    missing : why it can't be asked, or replayed, here; empty where it can.
    """

    name: str
    version: str
    asks: bool
    missing: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure or replay, and print the tables. The status: 1 where replayed rows differ."""
    parser = argparse.ArgumentParser(
        prog="make memories", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--replay", action="store_true", help="from the recorded exchanges alone")
    parser.add_argument("--settings", help=f"of {', '.join(one.name for one in SETTINGS)}")
    parser.add_argument("--systems", help="these alone, with commas")
    parser.add_argument("--recorded", action="store_true", help="where a recording was begun")
    parser.add_argument("--model", default="", help="overrides of all arms: a model, an encoder")
    parser.add_argument(
        "--data", type=Path, default=DATA, metavar="DIR", help="where the published files are"
    )
    parser.add_argument("--keep", action="store_true", help="record what is measured here")
    parser.add_argument(
        "--into",
        action="append",
        default=[],
        metavar="PATH",
        help="write the tables there; to PATH#near, or #...-near, the differences from ours; to "
        "PATH#depths retention by causal depth",
    )
    args = parser.parse_args(arguments)
    if args.model and (args.replay or args.keep or args.recorded):
        parser.error("--model: what is recorded was asked of the packaged model, with hashed words")
    runs = Path("runs") / ("memories_replayed" if args.replay else "memories")
    if args.model:
        runs = Path("runs") / f"memories_{digest(shlex.split(args.model)).partition(':')[2][:12]}"
    if args.replay:
        shutil.rmtree(runs, ignore_errors=True)
    kept, axes, canaries = _recorded_rows()
    systems = shipped(replay=args.replay)
    if args.systems:
        systems = [one for one in systems if one.name in args.systems.split(",")]
    if not args.replay:
        systems = [probed(one, canaries, shlex.split(args.model)) for one in systems]
    chosen = args.settings.split(",") if args.settings else [one.name for one in SETTINGS]
    parts, differ, near, deep = list[str](), list[str](), list[str](), list[str]()
    for setting in (one for one in SETTINGS if one.name in chosen):
        asked = [s for s in systems if s.asks == setting.small and not missing(s, setting, args)]
        words = cases_of(setting, args.data, runs)
        if words is None:
            parts.append(f"`{setting.name}` is not run: {setting.file} is not here.")
        if words is None or (setting.small and not asked):
            continue
        jobs, failed = measure(setting, words, asked, runs, args)
        asked = [one for one in asked if one.name not in failed]
        for name, why in failed.items():
            parts.append(f"`{name}` is not measured on {setting.name}: {why}.")
        columns = axes.setdefault(setting.name, axes_of(jobs))
        places = {s.name: exchanges(s, setting, runs, args) for s in asked}
        found = known(jobs, places, columns)
        if args.replay:
            recorded = kept.get(setting.name, {})
            differ += [f"{setting.name}, {one}" for one in differing(found, recorded, failed)]
            found = {arm: {**own, **_unrepeated(recorded, arm)} for arm, own in found.items()}
        kept.setdefault(setting.name, {}).update(found)
        parts.append(table(setting.name, jobs, {s.name: s.version for s in asked}, found, canaries))
        print(parts[-1], end="\n\n", flush=True)
        near += differences(setting.name, jobs)
        deep += [] if setting.small else by_depth(setting.name, jobs, _DEPTHS)
    if args.keep and not args.replay:
        now, before, _ = _recorded_rows()
        now |= {name: kept[name] for name in chosen if name in kept}
        whole = {"axes": axes | before, "canaries": canaries, "rows": now}
        ROWS.write_text(json.dumps(whole, indent=1, sort_keys=True) + "\n")
    left = [f"- `{s.name}` ({s.version}): {s.missing}" for s in systems if s.missing]
    if left:
        parts.append("\n".join(["Not run:", "", *left]))
        print(parts[-1])
    for place in args.into:
        name = place.partition("#")[2]
        if name.endswith("near"):
            text = "\n".join([*differences_head(), *near])
        elif name == "depths":
            text = "\n".join([*depths_head(_DEPTHS), *deep])
        else:
            text = "\n\n".join(parts)
        put_between_markers(place, text)
    for line in differ:
        print(f"not as recorded: {line}", file=sys.stderr)
    return int(bool(differ))


def _recorded_rows() -> tuple[dict[str, Any], dict[str, list[str]], dict[str, list[str]]]:
    """By setting what is recorded of rows, by arm (`known`), and the axis columns in it.

    And, by system, the canaries that failed when it was last probed.
    """
    found: dict[str, Any] = json.loads(ROWS.read_text()) if ROWS.is_file() else {}
    return found.get("rows", {}), found.get("axes", {}), found.get("canaries", {})


def probed(system: System, canaries: dict[str, list[str]], by: Sequence[str]) -> System:
    """Run a system's canaries before anything is measured with it; what fails goes to `canaries`.

    One that asks a model at every write has none run: they would ask more than its measurement.
    by : overrides of all arms. Returns the system, as missing where it does not come to an end.
    """
    if system.missing or system.asks:
        return system
    done = subprocess.run(
        [sys.executable, "-m", "framework", "probe", system.name, *by],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    if done.returncode > 1 or not lines or not lines[-1].startswith(f"{system.name}: "):
        said = (done.stderr.strip() or "the probe ended without a word").splitlines()
        return replace(system, missing=said[-1])
    failing = {line.split()[1]: line for line in lines if line.startswith("FAIL ")}
    if line := failing.get("answers"):  # nobody is there, and nothing else was asked
        return replace(system, missing=line.partition("reset: ")[2] or line)
    canaries[system.name] = list(failing)
    return system


def axes_of(jobs: Sequence[Job]) -> list[str]:
    """All axis columns of the rows of jobs."""
    return sorted({name for job in jobs for row in job.rows for name in row.axes})


def shipped(*, replay: bool) -> list[System]:
    """The systems whose mapping ships, by name, and whether they can be asked here."""
    found = []
    for file in sorted((ROOT / "conf" / "arch").glob("*.yaml")):
        with composer():
            part = compose_plan([f"arch={file.stem}"]).parts["arch"]
        cls = part.plugin.cls
        if not cls.adapted:
            continue
        why = "" if _recorded(RECORDED / file.stem) else "nothing is recorded of it"
        if not replay:
            why = _missing(cls, part.settings)
        version = part.settings.version
        asks = bool(cls.needs_model)
        found.append(System(name=file.stem, version=version, asks=asks, missing=why))
    return found


def _missing(cls: type[Arch[Any]], settings: Any) -> str:
    """Why a system can't be asked here, in the words of its own check; empty where it can."""
    try:
        cls(settings, ArchContext(budget_tokens=None, client=_LanguageModel()))
    except UserError as error:
        return str(error)
    return ""


class _LanguageModel:
    """The model of a check that asks nothing."""

    kind = "llm"
    identity: ClassVar[Mapping[str, Any]] = EMPTY

    def choose(self, options: Sequence[str]) -> str:
        raise NotImplementedError

    async def ask(self, operation: Any, request: Any) -> Any:
        raise NotImplementedError


def missing(system: System, setting: Setting, args: argparse.Namespace) -> bool:
    """Whether a setting has nothing of a system."""
    known = _recorded(RECORDED / system.name / setting.name)
    return bool(system.missing) or ((args.replay or args.recorded) and not known)


def _recorded(folder: Path) -> bool:
    """Whether any exchange is; a file that holds none was only begun."""
    return any(file.stat().st_size for file in folder.rglob("*.jsonl.gz"))


def cases_of(setting: Setting, data: Path, runs: Path) -> tuple[str, ...] | None:
    """The overrides that choose a setting's cases; None where its data are not in `data`."""
    if not setting.file:
        return setting.overrides
    path = data / setting.file
    if not path.is_file():
        return None
    if setting.file == _CONVERSATIONS:
        text = first_conversation(path, small=setting.small)
        path = runs / f"{setting.name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return (*setting.overrides, f"domain.path={path.resolve()}")


def first_conversation(path: Path, *, small: bool) -> str:
    """The first conversation of a file of LoCoMo's, in the publisher's form.

    small : its first sessions alone, and the first questions whose evidence is in them.
    """
    whole = json.loads(path.read_text(encoding="utf-8"))[0]
    if small:
        said = whole["conversation"]
        dropped = {f"session_{n}" for n in range(_SESSIONS + 1, 1000)}
        whole["conversation"] = {
            name: value
            for name, value in said.items()
            if name.removesuffix("_date_time") not in dropped
        }
        fitting = (
            one
            for one in whole["qa"]
            if (numbers := re.findall(r"D:?(\d+):", " ".join(one["evidence"])))
            and max(map(int, numbers)) <= _SESSIONS
        )
        whole["qa"] = list(islice(fitting, _QUESTIONS))
    return json.dumps([whole])


def exchanges(system: System, setting: Setting, runs: Path, args: argparse.Namespace) -> Path:
    """Where what a system is asked and answers is kept: beside the runs, by another model."""
    return (runs / "exchanges" if args.model else RECORDED) / system.name / setting.name


def measure(
    setting: Setting,
    words: Sequence[str],
    systems: Sequence[System],
    runs: Path,
    args: argparse.Namespace,
) -> tuple[list[Job], dict[str, str]]:
    """The jobs of a setting, and why a system has none: each is a sweep of its own, beside ours."""
    by = shlex.split(args.model)
    swept = {"ours": [f"arch={','.join((*ARMS, *setting.also, *LIKE))}", *by]}
    for system in systems:
        own = [f"arch={system.name}", *by]
        own += [f"arch.exchanges={exchanges(system, setting, runs, args).absolute()}"]
        own += ["arch.replay=true" if args.replay else "arch.canaries=false"]  # asked already
        own += [f"arch.limit={setting.limit}"] if setting.limit else []
        if system.asks and not any(word.startswith("model=") for word in by):
            # Retention needs no answer, and the packaged model takes half a minute for one.
            own += [*shlex.split(MODEL), "protocol=retrieve"]
        swept[system.name] = own
    jobs, failed = [], {}
    for name, own in swept.items():
        directory = runs / setting.name / name
        if why := sweep(directory, [*words, *own]):
            failed[name] = why
            continue
        for path in sorted(directory.glob(f"*/{ANSWERS}")):
            run = read_run(path.parent)
            jobs.append(
                Job(path=run.path, summary=run.summary, manifest=run.manifest, rows=run.rows)
            )
    if "ours" in failed:
        raise UserError(failed["ours"])
    return jobs, failed


def sweep(directory: Path, overrides: Sequence[str]) -> str:
    """Run a sweep, or go on with it; why it ended before its end, else nothing."""
    words = [f"resume={directory}"]
    if not directory.exists():
        words = ["-m", "tracking=none", "report=false", "max_errors=100000"]
        words += ["extra_axes=[traced]", f"budget={','.join(BUDGETS)}"]
        words += [f"hydra.sweep.dir={directory}", *overrides]
    done = subprocess.run(
        [sys.executable, str(ROOT / "run.py"), *words], capture_output=True, text=True, check=False
    )
    if not done.returncode:
        return ""
    said = done.stderr.strip().splitlines()
    return said[-1] if said else f"the sweep ended with status {done.returncode}"


def known(
    jobs: Sequence[Job], exchanges: Mapping[str, Path], axes: Sequence[str]
) -> dict[str, Any]:
    """By arm: digests of its rows by budget, the domain's version, and p95 of its searches in ms.

    exchanges : by system, where its searches are; of other arms the time is that of `recall`.
    axes : the axis columns that the digests are of.
    """
    found: dict[str, dict[str, Any]] = {}
    for job in jobs:
        own = found.setdefault(job.arm, {"rows": {}, "first": {}, "seconds": []})
        own["version"] = job.rows[0].domain_version
        own["rows"][job.budget] = rows_digest(job.rows, axes)
        own["first"][job.budget] = rows_digest(first_rows(job.rows), axes)
        own["seconds"] += [r.timing["recall_s"] for r in job.rows if "recall_s" in r.timing]
    for arm, own in found.items():
        folder = exchanges.get(option_of(arm))
        seconds = own.pop("seconds")
        taken = sorted(seconds if folder is None else _seconds(folder))
        own["p95_ms"] = round(1000 * taken[int(0.95 * (len(taken) - 1))], 1) if taken else None
    return found


def rows_digest(rows: Iterable[Row], axes: Sequence[str]) -> str:
    """Digest of what was measured, of these axis columns alone: a later one changes nothing."""
    kept = (replace(row, axes={n: row.axes[n] for n in axes if n in row.axes}) for row in rows)
    return digest(measured(kept))


def first_rows(rows: Sequence[Row]) -> list[Row]:
    """The rows of the first cases by id."""
    first = sorted({row.case_id for row in rows})[:HEAD]
    return [row for row in rows if row.case_id in first]


def _seconds(folder: Path) -> list[float]:
    """What each recorded search took."""
    lines = (
        line for f in folder.glob("*.gz") for line in gzip.decompress(f.read_bytes()).split(b"\n")
    )
    answers = (json.loads(line) for line in lines if line)
    return [answer["seconds"] for answer in answers if "found" in answer]


def differing(
    found: Mapping[str, Any], recorded: Mapping[str, Any], failed: Mapping[str, str]
) -> list[str]:
    """The arms and budgets whose rows are not those recorded, or that have none.

    found : of the arms that ran. failed : by arm that did not, why.
    """
    rows = {arm: own["rows"] for arm, own in found.items()}
    before = {arm: recorded.get(arm, {}).get("rows", {}) for arm in rows}
    return [f"{arm}: {why}" for arm, why in failed.items()] + [
        f"{arm}, {budget}"
        for arm, own in rows.items()
        for budget in sorted(own.keys() | before[arm].keys())
        if own.get(budget) != before[arm].get(budget)
    ]


def _unrepeated(recorded: Mapping[str, Any], arm: str) -> dict[str, Any]:
    """What the recording says of an arm that no repetition can measure: time."""
    return {name: recorded[arm][name] for name in ("p95_ms",) if arm in recorded}


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(f"make memories: {error}")
