"""The address of an MLflow store: which are taken, how they are told, whether anyone is there.

An address from the configuration is stored with the run and so may hold no password; one from the
environment may, and is told and stored without it.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit, urlunsplit

from framework.errors import TrackingError
from framework.registry import nearest

ENVIRONMENT: Final = "MLFLOW_TRACKING_URI"
LOCAL: Final = Path("mlruns")
"""Folder of the local store, below the current directory."""
SERVERS: Final = ("http", "https")
_PORTS: Final = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}
_ALLOWED: Final = (*SERVERS, "sqlite", *_PORTS)
_PROBE_SECONDS: Final = 4.0
_LONGEST: Final = 300


def check(uri: str) -> None:
    """Raise ValueError for an address that MLflow has no store for. Its text is never repeated."""
    parts = _split(uri)
    if parts.scheme == "":
        raise ValueError(
            "uri: no scheme given; a folder is no store, sqlite:///mlruns/mlflow.db would be one"
        )
    kind = _kind(parts)
    if kind not in _ALLOWED:
        raise ValueError(f"uri: scheme {parts.scheme!r} given{nearest(kind, _ALLOWED)}")
    if kind == "sqlite" and not _sqlite_file(uri):
        raise ValueError("uri: sqlite needs a file, as in sqlite:///mlruns/mlflow.db")
    if kind in SERVERS and not parts.hostname:
        raise ValueError("uri: no host given")


def check_public(uri: str) -> None:
    """Raise ValueError as `check` does, and for an address that holds a secret."""
    check(uri)
    if _secrets(_split(uri)):
        raise ValueError(
            "uri: it holds a secret, which would be stored with every run; give the address by the "
            f"environment variable {ENVIRONMENT}, or the password by MLFLOW_TRACKING_PASSWORD or "
            "the database's own variable (PGPASSWORD)"
        )


def resolve(setting: str | None) -> str:
    """The address to use: the setting, else the environment's, else the local database.

    A database file is made absolute. Raises TrackingError for a bad address in the environment.
    """
    if setting is None and (named := os.environ.get(ENVIRONMENT)):
        try:
            check(named)
        except ValueError as error:
            raise TrackingError(f"{ENVIRONMENT}: {error}") from None
        setting = named
    if setting is None:
        return f"sqlite:///{Path.cwd() / LOCAL / 'mlflow.db'}"
    parts = _split(setting)
    if _kind(parts) == "sqlite":
        return f"{parts.scheme}:///{Path.cwd() / _sqlite_file(setting)}"
    return setting.rstrip("/")


def database_file(uri: str) -> Path | None:
    """The file of a resolved sqlite address; None for any other."""
    return Path(_sqlite_file(uri)) if _kind(_split(uri)) == "sqlite" else None


def artifact_location(uri: str) -> str | None:
    """Where a new experiment keeps its artifacts: beside a database file; a server knows itself."""
    if _kind(_split(uri)) in SERVERS:
        return None
    file = database_file(uri)
    return ((file.parent if file else Path.cwd() / LOCAL) / "artifacts").as_uri()


def public(uri: str) -> str:
    """The address without user, password and query."""
    if database_file(uri) is not None:
        return uri.partition("?")[0]  # urlunsplit would drop the slashes of an empty host
    parts = _split(uri)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def explain(error: Exception, uri: str) -> str:
    """The error in one line, without what is secret in the address."""
    text = " ".join(str(error).split()) or type(error).__name__
    text = text.partition(" (Background on this error at:")[0]  # SQLAlchemy's own pages
    text = text.replace(uri, public(uri))
    parts = _split(uri)
    for secret in _secrets(parts):
        for form in {secret, unquote(secret)}:
            text = text.replace(form, "***")
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def probe(uri: str) -> None:
    """Raise TrackingError unless someone answers there, within seconds.

    MLflow's own client would go on trying for minutes.
    """
    from http.client import HTTPException
    from urllib import error as failed
    from urllib import request

    parts = _split(uri)
    kind = _kind(parts)
    try:
        if kind in SERVERS:
            with request.urlopen(f"{public(uri)}/health", timeout=_PROBE_SECONDS):
                pass
        elif kind in _PORTS and parts.hostname:
            address = (parts.hostname, parts.port or _PORTS[kind])
            with socket.create_connection(address, timeout=_PROBE_SECONDS):
                pass
    except failed.HTTPError:
        return  # an answer, whatever it says
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        why = explain(reason, uri) if isinstance(reason, Exception) else str(reason)
        raise TrackingError(f"nobody answers at {public(uri)} ({why})") from None


def _split(uri: str) -> SplitResult:
    parts = urlsplit(uri)
    try:
        _ = parts.port
    except ValueError:
        raise ValueError("uri: its port is not a number") from None
    return parts


def _kind(parts: SplitResult) -> str:
    """The scheme without the driver of `postgresql+psycopg`."""
    return parts.scheme.partition("+")[0]


def _sqlite_file(uri: str) -> str:
    """`sqlite:///a.db` names a.db here, `sqlite:////a.db` the absolute /a.db; else empty.

    SQLAlchemy takes the name as it stands, so nothing is decoded.
    """
    name = uri.partition(":///")[2].partition("?")[0]
    return "" if name == ":memory:" else name


def _secrets(parts: SplitResult) -> list[str]:
    """What is secret in an address, in its own spelling."""
    found = [
        value
        for key, value in parse_qsl(parts.query)
        if any(word in key.lower() for word in ("pass", "pwd", "token", "secret"))
    ]
    user, colon, password = parts.netloc.rpartition("@")[0].partition(":")
    if colon:
        found.append(password)
    elif user and _kind(parts) in SERVERS:
        found.append(user)  # a token
    return [secret for secret in found if secret]
