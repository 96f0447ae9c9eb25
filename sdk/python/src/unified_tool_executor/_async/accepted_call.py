"""A call that runs later. It is found by its URL, also by another process."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, AsyncIterator, Optional, cast
from urllib.parse import unquote

from ..errors import DeadlineError, error_of_refusal
from ..gateway_types import CallView, Envelope, Meta, Success
from ..wire import is_envelope
from .requests import Requests
from .waiting import now, sleep

_FORM = re.compile(r"/v1/calls/(?!\.{1,2}$)[^/?#]+")
_LOOK_S = 1.0


@dataclass(frozen=True)
class CallEvent:
    """What a call says while it runs. `result` is the last: the envelope, or None where none is kept."""

    event: str
    id: Optional[str]
    data: Any


class AcceptedCall:
    def __init__(self, requests: Requests, url: str, meta: Optional[Meta] = None) -> None:
        if not _FORM.fullmatch(url):
            raise ValueError(f"expected the call_url of a call, found {url!r}")
        self._requests = requests
        self.url = url
        self.meta = meta

    @property
    def id(self) -> str:
        return unquote(self.url.rpartition("/")[2])

    @property
    def approval_id(self) -> Optional[str]:
        """What a human has to approve before it runs."""
        return None if self.meta is None else self.meta.get("approval_id")

    @property
    def approval_url(self) -> Optional[str]:
        """Where a human decides about that."""
        return None if self.meta is None else self.meta.get("approval_url")

    async def get(self) -> CallView:
        return cast(CallView, await self._requests.request("GET", self.url))

    async def cancel(self) -> CallView:
        """A call that waits ends at once, one that runs is told. Raises ConflictError where it has ended."""
        return cast(CallView, await self._requests.request("DELETE", self.url))

    async def events(
        self, *, last_event_id: Optional[str] = None, timeout: float = float("inf")
    ) -> AsyncIterator[CallEvent]:
        """From the beginning, or after `last_event_id`; goes on over lost connections, and ends with `result`."""
        async for said in self._requests.events(f"{self.url}/events", last_event_id, timeout):
            yield CallEvent(said.event, said.id, json.loads(said.data))
            if said.event == "result":
                return

    async def result(self, *, timeout: float = float("inf")) -> Success:
        """Waits for its end. Raises the class of the error's type, as `execute` does."""
        ends_at = now() + timeout
        async for said in self.events(timeout=timeout):
            if said.event == "result":
                return _result_of(said.data if is_envelope(said.data) else await self._ended(ends_at))
        raise RuntimeError("the stream of events ended without a result")

    async def _ended(self, ends_at: float) -> Envelope:
        while True:
            call = await self.get()
            if call["result"] is not None:
                return call["result"]
            if call["finished_at"] is not None:
                raise RuntimeError(f"the call is {call['status']}; what it came back with is not kept")
            if now() + _LOOK_S >= ends_at:
                raise DeadlineError("the time of the call is over")
            await sleep(_LOOK_S)


def _result_of(envelope: Envelope) -> Success:
    if envelope["ok"]:
        return envelope
    raise error_of_refusal(envelope)
