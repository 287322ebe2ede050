"""The YAML file of a published benchmark: its provenance, how to get it, and how its fields map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from framework.contracts import Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What is known of a benchmark besides its code.

    where : how to get the file, for who has not. fields : names of the file's fields by ours.
    kinds : by the file's word for a kind of question, ours. errata : names of the fields of a
    published audit of the key, empty where there is none.
    """

    provenance: Provenance
    where: str
    fields: Mapping[str, str]
    kinds: Mapping[str, str]
    errata: Mapping[str, Any]


@cache
def card(module: str) -> Card:
    """The card beside a module (`__file__`), of the same name with the suffix `.yaml`."""
    said = yaml.safe_load(Path(module).with_suffix(".yaml").read_text(encoding="utf-8"))
    return Card(
        provenance=Provenance(**said["provenance"]),
        where=said["where"],
        fields=said.get("fields", {}),
        kinds={str(key): kind for key, kind in said.get("kinds", {}).items()},
        errata=said.get("errata", {}),
    )
