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
from framework.engine.secrets import check_without_keys
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
        for key, _, value in (word.partition("=") for word in words):
            check_without_keys({key: value})
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
        raise UserError(f"{argv[0]} is no longer a command; in the repository run make {argv[0]}")


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
        prog="decisionbench",
        description="DecisionBench: run, inspect and compare memories of LLM agents. "
        "`decisionbench KEY=VALUE ...` runs a benchmark; `decisionbench COMMAND --help` has more.",
    )
    parser.add_argument(
        "--config-dir", metavar="DIR", help="a folder with options of your own, for every command"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    commands.add_parser(
        "run", help="run the composed configuration (-m: a sweep); the default command"
    )

    listed = "list plugins by group: name, description, settings and options"
    add = commands.add_parser("list", help=listed, description=_sentence(listed))
    add.add_argument("group", nargs="?", help="show only this group, such as arch or axis")
    add.set_defaults(command="plugins:list_plugins")

    estimated = "estimate calls, tokens and dollars by arm and phase; nothing is sent"
    add = commands.add_parser("estimate", help=estimated, description=_sentence(estimated))
    add.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="settings, as for a run")
    add.add_argument("-m", "--multirun", action="store_true", help="estimate a sweep")
    add.set_defaults(command="estimate:estimate")

    reported = "write the report of a run or sweep: report.html, report.md, figures/"
    add = commands.add_parser("report", help=reported, description=_sentence(reported))
    add.add_argument("sources", nargs="*", metavar="RUN|SWEEP", help="directory of a run or sweep")
    add.add_argument(
        "--recipe", metavar="NAME", help="make this table or figure of a paper instead"
    )
    add.add_argument("--to", metavar="DIR", help="output of a recipe; default: runs/recipes/NAME")
    add.add_argument("--list", action="store_true", help="list the recipes and what each needs")
    add.add_argument("--redact", action="store_true", help="leave out all text of the cases")
    add.set_defaults(command="report:report")

    add = commands.add_parser(
        "verify",
        help="check the journal and files of a run or sweep",
        description="Check that the journal is an unbroken hash chain and that no file of the run "
        "changed since the run ended; for a sweep, check all its runs, its own files and its plan. "
        "Nothing is run again. Someone who can edit all files can make them pass: only a head hash "
        "that you kept elsewhere (--head) is proof. Exit status: 0 nothing changed, 1 something "
        "changed, 2 there is no such run.",
    )
    add.add_argument("run", metavar="RUN|SWEEP", help="directory of a run or sweep")
    add.add_argument("--head", help="the head hash that the journal must have")
    add.set_defaults(command="runs:verify")

    if not argv or argv[0] not in commands.choices:  # the framework's own need no plugin imported
        _add_plugins(commands)
    if argv and argv[0][:1] != "-" and argv[0] not in commands.choices:
        from framework.registry import nearest

        raise UserError(f"no command {argv[0]!r}{nearest(argv[0], commands.choices)}")
    return parser


def _sentence(summary: str) -> str:
    """A summary as the description that `--help` begins with."""
    return f"{summary[:1].upper()}{summary[1:]}."


def _add_plugins(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The commands of plugins, whose modules are imported for it."""
    from framework.registry import plugins

    for plugin in plugins("command"):
        command = plugin.cls()
        summary = plugin.summary[:1].lower() + plugin.summary[1:]
        add = commands.add_parser(plugin.name, help=summary, description=f"{plugin.summary}.")
        command.arguments(add)
        add.set_defaults(command=command.run)
