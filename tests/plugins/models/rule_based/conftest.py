"""Task cards and records for every test of the rules."""

from __future__ import annotations

import pytest

from framework.records import TaskCard
from tests.plugins.models.rule_based.cards import (
    CLAIM,
    CLAIM_FACTS,
    CLAIM_POLICY,
    LOAN,
    LOAN_FACTS,
    LOAN_POLICY,
)


@pytest.fixture
def loan() -> TaskCard:
    return LOAN


@pytest.fixture
def claim() -> TaskCard:
    return CLAIM


@pytest.fixture
def loan_view() -> str:
    return f"{LOAN_POLICY}\n{LOAN_FACTS}"


@pytest.fixture
def claim_view() -> str:
    return f"{CLAIM_POLICY}\n{CLAIM_FACTS}"
