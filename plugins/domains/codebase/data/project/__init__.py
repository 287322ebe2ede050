"""The code base, its decisions and the tests of both."""

from __future__ import annotations
