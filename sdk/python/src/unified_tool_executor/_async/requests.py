"""Every route of the gateway but calls of tools."""

from __future__ import annotations

from typing import Any, AsyncIterator, Mapping, Optional

from ..errors import DeadlineError, GatewayConnectionError, GatewayError
from ..options import CallDefaults
from ..retry import delay_ms
from ..sse import ServerEvent
from ..wire import Incoming, problem_of, query_of
from .event_stream import follow_events
from .transport import Transport
from .waiting import now, sleep, within

# May be sent again although the answer was lost.
_REPEATABLE = ("GET", "PUT", "DELETE")


class Requests:
    def __init__(self, transport: Transport, defaults: CallDefaults) -> None:
        self._transport = transport
        self._defaults = defaults

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        headers: Optional[Mapping[str, Optional[str]]] = None,
        timeout: Optional[float] = None,
    ) -> Any:
        return (await self.send(method, path, query=query, body=body, headers=headers, timeout=timeout)).body

    async def send(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        headers: Optional[Mapping[str, Optional[str]]] = None,
        timeout: Optional[float] = None,
    ) -> Incoming:
        policy = self._defaults.retry
        ends_at = now() + (self._defaults.timeout if timeout is None else timeout)
        attempt = 1
        while True:
            left_s = ends_at - now()
            failure: Exception
            try:
                with within(left_s):
                    answer = await self._transport.send(
                        method, path, body=body, headers=headers, query=query_of(query or {}), timeout=left_s
                    )
                if answer.status < 400:
                    return answer
                failure = problem_of(answer)
            except GatewayConnectionError as error:
                if now() >= ends_at:
                    raise DeadlineError("the time of the request is over") from error
                failure = error
            pause_s = delay_ms(policy, attempt, getattr(failure, "retry_after_ms", None)) / 1000
            if attempt >= policy.max_attempts or not _may_repeat(method, failure) or now() + pause_s >= ends_at:
                raise failure
            attempt += 1
            await sleep(pause_s)

    def events(
        self, path: str, last_event_id: Optional[str] = None, timeout: float = float("inf")
    ) -> AsyncIterator[ServerEvent]:
        """From the last id on, over lost connections."""
        return follow_events(self._transport, path, last_event_id, timeout)


def _may_repeat(method: str, failure: Exception) -> bool:
    """What the gateway says it did not do, and what may be done twice."""
    if isinstance(failure, GatewayConnectionError):
        passing = failure.status is None or failure.status == 429 or failure.status >= 502
        return passing and (failure.not_sent or method in _REPEATABLE)
    return isinstance(failure, GatewayError) and failure.retryable and method in _REPEATABLE
