"""Whose a document is, where a view holds several files and one of them is asked about.

A question that opens with `File NUMBER:` is about the documents filed under that number, or under
a name that the file's intake sheet gives, in the development forms of these.
"""

from __future__ import annotations

import re
from typing import Final

from plugins.models.rule_based.dated import is_header

_ASKED: Final = re.compile(r"File (\S+): ")
_FILED: Final = "Filed under: "


def own_documents(view: str, query: str) -> str:
    """The lines of a view, without the documents that are known to be of no, or another, file.

    What says nothing of where it was filed stays, and so does a view where no file is asked about.
    """
    asked = _ASKED.match(query)
    if asked is None:
        return view
    names = _names(asked[1], view)
    kept: list[str] = []
    start, own = 0, True
    for line in view.splitlines():
        if is_header(line.strip()):
            start, own = len(kept), True
        elif line.startswith(_FILED):
            own = line.removeprefix(_FILED).strip() in names
            if not own:
                del kept[start:]
            continue
        if own:
            kept.append(line)
    return "\n".join(kept)


def _names(number: str, view: str) -> frozenset[str]:
    """What the documents of a file may be filed under, as far as the view tells."""
    sheet = re.compile(
        rf"File {re.escape(number)} (?:is that of|was opened for) ([^,\n]+), ([^.\n]+)\."
    )
    return frozenset({number, *(name for found in sheet.findall(view) for name in found)})
