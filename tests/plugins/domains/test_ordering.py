"""Orders of cases in which a part has some of each."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from framework.registry import find, settings_of
from plugins.domains.ordering import in_turns
from tests.plugins.domains.test_floors import FILES


def test_groups_take_turns_until_each_is_empty() -> None:
    assert in_turns(["abc", "", "d"]) == ["a", "d", "b", "c"]
    assert in_turns([]) == []


def test_the_first_questions_of_a_regulation_are_of_every_kind(data_dir: Path) -> None:
    plugin = find("domain", "regulation_updates")
    path = str(data_dir / FILES["regulation_updates"]["path"])
    mixed, turned = (
        plugin.cls(settings_of(plugin, {"path": path, "order": order}))
        for order in ("mixed", "in_turns")
    )
    first = Counter(case.stratum for case in turned.cases(24, 0))
    assert first == {"text": 6, "change": 6, "in_force": 6, "cites": 6}
    whole = [sorted(case.id for case in domain.cases(None, 0)) for domain in (mixed, turned)]
    assert whole[0] == whole[1]
    assert turned.digest() == mixed.digest()
