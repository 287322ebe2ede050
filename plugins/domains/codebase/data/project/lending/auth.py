"""Staff, what they may do, and the tokens that they come with."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time

from .errors import Forbidden, Invalid
from .storage import Row, Store

PERMISSIONS = ("desk", "workshop", "cashier", "office")
TOKEN_SECONDS = 28800.0


def hire(store: Store, name: str, *permissions: str) -> int:
    """A new member of staff. Raises Invalid for a permission that there is not."""
    for permission in permissions:
        _known(permission)
    return store.add("staff", name=name, permissions=tuple(permissions), secret="")


def staff(store: Store, actor: str) -> Row:
    """The row of a member of staff by name. Raises Forbidden for a stranger."""
    rows = store.find("staff", name=actor)
    if not rows:
        raise Forbidden(f"{actor} is not on the staff")
    return rows[0]


def may(store: Store, actor: str, permission: str) -> bool:
    """Whether somebody holds a permission."""
    return permission in staff(store, actor)["permissions"]


def require(store: Store, actor: str, permission: str) -> None:
    """Raise Forbidden unless the actor holds the permission."""
    if not may(store, actor, permission):
        raise Forbidden(f"{actor} lacks {permission}")


def grant(store: Store, actor: str, number: int, permission: str) -> Row:
    """Give a member of staff one more permission."""
    require(store, actor, "office")
    _known(permission)
    held = store.get("staff", number)["permissions"]
    return store.put("staff", number, permissions=tuple(dict.fromkeys((*held, permission))))


def set_secret(store: Store, number: int, secret: str) -> None:
    """Set the word that somebody signs in with; only its hash is kept."""
    if len(secret) < 10:
        raise Invalid("a secret has at least 10 characters")
    salt = secrets.token_hex(8)
    store.put("staff", number, secret=f"{salt}:{_hashed(salt, secret)}")


def sign_in(store: Store, actor: str, secret: str) -> str:
    """A token for somebody who knows their secret. Raises Forbidden."""
    row = staff(store, actor)
    salt, _, kept = row["secret"].partition(":")
    if not kept or not hmac.compare_digest(kept, _hashed(salt, secret)):
        raise Forbidden("wrong name or secret")
    return issue_token(store, actor)


def issue_token(store: Store, actor: str) -> str:
    """A token that lasts for a shift."""
    staff(store, actor)
    token = secrets.token_hex(16)
    store.add("tokens", token=token, actor=actor, ends=time.time() + TOKEN_SECONDS)
    return token


def token_row(store: Store, token: str) -> Row:
    """The row of a token. Raises Forbidden for an unknown one."""
    rows = store.find("tokens", token=token)
    if not rows:
        raise Forbidden("unknown token")
    return rows[0]


def sign_out(store: Store, token: str) -> None:
    """Forget a token."""
    store.remove("tokens", token_row(store, token)["id"])


def _known(permission: str) -> None:
    if permission not in PERMISSIONS:
        raise Invalid(f"there is no permission {permission}")


def _hashed(salt: str, secret: str) -> str:
    return hashlib.sha256(f"{salt}{secret}".encode()).hexdigest()
