"""Records that are published as one JSON file each in a folder, or gathered in one JSON list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from framework.errors import DataError
from framework.text.canonical import CanonicalError, canonical_json, digest
from plugins.domains.data_file import asked_for, listed, parse_json, read_file


def read_records(
    path: str, sha256: str, *, domain: str, where: str
) -> tuple[list[Any], str, object]:
    """The records, the digest of what they were read from, and what it states of its provenance.

    path : a file of them (see `listed`), or a folder whose `.json` files hold one each, in order
        of their names; its digest is that of all names and bytes. Raises UserError, DataError.
    """
    folder = Path(path).expanduser()
    if path and folder.is_dir():
        files = sorted(folder.glob("*.json"))
        if not files:
            raise DataError(path, None, f"a folder without .json files; {where}")
        read = {f.name: read_file(str(f), "", domain=domain, where=where) for f in files}
        found = digest({name: one for name, (_, one) in read.items()})
        asked_for(path, sha256, found)
        records = [parse_json(str(folder / name), data) for name, (data, _) in read.items()]
        for name, record in zip(read, records, strict=True):
            if isinstance(record, list):
                told = f"domain.path={path}/{name} reads it"
                raise DataError(path, None, f"a folder, whose {name} holds a list: {told}")
        return records, found, None
    data, found = read_file(path, sha256, domain=domain, where=where)
    records, stated = listed(path, data)
    return records, found, stated


def known_as(records: Sequence[Any], found: str, files: Mapping[str, str]) -> str:
    """The digest under which `files` knows the records, else that of what they were read from.

    One of `files` may be of the records themselves, in any order and in whatever files they stand,
    without the `file` that a gathered list says of each.
    """
    try:
        texts = [
            canonical_json({key: value for key, value in record.items() if key != "file"})
            for record in records
            if isinstance(record, dict)
        ]
        alone = digest(sorted(texts))
    except CanonicalError:
        return found
    return alone if alone in files.values() else found
