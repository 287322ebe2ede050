"""Commands on judges: rescore, judges, label."""

from __future__ import annotations

import argparse
from pathlib import Path

from framework.errors import UserError


def rescore(args: argparse.Namespace) -> int:
    """Judge stored answers anew into a new directory."""
    from framework.engine.rescore import rescore as judge_anew

    axes = [word for word in (args.axes or "").split(",") if word]
    overrides = []
    for word in args.overrides:
        if "=" not in word:
            raise UserError(f"rescore: {word!r} is no override: judge=NAME or the like expected")
        overrides.append(word)
    if not overrides and not axes:
        raise UserError("rescore: say what judges anew, as judge=llm, or which axes, by --axes")
    return judge_anew(Path(args.run), overrides, axes, Path(args.out) if args.out else None)
