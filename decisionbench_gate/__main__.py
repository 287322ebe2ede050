"""`python -m decisionbench_gate`: a branch's memory against that of its base.

Exit status: 0 passed, 2 no verdict, 3 worse, 4 undecided.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from decisionbench_gate.verdict import NoVerdict, Verdict, check_replaceable, judge, measure

NO_VERDICT: Final = 2
STATUS: Final = {"passed": 0, "worse": 3, "undecided": 4}


def main(argv: Sequence[str] | None = None) -> int:
    """Compare and print the verdict in one line, in GitHub's summary of the job too."""
    args = _parser().parse_args(argv)
    try:
        with tempfile.TemporaryDirectory() as scratch:
            found = _judged(args, Path(scratch))
    except NoVerdict as error:
        _tell(f"memory gate: no verdict. {error}")
        return NO_VERDICT
    _tell(found.told)
    print(f"run: {found.run}")
    if found.status == "undecided" and args.undecided == "pass":
        return 0
    return STATUS[found.status]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m decisionbench_gate", description="Fail where a memory is worse."
    )
    parser.add_argument("overrides", nargs="+", metavar="KEY=VALUE", help="as for a run")
    against = parser.add_mutually_exclusive_group(required=True)
    against.add_argument("--baseline", metavar="ARCH|RUN", help="an option of arch, or a run")
    against.add_argument("--base", metavar="COMMIT", help="the same run at this commit of git's")
    parser.add_argument("--install", metavar="COMMAND", help="run in each checkout before its run")
    parser.add_argument("--axes", default="", help="comma-separated; default: those of the gate")
    parser.add_argument("--margin", type=float, default=0.05, help="default: %(default)s")
    parser.add_argument("--undecided", choices=("fail", "pass"), default="fail")
    out = parser.add_argument("--out", type=Path, default=Path("runs/memory-gate"), metavar="DIR")
    out.help = "of the run; one that is there is replaced; default: %(default)s"
    return parser


def _judged(args: argparse.Namespace, scratch: Path) -> Verdict:
    """The verdict on the current directory, after the baseline was measured where one has to be."""
    baseline = args.baseline
    check_replaceable(args.out.resolve())
    if args.base is not None:
        run = args.out.with_name(f"{args.out.name}-base").resolve()
        check_replaceable(run)
        baseline = str(run)
        checkout = scratch / "base"
        _call("git", "worktree", "add", "--detach", str(checkout), args.base)
        try:
            top = Path(_call("git", "rev-parse", "--show-toplevel"))
            cwd = checkout / Path.cwd().relative_to(top)
            path = _moved(os.environ.get("PYTHONPATH", ""), top, checkout)
            _install(args.install, cwd)
            measure(args.overrides, run=run, cwd=cwd, path=path)
        finally:
            _call("git", "worktree", "remove", "--force", str(checkout))
    _install(args.install, Path.cwd())
    axes = [axis for axis in args.axes.split(",") if axis]
    return judge(
        args.overrides, baseline=baseline, axes=axes, margin=args.margin, run=args.out.resolve()
    )


def _moved(path: str, top: Path, checkout: Path) -> str:
    """A PYTHONPATH whose folders of the repository at `top` are those of `checkout`.

    Otherwise the base would be measured with the branch's code. Folders outside it stay.
    """
    found = []
    for folder in path.split(os.pathsep):
        inside = Path(folder).is_absolute() and Path(folder).resolve().is_relative_to(top)
        found.append(str(checkout / Path(folder).resolve().relative_to(top)) if inside else folder)
    return os.pathsep.join(found)


def _install(command: str | None, folder: Path) -> None:
    """Run the user's own shell command in a folder. Raises NoVerdict where it fails."""
    if command:
        done = subprocess.run(
            command, shell=True, cwd=folder, capture_output=True, text=True, check=False
        )
        print(done.stdout + done.stderr, end="", file=sys.stderr)
        if done.returncode:
            raise NoVerdict(f"`{command}` in {folder} ended with {done.returncode}")


def _call(*words: str) -> str:
    """What a command prints. Raises NoVerdict where it fails."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoVerdict(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()


def _tell(line: str) -> None:
    print(line)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
