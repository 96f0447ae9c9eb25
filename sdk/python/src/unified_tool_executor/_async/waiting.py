"""Time, for code that awaits."""

from __future__ import annotations

import inspect
import time
from contextlib import contextmanager
from typing import Any, Awaitable, Callable, Iterator, List, Sequence, Union

import anyio
from anyio import Lock as Lock

from ..errors import DeadlineError


async def sleep(seconds: float) -> None:
    await anyio.sleep(seconds)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raises DeadlineError where what is inside takes longer, and ends it."""
    try:
        with anyio.fail_after(None if seconds == float("inf") else max(0.0, seconds)):
            yield
    except TimeoutError as error:
        raise DeadlineError("the time of the call is over") from error


def now() -> float:
    return time.monotonic()


async def settled(value: Union[str, Awaitable[str]]) -> str:
    return await value if inspect.isawaitable(value) else value


async def maybe_settled(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def gather(functions: Sequence[Callable[[], Awaitable[Any]]]) -> List[Any]:
    """All at once; results in their order."""
    results: List[Any] = [None] * len(functions)

    failed: List[Exception] = []

    async def kept(at: int) -> None:
        try:
            results[at] = await functions[at]()
        except Exception as error:
            failed.append(error)

    async with anyio.create_task_group() as group:
        for at in range(len(functions)):
            group.start_soon(kept, at)
    if failed:
        raise failed[0]
    return results
