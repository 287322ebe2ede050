"""Arithmetic over named values: the public formulas of derived fields and of amounts.

The grammar is closed: numbers, names, ``+ - * /``, unary minus, parentheses, and the functions
``min``, ``max`` and ``round`` (one value, half to even). Two dates subtract to days, and days may
be added to a date. Nothing else can be written, so a formula from a file is safe to evaluate.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import lru_cache
from typing import Final

from framework.text.reading import read_expression

MAX_LENGTH: Final = 500
"""Longest formula, in characters."""

_FUNCTIONS: Final = {"min": min, "max": max, "round": round}
_OPERATORS: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def evaluate(formula: str, values: Mapping[str, float | date]) -> float:
    """The value of `formula`, as a float; days where it is a difference of dates.

    `values` holds a number or a date for every name of the formula; further ones are ignored.

    Raises ValueError when the formula is not of the grammar, a name has no value, a date is used as
    a number, or the result is not a finite number (a division by zero included).

    >>> evaluate("monthly_debt / (income / 12)", {"monthly_debt": 3000, "income": 120_000})
    0.3
    """
    try:
        result = _value(_parse(formula), values)
    except (ZeroDivisionError, OverflowError) as error:
        raise ValueError(f"{formula!r}: {error}") from None
    except ValueError as error:
        raise ValueError(f"{formula!r}: {error}") from None
    if isinstance(result, date):
        raise ValueError(f"{formula!r}: a date, not a number")
    if not math.isfinite(result):
        raise ValueError(f"{formula!r}: not a finite number")
    return float(result)


@lru_cache(maxsize=4096)
def names(formula: str) -> frozenset[str]:
    """The names that `formula` reads. Raises ValueError when it is not of the grammar."""
    try:
        return frozenset(_names(_parse(formula)))
    except ValueError as error:
        raise ValueError(f"{formula!r}: {error}") from None


@lru_cache(maxsize=4096)
def _parse(formula: str) -> ast.expr:
    if len(formula) > MAX_LENGTH:
        raise ValueError(f"longer than {MAX_LENGTH} characters")
    try:
        node = read_expression(formula.strip())
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        raise ValueError("not an arithmetic formula") from None
    _check(node)
    return node


def _check(node: ast.expr) -> None:
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            return
        case ast.Name():
            if node.id in _FUNCTIONS:
                raise ValueError(f"{node.id} needs parentheses")
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            _check(left)
            _check(right)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _check(operand)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            if len(args) != 1 if name == "round" else len(args) < 2:
                raise ValueError(f"{name} of {len(args)} values")
            for argument in args:
                _check(argument)
        case _:
            raise ValueError(f"{ast.unparse(node)} is not arithmetic")


def _names(node: ast.expr) -> list[str]:
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.BinOp(left=left, right=right):
            return _names(left) + _names(right)
        case ast.UnaryOp(operand=operand):
            return _names(operand)
        case ast.Call(args=args):
            return [name for argument in args for name in _names(argument)]
        case _:
            return []


def _value(node: ast.expr, values: Mapping[str, float | date]) -> float | date:
    match node:
        case ast.Constant(value=number):
            return number  # type: ignore[return-value]  # _check let only numbers through
        case ast.Name(id=name):
            if name not in values:
                raise ValueError(f"no value for {name}")
            return values[name]
        case ast.BinOp(left=left, op=op, right=right):
            return _combine(op, _value(left, values), _value(right, values))
        case ast.UnaryOp(operand=operand):
            return -_number(_value(operand, values))
        case ast.Call(func=ast.Name(id=name), args=args):
            arguments = [_number(_value(argument, values)) for argument in args]
            return _FUNCTIONS[name](*arguments)  # type: ignore[operator, no-any-return]
        case _:
            raise AssertionError(ast.dump(node))


def _combine(op: ast.operator, left: float | date, right: float | date) -> float | date:
    if isinstance(left, date) and isinstance(right, date) and isinstance(op, ast.Sub):
        return float((left - right).days)
    if isinstance(left, date) and isinstance(op, (ast.Add, ast.Sub)):
        days = timedelta(days=_number(right))
        return left + days if isinstance(op, ast.Add) else left - days
    return _OPERATORS[type(op)](_number(left), _number(right))


def _number(value: float | date) -> float:
    if isinstance(value, date):
        raise ValueError("a date is used as a number")
    return value
