"""`probe`: whether an arm does what it is said to do, before anything is measured with it."""

from __future__ import annotations

import argparse
from typing import Final

from framework.contracts.probe import Probe
from framework.engine.compose import compose_plan, composer
from framework.errors import UserError
from framework.registry import plugins
from framework.reporting.terminal import wrapped

_WORDS: Final = {True: "pass", False: "FAIL", None: "-"}


def probe(args: argparse.Namespace) -> int:
    """Print each finding as it is made; exit status 1 when a check failed."""
    with composer():
        part = compose_plan([f"arch={args.arch}", *args.overrides]).parts["arch"]
    probes: list[Probe] = [plugin.cls() for plugin in plugins("probe")]
    fitting = [each for each in probes if each.fits(part.plugin.cls)]
    if not fitting:
        raise UserError(f"arch={args.arch}: there is nothing to probe")
    failed = 0
    for each in fitting:
        for found in each.run(part.plugin.cls, part.settings, args.slow):
            failed += found.passed is False
            line = f"{_WORDS[found.passed]:<5} {found.name:<12} {found.text}"
            print(wrapped(line, "", " " * 19), flush=True)
    print(f"{args.arch}: {f'{failed} failed' if failed else 'all passed'}")
    return 1 if failed else 0
