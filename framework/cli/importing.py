"""`import`: a published corpus of documents in the form that a domain reads."""

from __future__ import annotations

import argparse
from pathlib import Path

from framework.contracts.importer import Importer
from framework.errors import UserError
from framework.registry import find


def import_corpus(args: argparse.Namespace) -> int:
    """Convert a corpus and say what the file holds."""
    importer: Importer = find("importer", args.corpus).cls()
    target = Path(args.to)
    try:
        held = importer.write(Path(args.path), target, args.revision)
    except OSError as error:
        raise UserError(f"{target}: can't be written: {error.strerror}") from None
    print(f"{target}: {held}")
    return 0
