"""`submit`: sweeps and runs as a signed bundle."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from framework.contracts.command import Command
from framework.errors import UserError
from framework.registry import register


@register("command", "submit")
class Submit(Command):
    """Pack sweeps and runs into a signed bundle for a leaderboard (`board`)."""

    def arguments(self, parser: ArgumentParser) -> None:
        parser.usage = "%(prog)s --name NAME --key FILE [--out FILE] SWEEP|RUN ..."
        parser.add_argument("places", nargs="+", metavar="SWEEP|RUN", help="what to submit")
        # Both are needed: `run` says so in one line, where argparse would print its usage too.
        parser.add_argument("--name", help="required: the submitter, as shown on the board")
        parser.add_argument(
            "--key", metavar="FILE", help="required: Ed25519 key; created if it does not exist"
        )
        parser.add_argument(
            "--out", metavar="FILE", help="default: NAME.bundle next to the first run"
        )

    def run(self, args: Namespace) -> int:
        from framework.store import verify_run
        from plugins.commands.leaderboard import bundle

        for option, example in (("name", '"A lab"'), ("key", "key.pem")):
            if getattr(args, option) is None:
                raise UserError(f"submit: --{option} is needed, as in --{option} {example}")
        places = [Path(place) for place in args.places]
        runs = _runs(places)
        for run in runs:
            if problems := verify_run(run).problems:
                raise UserError(f"{run}: {problems[0]}")
        name = bundle.named(args.name)
        first = places[0].resolve() if places[0].name in ("", "..") else places[0]
        target = Path(args.out or first.with_name(first.name + bundle.SUFFIX))
        if not target.parent.is_dir():
            raise UserError(f"--out: {target.parent}: no such directory")
        key = bundle.private_key(Path(args.key))
        bundle.write(runs, name, key, target)
        print(f"key of {name}: {key.public_key().public_bytes_raw().hex()}")
        print(f"bundle: {target}")
        return 0


def _runs(places: Sequence[Path]) -> list[Path]:
    """The finished runs of sweeps, and runs. Raises UserError for two that a bundle can't tell."""
    from framework.engine.sweep import finished_jobs
    from framework.store.state import load_finished

    found: list[Path] = []
    for place in places:
        if not place.is_dir():
            raise UserError(f"{place}: no such directory")
        for run in [state.path for state in finished_jobs(place)] or [load_finished(place).path]:
            for other in found:
                if other.resolve() == run.resolve():
                    raise UserError(f"submit: {run} is given twice")
                if other.name.casefold() == run.name.casefold():
                    raise UserError(f"submit: {other} and {run} have one name in the bundle")
            found.append(run)
    return found
