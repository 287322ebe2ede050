"""Where the product's own words go: the log `framework`, as bare lines on stderr."""

from __future__ import annotations

import logging
import sys

from framework.text.printable import printable


class _Stderr(logging.Handler):
    """Writes to whatever stderr is at the time."""

    def emit(self, record: logging.LogRecord) -> None:
        print(printable(self.format(record)), file=sys.stderr)


def log_to_stderr() -> None:
    """Send what is logged to stderr, and nowhere else; again changes nothing."""
    log = logging.getLogger("framework")
    log.setLevel(logging.DEBUG)  # a job's log has more than stderr
    log.propagate = False
    if not any(isinstance(handler, _Stderr) for handler in log.handlers):
        log.addHandler(_Stderr(logging.INFO))
