"""Statistics: pure functions on arrays, one module a family.

No input or output and no configuration. A number that can't be had is ``None`` (NaN inside arrays)
with a method or reason that says why. Random draws come from generators named by what is computed,
so results depend neither on the order of cases nor on what else is computed.
"""
