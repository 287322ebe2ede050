"""Which tasks could be answered without the corpus: a fixed check of card against gold, no arm."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from framework.records import Case
from framework.text.reading import read_json
from plugins.domains.governance.invariant import complies
from plugins.domains.governance.tasks import ticket_of

_NUMBER: Final = re.compile(r"\d+")


def leaks(case: Case) -> tuple[str, ...]:
    """How the case gives its answer away; empty where it does not.

    naive : structural: the plan as it is proposed complies already. By chance, since proposals are
        drawn independently of decisions.
    stated : lexical: the ticket or the instruction says a value that complies.
    named : lexical: they name the governing record, or the setting that it fixes.
    """
    plan: Any = read_json(case.task.material["change_plan"])
    check: Any = read_json(case.gold.invariant)
    proposed = [
        {"component": plan["component"], "setting": s["setting"], "value": s["value"]}
        for s in plan["settings"]
    ]
    shown = f"{case.task.instruction}\n{ticket_of(case.task)}".casefold()
    ((governed, clause),) = check["require"].items()
    label = next(s["label"] for s in plan["settings"] if s["setting"] == governed)
    found = []
    if complies(json.dumps(proposed), case.gold.invariant):
        found.append("naive")
    if any(clause["low"] <= int(n) <= clause["high"] for n in _NUMBER.findall(shown)):
        found.append("stated")
    if any(name.casefold() in shown for name in (*case.gold.provisions, label)):
        found.append("named")
    return tuple(found)
