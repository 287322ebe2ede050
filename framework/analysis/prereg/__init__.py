"""Pre-registration: hypotheses as data, locked before any run, judged by rule after it."""

from __future__ import annotations

from framework.analysis.prereg.flags import RunInfo
from framework.analysis.prereg.verdicts import Judgement, Measured, Verdict, judge
from framework.store.hypotheses import Hypothesis, Preregistration, parse, read_file
from framework.store.register import (
    PUBLISHED,
    REGISTER,
    Lock,
    as_lock,
    check_locked,
    lock,
    locks,
    register_of,
    registered,
)

__all__ = [
    "PUBLISHED",
    "REGISTER",
    "Hypothesis",
    "Judgement",
    "Lock",
    "Measured",
    "Preregistration",
    "RunInfo",
    "Verdict",
    "as_lock",
    "check_locked",
    "judge",
    "lock",
    "locks",
    "parse",
    "read_file",
    "register_of",
    "registered",
]
