"""HotpotQA: questions that need two Wikipedia passages, from the published JSON file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Final

from framework.registry import register
from plugins.domains.passages.shape import Asked, Passages, PassageSettings, Pool, paired

_LATER: Final = ("pool", "errata", "unknown_file")


@dataclass(frozen=True, slots=True, kw_only=True)
class HotpotQASettings(PassageSettings):
    """Those of passages."""

    def identity(self) -> dict[str, Any]:
        """What may change a value; of `_LATER` only what is given: runs of before lack them."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "sha256"}
        return {name: value for name, value in own.items() if value or name not in _LATER}


@register("domain", "hotpotqa")
class HotpotQA(Passages[HotpotQASettings]):
    """Multi-hop questions over Wikipedia passages (Yang et al., EMNLP 2018).

    All passages bear the date of the Wikipedia dump. Stratum: the question's type (bridge,
    comparison).

    Raises UserError when no path is given, DataError naming file and record when the file is
    missing, is not the published JSON, or a supporting passage is not in the question's context.
    """

    key: ClassVar[str] = "_id"
    version: ClassVar[str] = "3"

    @classmethod
    def question(cls, record: Mapping[str, Any], pool: Pool) -> Asked:
        return paired(record, pool)
