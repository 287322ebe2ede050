"""Which process wrote something, and whether it is still there."""

from __future__ import annotations

import os
import socket
import zlib
from pathlib import Path
from typing import Final

HOST: Final = f"{zlib.crc32(socket.gethostname().encode()):08x}"
"""This machine, in eight digits."""


def this() -> str:
    """This process, as no other one was or will be: its machine, number and beginning."""
    return f"{HOST}-{os.getpid()}-{_began(os.getpid())}"


def is_gone(process: str) -> bool:
    """Whether a process (`this`) has ended, or is of another machine, where this one can't look."""
    host, pid, began = process.split("-")
    return host != HOST or not is_alive(int(pid)) or began != _began(int(pid))


def is_alive(pid: int) -> bool:
    """Whether there is a process of this number on this machine, maybe a later one."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # of another user
        pass
    return True


def _began(pid: int) -> str:
    """When it began, in ticks of the kernel's clock; empty where the system doesn't tell."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
