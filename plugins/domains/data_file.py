"""The file that a domain is read from, where the user has to get it: its bytes and their digest."""

from __future__ import annotations

import re
from pathlib import Path

from framework.errors import DataError, UserError
from framework.text.canonical import digest_bytes


def check_sha256(given: str) -> None:
    """Raises ValueError for a setting `sha256` that is neither empty nor a digest."""
    if given and not re.fullmatch(r"(sha256:)?[0-9a-f]{64}", given):
        raise ValueError(f"sha256: {given!r} given, 64 lower-case hex digits expected")


def read_file(path: str, sha256: str, *, domain: str, where: str) -> tuple[bytes, str]:
    """The bytes of the file at `path`, and their digest.

    where : how to get it, for who has not. Raises UserError when no path is given, DataError when
    there is no such file, it can't be read, or `sha256` is given and is not its digest.
    """
    if not path:
        raise UserError(f"domain.path: no file given (domain={domain}); {where}")
    file = Path(path).expanduser()
    if not file.exists():
        raise DataError(path, None, f"no such file; {where}")
    try:
        data = file.read_bytes()
    except OSError as error:
        raise DataError(path, None, f"cannot be read: {error.strerror}") from None
    digest = digest_bytes(data)
    if sha256 and sha256.removeprefix("sha256:") != digest[7:]:
        raise DataError(path, None, f"is {digest}, domain.sha256 asks for {sha256}")
    return data, digest
