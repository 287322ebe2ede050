"""What a plugin's method gave, whether it is plain or `async def`."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def maybe_await(value: Awaitable[T] | T) -> T:
    """`value`, awaited where a plugin chose `async def`."""
    return await value if inspect.isawaitable(value) else value
