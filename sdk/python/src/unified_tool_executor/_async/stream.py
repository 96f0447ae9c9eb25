"""A conversation that pauses at calls, over one connection after the other. docs/stream.md says what it promises."""

from __future__ import annotations

from collections import deque
from typing import Any, AsyncIterator, Callable, Deque, Dict, Mapping, Optional, cast

from ..errors import DeadlineError, GatewayConnectionError, GatewayError, error_of_refusal
from ..gateway_types import Envelope, Session, Success
from ..stream_types import StreamHeard, StreamHeardToolResult
from ..stream_wire import envelope_of, pieces_of
from ..wire import with_approval_url
from .connection import Connection
from .waiting import Lock, now

# Text, in characters, that the gateway has not come to yet: no more is sent ahead.
_MOST_AHEAD = 65_536
_MOST_UNCONFIRMED = 512
_MOST_UNREAD = 8_192
_FOREVER = float("inf")


class StreamedCall:
    """One call in a stream, and its result when it has come."""

    def __init__(self, stream: AsyncToolStream, id: str, tool: str) -> None:
        self.id = id
        self.tool = tool
        self._stream = stream
        self._envelope: Optional[Envelope] = None

    async def result(self, *, timeout: float = _FOREVER) -> Success:
        """Raises the class of the error's type where it did not succeed, and what ended the stream."""
        envelope = await self.try_result(timeout=timeout)
        if envelope["ok"]:
            return envelope
        raise error_of_refusal(envelope)

    async def try_result(self, *, timeout: float = _FOREVER) -> Envelope:
        """The envelope, whatever it says. Raises only where the stream ended without it."""
        await self._stream._until(lambda: self._envelope is not None, timeout)
        if self._envelope is None:
            raise self._stream._why or GatewayConnectionError(f"the stream ended before the result of {self.tool} came")
        return self._envelope

    async def cancel(self) -> None:
        """Gives the call up: its result says so, and whether it may have done something."""
        if self._envelope is None:
            await self._stream._send({"type": "tool_cancel", "id": self.id})


class AsyncToolStream:
    """What is read, and waited for, drives it: a stream that nobody reads or waits on is lost after a while."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._reading = Lock()
        self._unread: Deque[StreamHeard] = deque()
        self._calls: Dict[str, StreamedCall] = {}
        self._ahead = 0
        self._made = 0
        self._is_ending = False
        self._is_over = False
        self._too_many = False
        self._why: Optional[Exception] = None
        self.session: Session = connection.session
        """As it was when the stream began."""

    async def __aenter__(self) -> AsyncToolStream:
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.aclose()

    async def __aiter__(self) -> AsyncIterator[StreamHeard]:
        """What the gateway says, in its order, over every connection."""
        while True:
            await self._until(lambda: len(self._unread) > 0, _FOREVER)
            if self._too_many:
                raise RuntimeError(f"more than {_MOST_UNREAD} messages of the stream came before they were read")
            if self._unread:
                yield self._unread.popleft()
            elif self._why is not None:
                raise self._why
            else:
                return

    async def text(self, text: str) -> None:
        """A piece of the model's text: it comes back in its place. Returns when there is room for more."""
        for piece in pieces_of(text):
            self._ahead += len(piece)
            await self._send({"type": "text_delta", "text": piece})
            await self._until(self._has_room, _FOREVER)

    async def call(
        self,
        tool: str,
        arguments: Optional[Mapping[str, Any]] = None,
        *,
        id: Optional[str] = None,
        context: Optional[Mapping[str, Any]] = None,
        timeout: Optional[float] = None,
    ) -> StreamedCall:
        """Calls a tool: what is said after it comes back after its result. `context`: as over REST; session, agent, user and
        mode are those of the stream."""
        name = self._new_id() if id is None else id
        if name in self._calls:
            raise ValueError(f"id: a call {name!r} is under way in this stream")
        said: Dict[str, Any] = {"type": "tool_call", "id": name, "tool_name": tool, "arguments": dict(arguments or {})}
        if context is not None:
            said["context"] = dict(context)
        if timeout is not None:
            said["timeout_ms"] = max(1, int(timeout * 1000))
        call = self._calls[name] = StreamedCall(self, name, tool)
        await self._send(said)
        return call

    async def start_turn(self) -> None:
        """Begins the next turn of the session, with budgets of its own."""
        await self._send({"type": "turn_start"})

    async def end_turn(self, *, cancel: bool = False) -> None:
        """`cancel`: calls that are under way are given up, since the caller speaks already."""
        await self._send({"type": "turn_end", "cancel": cancel})

    async def end(self, *, end_session: Optional[bool] = None) -> None:
        """Ends it once its calls have ended, and the session that it declared, unless `end_session` says otherwise."""
        if not self._is_ending and not self._is_over:
            await self._send({"type": "end", **({} if end_session is None else {"end_session": end_session})})
        self._is_ending = True
        await self._until(lambda: self._is_over, _FOREVER)
        if self._why is not None:
            raise self._why

    async def aclose(self) -> None:
        """Ends it at once: calls that are under way are given up."""
        if not self._is_over:
            self._is_over = True
            await self._connection.close()

    async def _send(self, said: Dict[str, Any]) -> None:
        if self._is_over or self._is_ending:
            raise self._why or GatewayConnectionError("the stream is over", not_sent=True)
        await self._connection.send(cast(Any, said))

    def _has_room(self) -> bool:
        return self._ahead <= _MOST_AHEAD and len(self._connection.unconfirmed) <= _MOST_UNCONFIRMED

    async def _until(self, done: Callable[[], bool], timeout: float) -> None:
        """Takes what the gateway says, one reader after the other, until that is so, or the stream is over."""
        ends_at = now() + timeout
        while not done() and not self._is_over:
            async with self._reading:
                if not done() and not self._is_over:
                    await self._take(ends_at)

    async def _take(self, ends_at: float) -> None:
        if now() >= ends_at:
            raise DeadlineError("the time of the caller is over")
        try:
            message = await self._connection.receive(ends_at)
        except (GatewayConnectionError, GatewayError) as why:
            # Its end was said, and what told it was lost: it is over all the same.
            is_gone = isinstance(why, GatewayError) and why.reason == "STREAM_NOT_FOUND"
            self._why = None if self._is_ending and is_gone and not self._calls else why
            self._is_over = True
            return
        if message is None:
            self._is_over = self._connection.is_over
            return
        if message["type"] == "text_delta":
            self._ahead -= len(message["text"])
        if message["type"] == "tool_result":
            self._settle(message)
        if len(self._unread) < _MOST_UNREAD:
            self._unread.append(message)
        else:
            # Whoever never reads, and waits for results alone, is not troubled by it; memory has an end.
            self._too_many = True

    def _settle(self, message: StreamHeardToolResult) -> None:
        call = self._calls.pop(message["id"], None)
        if call is not None:
            call._envelope = with_approval_url(envelope_of(message), self._connection.base)

    def _new_id(self) -> str:
        self._made += 1
        while f"call_{self._made}" in self._calls:
            self._made += 1
        return f"call_{self._made}"
