"""Numbers with what they count, as messages say them."""

from __future__ import annotations


def counted(n: int | str, one: str, form: str = "") -> str:
    """`1 case`, `0 cases`: a number before a noun whose plural ends in s; `form` is the number's.

    Of `job of the sweep` the first noun has the plural.
    """
    noun, of, rest = one.partition(" of ")
    return f"{n:{form}} {noun}{'' if str(n) == '1' else 's'}{of}{rest}"
