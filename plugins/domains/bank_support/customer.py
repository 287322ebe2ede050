"""The bank's records of the customer that a scenario is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from framework.errors import DataError
from framework.text.canonical import canonical_json
from plugins.domains.data_file import BadRecordError, check_text, check_writable, kind_of

Row = Mapping[str, Any]
Tables = Mapping[str, Mapping[str, Row]]
"""By table and key, a record."""

_USERS: Final = "users"
_NAMES: Final = ("user_id", "email", "phone_number")
"""What a scenario says that only one customer has."""
_OWNERS: Final = ("user_id", "referrer_id")


def tables_of(path: str, value: object) -> Tables:
    """The tables of the published database. Raises DataError."""
    try:
        check_text(value)
        return _tables(value)
    except BadRecordError as error:
        raise DataError(path, None, str(error)) from None


def changed(tables: Tables, state: Mapping[str, Any]) -> Tables:
    """The tables with what a task adds to them before it begins. Raises BadRecordError."""
    data = state.get("initialization_data") or {}
    if not isinstance(data, dict):
        raise BadRecordError(f"initialization_data: a JSON object expected, {kind_of(data)} found")
    added = _tables(data.get("agent_data") or {})
    return {
        name: {**tables.get(name, {}), **added.get(name, {})}
        for name in dict.fromkeys((*tables, *added))
    }


def records_of(tables: Tables, scenario: str) -> str:
    """What the bank has on file of who the scenario names, as JSON by table; empty for nobody.

    A customer is known by number, address or telephone, else by the whole name. Records are theirs
    by the customer's number, or by that of an account of theirs.
    """
    folded = scenario.casefold()
    users = tables.get(_USERS, {})
    found = [row for row in users.values() if _is_named(row, _NAMES, folded)]
    found = found or [row for row in users.values() if _is_named(row, ("name",), folded)]
    ids = {row["user_id"] for row in found if isinstance(row.get("user_id"), str)}
    if not ids:
        return ""
    own = [row for _, row in _rows(tables) if _owned(row, ids)]
    accounts = {
        value
        for row in own
        for key, value in row.items()
        if key.endswith("account_id") and isinstance(value, str)
    }
    kept: dict[str, list[Row]] = {}
    for name, row in _rows(tables):
        if _owned(row, ids) or (not row.get("user_id") and _of_account(row, accounts)):
            kept.setdefault(name, []).append(row)
    return canonical_json(kept)


def _is_named(row: Row, keys: tuple[str, ...], folded: str) -> bool:
    values = (row.get(key) for key in keys)
    return any(isinstance(v, str) and v.strip() and v.casefold() in folded for v in values)


def _owned(row: Row, ids: set[str]) -> bool:
    return any(isinstance(row.get(key), str) and row[key] in ids for key in _OWNERS)


def _of_account(row: Row, accounts: set[str]) -> bool:
    found = (value for key, value in row.items() if key.endswith("account_id"))
    return any(isinstance(value, str) and value in accounts for value in found)


def _rows(tables: Tables) -> Iterator[tuple[str, Row]]:
    for name, rows in tables.items():
        for row in rows.values():
            yield name, row


def _tables(value: object) -> Tables:
    if not isinstance(value, dict):
        raise BadRecordError(f"a JSON object of tables expected, {kind_of(value)} found")
    tables = {}
    for name, table in value.items():
        rows = table.get("data") if isinstance(table, dict) else None
        if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
            raise BadRecordError(f"{name}.data: a JSON object of records expected")
        check_writable(rows, f"{name}.data")
        tables[name] = rows
    return tables
