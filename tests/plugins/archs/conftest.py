"""What the tests of arms share."""

from __future__ import annotations

import pytest

from tests.plugins.archs.helpers import stand_in_for_cross_encoders


@pytest.fixture(autouse=True)
def _no_real_cross_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in_for_cross_encoders(monkeypatch)
