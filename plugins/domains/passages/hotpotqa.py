"""HotpotQA: questions that need two Wikipedia passages, from the published JSON file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from framework.registry import register
from plugins.domains.passages.shape import Asked, Passages, PassageSettings, Pool, paired


@register("domain", "hotpotqa")
class HotpotQA(Passages[PassageSettings]):
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
