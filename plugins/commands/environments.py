"""`env create`, `env list`, `env remove`: what arms need beside this package."""

from __future__ import annotations

import argparse

from framework.contracts.command import Command
from framework.contracts.environment import Environments
from framework.engine.compose import compose_plan, composer
from framework.errors import UserError
from framework.registry import plugins, register


@register("command", "env")
class Env(Command):
    """Create, list or remove the environments that third-party systems run in."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        actions = parser.add_subparsers(required=True, metavar="ACTION")
        add = actions.add_parser(
            "create", help="create the environment that an arm needs, by its lock"
        )
        add.add_argument("arch", metavar="ARCH", help="the arm, as in arch=ARCH")
        add.add_argument(
            "overrides", nargs="*", metavar="KEY=VALUE", help="settings of the arm: arch.KEY=VALUE"
        )
        add.set_defaults(action=create)
        add = actions.add_parser("list", help="list the environments that exist")
        add.set_defaults(action=show)
        add = actions.add_parser("remove", help="remove all environments of this name")
        add.add_argument("name", metavar="NAME")
        add.set_defaults(action=remove)

    def run(self, args: argparse.Namespace) -> int:
        status: int = args.action(args)
        return status


def create(args: argparse.Namespace) -> int:
    """Make the environment of an arm, printing each step."""
    with composer():
        settings = compose_plan([f"arch={args.arch}", *args.overrides]).parts["arch"].settings
    fitting = [kind for kind in _kinds() if kind.fits(settings)]
    if not fitting:
        raise UserError(f"arch={args.arch} needs no environment of its own")
    for kind in fitting:
        for line in kind.create(settings):
            print(line, flush=True)
    return 0


def show(args: argparse.Namespace) -> int:
    """Print the environments that are there."""
    lines = [line for kind in _kinds() for line in kind.made()]
    print("\n".join(lines) or "no environments; `decisionbench env create NAME` makes one")
    return 0


def remove(args: argparse.Namespace) -> int:
    """Remove the environments of a name."""
    lines = [line for kind in _kinds() for line in kind.remove(args.name)]
    if not lines:
        raise UserError(f"{args.name}: no such environment; `decisionbench env list` shows them")
    print("\n".join(lines))
    return 0


def _kinds() -> list[Environments]:
    return [plugin.cls() for plugin in plugins("environment")]
