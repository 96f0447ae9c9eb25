"""Streams on the wire: what ends a connection, and what has to be said again on the next one."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Sequence, cast

from .errors import GatewayConnectionError, GatewayError, error_of
from .gateway_types import Envelope
from .stream_types import StreamHeardToolResult, StreamSaid

PROTOCOL = "ute.v1"
ENDED = 1000
# The close of a connection that is let go: the gateway keeps the stream.
GOING_AWAY = 3000
_TOO_LARGE = 1009
# Characters that the gateway takes in one message.
_LONGEST = 16_384

_TYPES = {
    400: "VALIDATION",
    401: "AUTH",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    408: "TIMEOUT",
    409: "CONFLICT",
    413: "PAYLOAD_TOO_LARGE",
    429: "CONCURRENCY_LIMIT",
    503: "UNAVAILABLE",
}


class LineEnded(Exception):
    """The gateway has ended the stream, as the client wanted."""


def why_closed(code: Optional[int], reason: str, told: Optional[GatewayError]) -> Exception:
    """`told`: what the gateway said last of why it closes."""
    if code == ENDED:
        return LineEnded()
    if code == _TOO_LARGE:
        return _closed_by("PAYLOAD_TOO_LARGE", "PAYLOAD_TOO_LARGE", 413)
    status = (code or 0) - 4000
    if not 400 <= status <= 599:
        return GatewayConnectionError(f"the connection of the stream was lost ({code})")
    if told is not None and told.reason == reason:
        return told
    return _closed_by(_TYPES.get(status, "INTERNAL"), reason, status)


def _closed_by(type: str, reason: str, status: int) -> GatewayError:
    message = f"the gateway has closed the stream: {reason}"
    return error_of(type, message, reason=reason, retryable=status in (429, 503), origin="gateway", status=status)


def error_of_message(error: Dict[str, Any], status: int = 400) -> GatewayError:
    """What is wrong with a message, or with who says it."""
    fields = {name: error[name] for name in ("reason", "retryable", "retry_after_ms", "details")}
    return error_of(error["type"], error["message"], origin="caller", status=status, **fields)


def may_go_on(why: Exception) -> bool:
    """Whether another connection may go on with the stream."""
    if isinstance(why, GatewayConnectionError):
        return True
    return isinstance(why, GatewayError) and (why.retryable or why.reason == "READER_TOO_SLOW")


def envelope_of(message: StreamHeardToolResult) -> Envelope:
    """A result as REST answers it."""
    if message["ok"]:
        data, intents = message.get("result"), message.get("intents", [])
        return cast(Envelope, {"ok": True, "data": data, "intents": intents, "meta": message["meta"]})
    return cast(Envelope, {"ok": False, "error": message["error"], "meta": message["meta"]})


def pieces_of(text: str) -> Iterator[str]:
    """Text in pieces that one message may hold, as UTF-16 counts."""
    start, units = 0, 0
    for at, character in enumerate(text):
        width = 2 if ord(character) > 0xFFFF else 1
        if units + width > _LONGEST:
            yield text[start:at]
            start, units = at, 0
        units += width
    if start < len(text):
        yield text[start:]


class Unconfirmed:
    """What was sent, and may have to be sent again on another connection."""

    def __init__(self) -> None:
        self.sent = 0
        self._confirmed = 0
        self._messages: List[StreamSaid] = []

    def __len__(self) -> int:
        return len(self._messages)

    def push(self, message: StreamSaid) -> None:
        self.sent += 1
        self._messages.append(message)

    def confirm(self, taken: int) -> None:
        """The gateway has taken the first so many of all."""
        if taken > self._confirmed:
            del self._messages[: taken - self._confirmed]
            self._confirmed = min(taken, self.sent)

    def after(self, taken: int) -> Sequence[StreamSaid]:
        """What the gateway has to be sent again, of which it says how many it has taken."""
        if taken < self._confirmed:
            raise GatewayConnectionError("the gateway has lost a part of the stream: start another one")
        self.confirm(taken)
        return list(self._messages)
