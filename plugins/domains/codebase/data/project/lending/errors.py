"""What can go wrong, as the caller sees it, with the status that the API answers."""

from __future__ import annotations


class LendingError(Exception):
    """The base of all errors that the service raises on purpose."""

    status = 500


class Invalid(LendingError):
    """A value that the service does not take."""

    status = 400


class Forbidden(LendingError):
    """The actor may not do this."""

    status = 403


class NotFound(LendingError):
    """There is no row with that number."""

    status = 404


class Conflict(LendingError):
    """It can't be done in the present state."""

    status = 409
