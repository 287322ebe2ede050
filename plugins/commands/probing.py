"""`probe`: whether an arm does what it is said to do, before anything is measured with it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from framework.contracts.command import Command
from framework.contracts.probe import Probe
from framework.engine.compose import compose_plan, composer
from framework.errors import StopRun, UserError
from framework.registry import plugins, register
from framework.reporting.terminal import wrapped

_WORDS: Final = {True: "pass", False: "FAIL", None: "-"}


@register("command", "probe")
class Probing(Command):
    """Check whether an arm does what it declares."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("arch", metavar="ARCH", help="the arm, as in arch=ARCH")
        parser.add_argument(
            "overrides", nargs="*", metavar="KEY=VALUE", help="settings of the arm: arch.KEY=VALUE"
        )
        parser.add_argument("--slow", action="store_true", help="also run the slow checks")

    def run(self, args: argparse.Namespace) -> int:
        return probe(args)


def probe(args: argparse.Namespace) -> int:
    """Print each finding as it is made; exit status 1 when a check failed."""
    from framework.engine.account import account
    from framework.engine.probed import probe_context

    with composer():
        plan = compose_plan([f"arch={args.arch}", *args.overrides])
    part = plan.parts["arch"]
    probes: list[Probe] = [plugin.cls() for plugin in plugins("probe")]
    fitting = [each for each in probes if each.fits(part.plugin.cls)]
    if not fitting:
        raise UserError(f"arch={args.arch}: there is nothing to probe")
    failed = 0
    # What is capped is this command's spending: its account is gone with it, its answers are not.
    with TemporaryDirectory() as place, account(plan, Path(place) / "run", None, None):
        context = probe_context(plan)
        try:
            for each in fitting:
                for found in each.run(part.plugin.cls, part.settings, args.slow, context):
                    failed += found.passed is False
                    line = f"{_WORDS[found.passed]:<5} {found.name:<12} {found.text}"
                    print(wrapped(line, "", " " * 19), flush=True)
        except StopRun as stop:
            print(f"stopped: {stop}; answers so far are stored, and not paid for again",
                  file=sys.stderr)  # fmt: skip
            return 1
    print(f"{args.arch}: {f'{failed} failed' if failed else 'all passed'}")
    return 1 if failed else 0
