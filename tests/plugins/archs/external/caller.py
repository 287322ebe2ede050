"""A memory that calls models, as a driver of another's system would: a note of each event by a
language model, found by its vector.

    python caller.py FOLDER_OF_BRIDGE [--fault NAME]
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, sys.argv[1])
import bridge

# isort: split
import time  # as a system does, after the bridge
from datetime import date, datetime

FAULT = sys.argv[-1] if "--fault" in sys.argv else ""


class Caller:
    """The notes, and their vectors."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.notes: list[tuple[str, list[float], str]] = []

    def write(self, event: dict[str, Any]) -> None:
        assert datetime.now().date() == date.today() == date.fromtimestamp(time.time())
        told = f"Today is {date.today():%Y-%m-%d}. Note: {event['text']}"
        form = {"response_format": {"type": "json_object"}, "temperature": 0.5}
        try:
            note = bridge.chat([{"role": "user", "content": told}], **form)
        except RuntimeError:
            if FAULT != "goes_on":
                raise
            note = ""
        self.notes.append((note, bridge.embed([note])[0], event["id"]))

    def retrieve(self, query: str, limit: int) -> list[dict[str, Any]]:
        if FAULT == "elsewhere":
            return [{"text": said} for said in elsewhere()]
        if FAULT == "images":
            bridge.post("images", {})
        asked = bridge.embed([query])[0]
        assert len(asked) == bridge.DIMENSION

        def near(one: tuple[str, list[float], str]) -> float:
            return -sum(a * b for a, b in zip(asked, one[1], strict=True))

        found = sorted(self.notes, key=near)[:limit]
        return [{"text": note, "id": id_} for note, _, id_ in found]


def elsewhere() -> list[str]:
    """What came of each way out that is not the socket, and whether a namespace was closed too."""
    said = []
    for family, place in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        try:
            wire = socket.socket(family, socket.SOCK_STREAM)
        except OSError:
            said.append(f"{family.name}: no socket")
            continue
        said.append(f"{family.name}: a socket, and {wire.connect_ex((place, 9))}")
        wire.close()
    lines = Path("/proc/self/net/dev").read_text().splitlines()[2:]
    interfaces = [line.split(":")[0].strip() for line in lines]
    return [*said, f"interfaces: {' '.join(interfaces)}"]


if __name__ == "__main__":
    bridge.serve(Caller())
