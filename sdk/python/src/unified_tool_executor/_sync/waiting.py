"""Time, for code that blocks."""

from __future__ import annotations

import inspect
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock as Lock
from typing import Any, Callable, Iterator, List, Sequence

from ..errors import DeadlineError


def sleep(seconds: float) -> None:
    time.sleep(max(0.0, seconds))


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Nothing can end a thread: what is inside has a timeout of its own for each wait."""
    if seconds <= 0:
        raise DeadlineError("the time of the call is over")
    yield


def now() -> float:
    return time.monotonic()


def settled(value: str) -> str:
    if inspect.isawaitable(value):
        raise TypeError("token: expected a function that returns a string; AsyncGatewayClient takes one that awaits")
    return value


def maybe_settled(value: Any) -> Any:
    if inspect.isawaitable(value):
        raise TypeError("model: expected one that blocks; run_async takes one that awaits")
    return value


def gather(functions: Sequence[Callable[[], Any]]) -> List[Any]:
    """All at once, in threads; results in their order."""
    if len(functions) < 2:
        return [function() for function in functions]
    with ThreadPoolExecutor(max_workers=min(16, len(functions))) as pool:
        return list(pool.map(lambda function: function(), functions))
