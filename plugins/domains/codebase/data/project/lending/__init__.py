"""A lending library of tools: members borrow tools, owe fees, and are kept informed.

A complete small service, written to be changed: the domain `codebase` hands out its files with a
ticket and tests what comes back. It depends on the standard library alone.
"""

from __future__ import annotations
