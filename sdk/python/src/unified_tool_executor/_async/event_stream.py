"""Follows a stream of events over lost connections: from the last id on, until whoever reads has had enough."""

from __future__ import annotations

import json
from typing import AsyncIterator, Optional

import httpx

from ..errors import DeadlineError, GatewayConnectionError
from ..sse import EventParser, ServerEvent
from ..wire import Incoming, problem_of
from .transport import Transport
from .waiting import now, sleep

# The gateway says that it is there every 15 seconds.
_SILENT_S = 45.0
_FIRST_DELAY_S = 0.25
_MAX_DELAY_S = 10.0
_MAX_FAILURES = 8


async def follow_events(
    transport: Transport, path: str, last_event_id: Optional[str], timeout: float
) -> AsyncIterator[ServerEvent]:
    """Ends only with the reader, the deadline or a refusal: a stream that breaks off is taken up again."""
    ends_at = now() + timeout
    last_id, failures = last_event_id, 0
    while True:
        parser = EventParser()
        pause_s = _FIRST_DELAY_S * 2 ** min(failures, 6)
        lost: Optional[GatewayConnectionError] = None
        try:
            async for event in _read_once(transport, path, last_id, ends_at, parser):
                failures = 0
                last_id = event.id if event.id is not None else last_id
                if event.event == "reconnect":
                    break
                yield event
        except GatewayConnectionError as error:
            if error.status is not None and error.status != 429 and error.status < 500:
                raise
            lost = error
        failures += 1
        if failures > _MAX_FAILURES:
            raise lost or GatewayConnectionError("the stream of events ends again and again without an event")
        asked_ms = max(parser.retry_ms or 0, (lost.retry_after_ms if lost is not None else None) or 0)
        pause_s = min(max(pause_s, asked_ms / 1000), _MAX_DELAY_S)
        if now() + pause_s >= ends_at:
            raise DeadlineError(f"the stream of events did not end within {timeout} s")
        await sleep(pause_s)


async def _read_once(
    transport: Transport, path: str, last_id: Optional[str], ends_at: float, parser: EventParser
) -> AsyncIterator[ServerEvent]:
    # Each piece has to come in time: what is silent for longer is not there any more.
    limit = min(_SILENT_S, ends_at - now())
    if limit <= 0:
        raise DeadlineError("the time of the stream is over")
    headers = {"accept": "text/event-stream", "last-event-id": last_id}
    async with transport.open("GET", path, timeout=limit, headers=headers) as response:
        if response.status_code != 200:
            raise await _refusal_of(response)
        try:
            async for piece in response.aiter_bytes():
                for event in parser.push(piece):
                    yield event
                if now() >= ends_at:
                    raise DeadlineError("the time of the stream is over")
        except httpx.HTTPError as error:
            raise GatewayConnectionError("the stream of events broke off") from error


async def _refusal_of(response: httpx.Response) -> Exception:
    try:
        body = json.loads(await response.aread())
    except (ValueError, httpx.HTTPError):
        body = None
    problem = problem_of(Incoming(response.status_code, response.headers, body))
    if isinstance(problem, GatewayConnectionError):
        return problem
    if problem.retryable and problem.status >= 429:
        # A replica that stops, or a database that is away: another try may find it.
        return GatewayConnectionError(str(problem), status=problem.status, retry_after_ms=problem.retry_after_ms)
    return problem
