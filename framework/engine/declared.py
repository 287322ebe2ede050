"""What a domain declares of itself, held against what there is."""

from __future__ import annotations

from collections import Counter
from typing import Any

from framework.contracts import Domain, Provenance, axis_plugins
from framework.errors import UserError
from framework.registry import find, nearest


def check_domain(domain: Domain[Any]) -> None:
    """Raise UserError naming the domain, its class and the word that is none.

    Words, columns and protocols exist; provenance, length and digest are of their types.
    """
    axis_plugins()  # a fault of theirs is not the domain's
    try:
        _check(domain)
    except UserError as error:
        cls = type(domain)
        named = f"domain={cls.name} " if hasattr(cls, "name") else ""
        where = f"{named}({cls.__module__}.{cls.__qualname__})"
        raise UserError(f"{where}: {error}") from None


def _check(domain: Domain[Any]) -> None:
    provenance = getattr(domain, "provenance", None)
    if not isinstance(provenance, Provenance):
        raise UserError(f"provenance: {provenance!r} given, Provenance expected")
    _check_words(domain)
    for name in domain.protocols:
        try:
            find("protocol", name)
        except UserError as error:
            raise UserError(f"protocols: {error}") from None
    tokens, data = domain.nominal_tokens, domain.digest()
    if not isinstance(tokens, int):
        raise UserError(f"nominal_tokens is {tokens!r}, not a whole number")
    if tokens <= 0:
        raise UserError(f"nominal_tokens is {tokens}")
    if not str(data).startswith("sha256:"):
        raise UserError(f"digest is {data!r}; use framework.text.canonical.digest")


def _check_words(domain: Domain[Any]) -> None:
    provides = domain.provides
    if not provides:
        raise UserError("provides: empty, so nothing would be measured")
    needed = {word for axis in axis_plugins() for word in axis.cls.needs}
    for word in provides:
        if word not in needed:
            raise UserError(f"provides: no axis needs {word!r}{nearest(word, needed)}")
    if len(set(provides)) != len(provides):
        raise UserError("provides: a word appears twice")
    columns = [name for axis in type(domain).axes() for name in find("axis", axis).cls.names]
    if twice := sorted(name for name, times in Counter(columns).items() if times > 1):
        raise UserError(f"axes: two of them fill {', '.join(twice)}")
    if not domain.headline:
        raise UserError("headline: no columns, so tables would be empty")
    for said, given in (
        ("headline", domain.headline),
        ("success_axis", (domain.success_axis,) if domain.success_axis else ()),
    ):
        for name in given:
            if name not in columns:
                raise UserError(
                    f"{said}: {name} is no column of the axes that match{nearest(name, columns)}"
                )
    if "success" in provides and not domain.success_axis:
        raise UserError("success_axis: required, as the domain provides success")
