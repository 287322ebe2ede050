"""`decisionbench`, the same as `python -m framework`: run, and look at what came out.

`decisionbench arch=bm25` runs, and so does `decisionbench run arch=bm25`. Each other command is a
function in a module of its own, imported when it is called: `--help` stays fast.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import io
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from framework.cli.place import check_place, literal
from framework.errors import UserError, of_a_place


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status: 0 fine, 1 a check failed, 2 a mistake."""
    from framework.cli.log import log_to_stderr

    # Imports make some 200,000 objects, of which few are garbage: looking for it is 12% of a start.
    gc.set_threshold(200_000, *gc.get_threshold()[1:])
    # Jobs share the cores, their arrays are small: threads of the algebra only wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    words = [literal(word) for word in (sys.argv[1:] if argv is None else argv)]
    log_to_stderr()
    if isinstance(sys.stdout, io.TextIOWrapper):  # what a terminal can't show is no error
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        check_place()
        folder, words = _without_folder(words)
        if _runs(words):
            from framework.cli.run import main as run

            found = [] if folder is None else ["--config-dir", folder]
            status = run([*found, *words[words[0] == "run" :]])
        else:
            status = _asked(words, folder)
        sys.stdout.flush()  # here, not at exit, where a reader that left could not be caught
        return status
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader of our output left, as `head` does: not an error of anyone's.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if (mistake := of_a_place(error)) is None:
            raise
        print(f"error: {mistake}", file=sys.stderr)
        return 2


def _runs(words: Sequence[str]) -> bool:
    """Whether the words are of a run: the command, an override, or one of Hydra's switches."""
    first = words[0] if words else "--help"
    return first == "run" or first[:1] in ("+", "~") or "=" in first or (
        first[:1] == "-" and first not in ("-h", "--help")
    )  # fmt: skip


def _asked(words: Sequence[str], folder: str | None) -> int:
    """The exit status of a command that is no run."""
    _refuse_moved(words)
    args = _parsed(words)
    with _options_of(folder):
        command = args.command
        if isinstance(command, str):
            module, function = command.split(":")
            command = getattr(importlib.import_module(f"framework.cli.{module}"), function)
        status: int = command(args)
        return status


def _options_of(folder: str | None) -> AbstractContextManager[None]:
    """Inside, the options in a folder of the user's are found too."""
    if folder is None:
        return nullcontext()
    from framework.engine.compose import options_of

    return options_of(folder)


