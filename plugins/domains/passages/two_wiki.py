"""2WikiMultihopQA: questions over two to four Wikipedia passages, from the published JSON file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from framework.registry import register
from plugins.domains.passages.shape import Asked, Passages, PassageSettings, Pool, paired


@register("domain", "two_wiki")
class TwoWiki(Passages[PassageSettings]):
    """Multi-hop questions built from Wikidata's relations (Ho et al., COLING 2020).

    Stratum: the question's type (comparison, inference, compositional, bridge_comparison).

    Raises UserError when no path is given, DataError naming file and record.
    """

    key: ClassVar[str] = "_id"
    version: ClassVar[str] = "2"

    @classmethod
    def question(cls, record: Mapping[str, Any], pool: Pool) -> Asked:
        return paired(record, pool)
