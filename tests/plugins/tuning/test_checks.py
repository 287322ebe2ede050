"""What a trial is worth: the mean of its objective, in which a failed case is no case less."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from framework.contracts import Arch, Query
from framework.errors import NotOffered
from framework.records import Event, Item
from framework.registry import NoSettings, register
from framework.store.state import read_run
from plugins.tuning.checks import value_of
from tests.launching import run


class _HalfOfThem(Arch[NoSettings]):
    """Gives the whole history of every other case, and for the rest what `fault` is."""

    fault: type[Exception]
    asked = 0

    def ingest(self, events: Iterable[Event]) -> None:
        self._events = list(events)

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        type(self).asked += 1
        if type(self).asked % 2:
            raise self.fault("too many results asked for")
        return [Item(id=e.id, text=e.text, source_ids=(e.id,)) for e in self._events]


@register("arch", "tuning_test_fails")
class Fails(_HalfOfThem):
    """Fails on half of the cases."""

    fault = RuntimeError


@register("arch", "tuning_test_refuses")
class Refuses(_HalfOfThem):
    """Does not offer an answer on half of the cases."""

    fault = NotOffered


@pytest.mark.parametrize("arm", ["tuning_test_fails", "tuning_test_refuses"])
def test_a_trial_gains_nothing_by_failing(
    arm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = run(
        capsys,
        *("domain=loan", f"arch={arm}", "protocol=retrieve", "n_cases=8", "max_errors=8"),
        *("budget=absolute", "budget.tokens=100000", "tracking=none", "report=false"),
        f"hydra.run.dir={tmp_path / 'trial'}",
    )
    assert done.status == 0, done.err
    found = read_run(tmp_path / "trial")
    assert found.summary["axes"]["retained"]["mean"] == 1.0
    assert value_of(tmp_path / "trial", "retained", higher=True) == 0.5
    assert value_of(tmp_path / "trial", "retained", higher=False) == 1.0