def _without_folder(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """The folder of `--config-dir`, which every command takes anywhere, and the other words."""
    for i, word in enumerate(words):
        if word in ("--config-dir", "-cd") and i + 1 < len(words):
            return words[i + 1], [*words[:i], *words[i + 2 :]]
        if word.startswith("--config-dir="):
            return word.partition("=")[2], [*words[:i], *words[i + 1 :]]
    return None, list(words)


def _refuse_moved(argv: Sequence[str]) -> None:
    """Raises UserError for a command that is a study now."""
    if argv and argv[0] in ("coverage", "gates"):
        raise UserError(f"{argv[0]} is a study of the repository now: make {argv[0]}")


def _parsed(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments. `KEY=VALUE` may stand behind an option too, which argparse refuses."""
    parser = _parser(argv)
    args, rest = parser.parse_known_args(argv)
    late = [word for word in rest if "=" in word and not word.startswith("-")]
    if rest and (late != rest or not hasattr(args, "overrides")):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if late:
        args.overrides = [*args.overrides, *late]
    return args


def _parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="decisionbench", description="DecisionBench: plugins, cases, runs, comparisons."
    )
    parser.add_argument("--config-dir", metavar="DIR", help="options of yours, for every command")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    commands.add_parser("run", help="run what KEY=VALUE composes (-m: a sweep); may be left out")

    add = commands.add_parser("list", help="every plugin: group, name, one line, settings, options")
    add.add_argument("group", nargs="?", help="only this group")
    add.set_defaults(command="plugins:list_plugins")

    add = commands.add_parser(
        "show",
        help="a case as a person would read it, or its outcome in a run",
        description="show domain=loan case=3 [overrides]   |   show RUN case=3 [arm=LABEL]",
    )
    add.add_argument("what", nargs="+", metavar="RUN|KEY=VALUE")
    add.set_defaults(command="show:show")

    add = commands.add_parser(
        "estimate", help="calls, tokens and dollars by arm and phase, with nothing sent"
    )
    add.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="as for a run")
    add.add_argument("-m", "--multirun", action="store_true", help="estimate a sweep")
    add.set_defaults(command="estimate:estimate")

    add = commands.add_parser("compare", help="paired comparison of runs on the same cases")
    add.add_argument("runs", nargs="+", metavar="RUN")
    add.add_argument("--axes", help="comma-separated; default: the domain's headline axes")
    add.add_argument("--baseline", help="compare every arm with this one only")
    add.add_argument(
        "--smallest-effect", type=float, metavar="D", help="smallest difference that matters"
    )
    add.add_argument("--json", action="store_true", help="as JSON, the content of a sweep.json")
    add.add_argument("--out", metavar="FILE", help="into a file: Markdown, or JSON with --json")
    add.add_argument(
        *("--published-convention", "--compat"),
        metavar="NAME",
        help="print a paper's convention too (`list convention` shows them)",
    )
    add.set_defaults(command="runs:compare")

    add = commands.add_parser("table", help="a sweep's result table in Markdown")
    add.add_argument("sweep", metavar="SWEEP")
    add.add_argument("--budget", help="only this budget")
    add.add_argument("--into", metavar="FILE[#NAME]", help="put it between the file's markers")
    add.set_defaults(command="runs:table")

    add = commands.add_parser(
        "report", help="a run or sweep as one page: report.html, report.md, figures/"
    )
    add.add_argument("sources", nargs="*", metavar="RUN|SWEEP", help="recorded rows for a recipe")
    add.add_argument("--recipe", metavar="NAME", help="a table or figure of one of the papers")
    add.add_argument("--to", metavar="DIR", help="of a recipe; default: runs/recipes/NAME")
    add.add_argument("--list", action="store_true", help="the recipes and what each needs")
    add.add_argument("--redact", action="store_true", help="leave all words of cases out")
    add.set_defaults(command="report:report")

    add = commands.add_parser("verify", help="check a run's journal and files, or a sweep's")
    add.add_argument("run", metavar="RUN|SWEEP")
    add.add_argument("--head", help="hash that the journal must end with, kept elsewhere")
    add.set_defaults(command="runs:verify")

    add = commands.add_parser("replay", help="run a finished run again and compare measured rows")
    add.add_argument("run", metavar="RUN")
    add.set_defaults(command="runs:replay")

    add = commands.add_parser("export", help="a run's journal in another system's format")
    add.add_argument("run", metavar="RUN")
    add.add_argument("--to", required=True, metavar="SYSTEM", help="`list exporter` shows them")
    add.add_argument("path", metavar="PATH", help="the file to write; it must not exist")
    add.set_defaults(command="export:export")

    add = commands.add_parser(
        "fork", help="a new run with a loop's events up to one of them, then on under overrides"
    )
    add.add_argument("run", metavar="RUN")
    add.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="as for a run")
    add.add_argument("--at", type=int, required=True, metavar="SEQ", help="number of the event")
    add.add_argument("--out", metavar="DIR", help="default: beside the run, with the number")
    add.set_defaults(command="loops:fork")

    add = commands.add_parser("sync", help="upload a run or sweep that could not be uploaded")
    add.add_argument("run", metavar="RUN|SWEEP")
    add.set_defaults(command="runs:sync")

    add = commands.add_parser("power", help="cases needed, by a pilot, for a smallest effect")
    add.add_argument("runs", nargs="+", metavar="SWEEP|RUN")
    add.add_argument("--axis", required=True)
    add.add_argument("--smallest-effect", required=True, type=float, metavar="D")
    add.add_argument("--baseline", help="only pairs with this arm")
    add.add_argument("--power", type=float, default=0.8, help="default: %(default)s")
    add.add_argument("--alpha", type=float, default=0.05, help="default: %(default)s")
    add.add_argument("--comparisons", type=int, help="in the family; default: the pairs shown")
    add.set_defaults(command="power:power")

    group = commands.add_parser("prereg", help="lock predictions before a run, judge them after it")
    actions = group.add_subparsers(required=True, metavar="ACTION")
    add = actions.add_parser("lock", help="write a file's digest and the time into the register")
    add.add_argument("file", metavar="FILE")
    _add_register(add, "prereg:lock")
    add = actions.add_parser("list", help="what was locked, and when")
    add.add_argument("file", nargs="?", metavar="FILE", help="list this file's register")
    _add_register(add, "prereg:list_locks")
    add = actions.add_parser(
        "judge", help="supported, rejected, reversed or underpowered; status 1 when flagged"
    )
    add.add_argument("file", metavar="FILE")
    add.add_argument("runs", nargs="+", metavar="SWEEP|RUN|CSV")
    add.add_argument("--json", action="store_true", help="as JSON")
    _add_register(add, "prereg:judge")

    add = commands.add_parser("import", help="a published corpus in the form that a domain reads")
    add.add_argument("corpus", metavar="CORPUS", help="`list importer` shows them")
    add.add_argument("path", metavar="PATH", help="the corpus as it is published")
    add.add_argument("--to", required=True, metavar="FILE", help="the file to write")
    add.add_argument("--revision", default="", help="of its repository, for the record")
    add.set_defaults(command="importing:import_corpus")

    add = commands.add_parser("probe", help="whether an arm does what it is said to do")
    add.add_argument("arch", metavar="ARCH", help="the option, as in arch=ARCH")
    add.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="arch.KEY=VALUE")
    add.add_argument("--slow", action="store_true", help="the slow checks too")
    add.set_defaults(command="probing:probe")

    group = commands.add_parser("env", help="environments of their own that memories are run in")
    actions = group.add_subparsers(required=True, metavar="ACTION")
    add = actions.add_parser("create", help="make what an arm needs, as its lock says")
    add.add_argument("arch", metavar="ARCH", help="the option, as in arch=ARCH")
    add.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="arch.KEY=VALUE")
    add.set_defaults(command="environments:create")
    add = actions.add_parser("list", help="those that are there")
    add.set_defaults(command="environments:show")
    add = actions.add_parser("remove", help="remove those of a name")
    add.add_argument("name", metavar="NAME")
    add.set_defaults(command="environments:remove")

    add = commands.add_parser("rescore", help="judge a run's stored answers again, into a new run")
    add.add_argument("run", metavar="RUN|SWEEP")
    add.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="judge=anthropic and such")
    add.add_argument("--axes", help="comma-separated axis plugins to score; default: all")
    add.add_argument("--out", metavar="DIR", help="default: beside the run, named after the judge")
    add.set_defaults(command="judging:rescore")

    add = commands.add_parser("judges", help="agreement of judges of the same answers")
    add.add_argument("sources", nargs="+", metavar="RUN|SWEEP|CSV")
    add.add_argument("--axes", help="comma-separated; default: those that rest on verdicts")
    add.add_argument("--judges", help="comma-separated; default: all")
    add.add_argument("--arms", help="two or more arms whose differences are compared; default: all")
    add.add_argument("--style", action="store_true", help="guess arms by the wording of answers")
    add.add_argument("--seed", type=int, default=0, help="of --style; default: %(default)s")
    add.add_argument("--json", action="store_true", help="as JSON")
    add.set_defaults(command="judging:judges")

    add = commands.add_parser("calibrate", help="how often a judge passes right and wrong answers")
    add.add_argument("judge", metavar="JUDGE", help="or `recorded`: the verdicts in the set")
    add.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="judge.KEY, calibration.KEY")
    add.add_argument("--set", required=True, metavar="NAME", help="`list calibration` shows them")
    add.add_argument("--runs", nargs="+", metavar="RUN", help="correct their judged shares")
    add.add_argument("--out", metavar="FILE", help="keep the rates, for judge.calibration=FILE")
    add.add_argument("--json", action="store_true", help="as JSON")
    add.set_defaults(command="calibrate:calibrate")

    add = commands.add_parser("label", help="a blinded sheet for people to label, or read it back")
    add.add_argument("run", metavar="RUN|SWEEP")
    add.add_argument(
        "--of", metavar="WHAT", help="`list labelling` shows them; default: a judge's verdicts"
    )
    add.add_argument("--n", type=int, default=40, help="rows drawn; default: %(default)s")
    add.add_argument("--seed", type=int, default=0, help="of the draw; default: %(default)s")
    add.add_argument("--out", metavar="FILE", help="default: beside the run, as RUN-labels.csv")
    add.add_argument("--read", metavar="FILE", help="compare a filled sheet with the run")
    add.add_argument("--json", action="store_true", help="as JSON, with --read")
    add.add_argument(
        "--regimes", dest="of", action="store_const", const="regimes", help="of a loop"
    )
    add.set_defaults(command="judging:label")
    if not argv or argv[0] not in commands.choices:  # the framework's own need no plugin imported
        _add_plugins(commands)
    return parser


def _add_plugins(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The commands of plugins, whose modules are imported for it."""
    from framework.registry import plugins

    for plugin in plugins("command"):
        command = plugin.cls()
        add = commands.add_parser(plugin.name, help=plugin.summary)
        command.arguments(add)
        add.set_defaults(command=command.run)


def _add_register(parser: argparse.ArgumentParser, command: str) -> None:
    parser.add_argument(
        "--register",
        metavar="REGISTER",
        help="default: register.jsonl beside FILE where there is one, else runs/prereg.jsonl",
    )
    parser.set_defaults(command=command)
