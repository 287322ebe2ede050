"""`import`: a published corpus of documents in the form that a domain reads."""

from __future__ import annotations

import argparse
from pathlib import Path

from framework.contracts.command import Command
from framework.contracts.importer import Importer
from framework.errors import UserError
from framework.registry import find, register


@register("command", "import")
class Import(Command):
    """Convert a published corpus to the form that a domain reads."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("corpus", metavar="CORPUS", help="its kind (see `list importer`)")
        parser.add_argument("path", metavar="PATH", help="the published corpus")
        parser.add_argument(
            "--to", required=True, metavar="FILE", help="the file to write; it must not exist"
        )
        parser.add_argument(
            "--revision", default="", help="revision of its repository, to be recorded"
        )

    def run(self, args: argparse.Namespace) -> int:
        return import_corpus(args)


def import_corpus(args: argparse.Namespace) -> int:
    """Convert a corpus and say what the file holds."""
    importer: Importer = find("importer", args.corpus).cls()
    target = Path(args.to)
    if target.exists():
        raise UserError(f"{target}: exists already; choose another file")
    try:
        held = importer.write(Path(args.path), target, args.revision)
    except OSError as error:
        raise UserError(f"{target}: can't be written: {error.strerror}") from None
    print(f"{target}: {held}")
    return 0
