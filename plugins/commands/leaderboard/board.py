"""`board`: every bundle of a folder checked, and the arms that hold on one page."""

from __future__ import annotations

import sys
import tempfile
import unicodedata
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from framework.contracts.command import Command
from framework.errors import UserError
from framework.registry import register
from framework.text.counting import counted
from framework.text.printable import printable

if TYPE_CHECKING:
    from plugins.commands.leaderboard.checks import Entry
    from plugins.commands.leaderboard.ranking import Ranked
    from plugins.commands.leaderboard.rules import BoardRules

NOT_FOUND: Final = (
    "Whether a memory was shown the gold, or its view was written by hand: any text may be in a "
    "view, and only what it holds is checked.",
    "What stood beyond the view: ranks must agree with the stored trace, which is the submitter's.",
    "Whether the model that is named gave the responses, unless it is the rule-based one, which is "
    "asked again; whether they were edited before they were stored, or were taken from many.",
    "How often a submitter tried before this run, and whether the arm was tuned on these cases.",
    "Latency and dollars, and tokens beyond those of the prompts that answered: they are as the "
    "submitter's own machine wrote them down.",
    "Whether a failed case really failed. It counts as wrong.",
    "Who made a run first: a bundle that others can read can be signed again by them.",
    "Who a key belongs to. A signature says that a holder of the key made the bundle, not that it "
    "is true.",
)
"""What the checks of a board can't find, for its page."""
FOUND: Final = (
    "the signature, and the digest of every file",
    "each journal's chain from its first event to its last, which seals the answers",
    "that the runs are of the board's domain, data, seeds, cases, k, budget, reader and judge, and "
    "that no case is missing, twice or added",
    "the tokens of each view, which gold items it holds, and that trace and ranks agree with it",
    "each answer: the reader reads the stored responses to the prompts of the stored view again",
    "every axis of every row, scored again from stored answer and view",
)
"""What is checked of every bundle."""


@register("command", "board")
class Board(Command):
    """Check the bundles in a folder and rank their arms on a page; status 1 if any is refused."""

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "folder", metavar="DIR", help="folder with board.yaml and *.bundle files"
        )
        parser.add_argument("--out", metavar="FILE", help="the page; default: DIR/board.html")

    def run(self, args: Namespace) -> int:
        from framework.reporting.html import to_html
        from framework.store.atomic import write_text
        from plugins.commands.leaderboard.page import page_of
        from plugins.commands.leaderboard.ranking import ranked
        from plugins.commands.leaderboard.rules import read_rules

        folder = Path(args.folder)
        rules = read_rules(folder)
        entries, refused = judged(folder, rules)
        lines: list[Ranked] = []
        if entries:
            lines, compared = ranked(entries, rules.axis)
        else:
            compared = []
        for name, why in refused.items():
            print(printable(f"refused: {name}: {why}"), file=sys.stderr)
        target = Path(args.out) if args.out else folder / "board.html"
        try:
            write_text(target, to_html(page_of(rules, lines, compared, refused)))
        except OSError as error:
            raise UserError(f"{target} can't be written: {error.strerror}") from None
        print(f"{counted(len(entries), 'arm')} accepted, {counted(len(refused), 'bundle')} refused")
        print(target)
        return 1 if refused else 0


def judged(folder: Path, rules: BoardRules) -> tuple[list[Entry], dict[str, str]]:
    """The arms of all bundles that hold, and why each other is refused, by file name.

    With private seeds no reason tells a seed, an id of a case or a value of the gold. Raises
    UserError for rules that can't be run, or a folder without a bundle.
    """
    from plugins.commands.leaderboard.bundle import SUFFIX, Refused
    from plugins.commands.leaderboard.checks import checked
    from plugins.commands.leaderboard.rules import draw

    paths = sorted(folder.glob(f"*{SUFFIX}"))
    if not paths:
        raise UserError(f"{folder} has no *{SUFFIX}")
    drawn = draw(rules)
    held: dict[str, list[Entry]] = {}
    refused: dict[str, str] = {}
    for path in paths:
        with tempfile.TemporaryDirectory() as scratch:
            try:
                held[path.name] = checked(path, rules, drawn, Path(scratch))
            except Refused as error:
                refused[path.name] = error.shown if rules.private_seeds else str(error)
    _refuse_doubles(held, refused)
    return [entry for entries in held.values() for entry in entries], refused


def _refuse_doubles(held: dict[str, list[Entry]], refused: dict[str, str]) -> None:
    """Refuse bundles of one name under two keys, and an arm that one submitter has sent twice."""
    keys: dict[str, set[str]] = defaultdict(set)  # one name in other letters is one to a reader
    sent: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for name, entries in held.items():
        for entry in entries:
            keys[_read(entry.submitter)].add(entry.key)
            sent[entry.submitter, entry.arm, entry.model].append(name)
    for name, entries in list(held.items()):
        for entry in entries:
            others = [n for n in sent[entry.submitter, entry.arm, entry.model] if n != name]
            if len(keys[_read(entry.submitter)]) > 1:
                refused[name] = f"two keys sign as {entry.submitter}; the board must name one"
            elif others:
                refused[name] = f"arm {entry.arm} of {entry.submitter} is in {others[0]} too"
        if name in refused:
            del held[name]


def _read(name: str) -> str:
    """A name as its readers tell it from others: without case, and in the plain form of letters."""
    return unicodedata.normalize("NFKC", name).casefold()
