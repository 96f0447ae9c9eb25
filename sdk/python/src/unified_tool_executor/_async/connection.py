"""Keeps a stream on a line. One that is lost is followed by another, which goes on after the last message that came."""

from __future__ import annotations

from typing import Any, Dict, Optional, Protocol, cast

from ..errors import AuthError, DeadlineError, GatewayConnectionError, GatewayError
from ..gateway_types import Session
from ..retry import RetryPolicy, delay_ms
from ..stream_types import StreamHeard, StreamSaid
from ..stream_wire import LineEnded, Unconfirmed, error_of_message, may_go_on
from .transport import Transport
from .waiting import Lock, now, sleep

# A replica may hand a stream over only when its calls have ended.
_RESUMED_WITHIN_S = 70.0
# Over what `resume_for_ms` says: the gateway may have noticed the loss later.
_GRACE_S = 5.0
_PING_AFTER_S = 15.0
_SILENT_S = 45.0
# Sent since the gateway was asked last how much it has taken.
_ASK_AFTER = 64
_RETRIES = RetryPolicy()


class Line(Protocol):
    async def send(self, message: StreamSaid) -> None: ...
    async def receive(self, timeout: float) -> Optional[StreamHeard]: ...
    async def end(self) -> None: ...
    async def drop(self) -> None: ...


class Lines(Protocol):
    """Opens lines: over a WebSocket or gRPC."""

    async def open(self, credential: Optional[str], tenant: Optional[str], timeout: float) -> Line: ...


class SocketLines:
    def __init__(self, base: str) -> None:
        self._base = base

    async def open(self, credential: Optional[str], tenant: Optional[str], timeout: float) -> Line:
        try:
            from .socket import open_socket
        except ImportError as missing:
            raise RuntimeError(f"streams need the extra stream of this package ({missing})") from missing
        headers = {} if credential is None else {"authorization": f"Bearer {credential}"}
        if tenant is not None:
            headers["x-ute-tenant"] = tenant
        return await open_socket(self._base, headers, timeout)


class Connection:
    def __init__(self, lines: Lines, transport: Transport) -> None:
        self._lines = lines
        self._transport = transport
        self._sending = Lock()
        self._line: Optional[Line] = None
        self._lost: Optional[Exception] = None
        self._last_seq = 0
        self._asked_at = 0
        self._heard_at = 0.0
        self._is_draining = False
        self._started: Dict[str, Any] = {}
        self.unconfirmed = Unconfirmed()
        self.is_over = False

    @property
    def base(self) -> str:
        """Where the gateway's REST is."""
        return self._transport.base

    @property
    def session(self) -> Session:
        return cast(Session, self._started["session"])

    async def start(self, said: Dict[str, Any], timeout: float) -> None:
        """Raises what the gateway says, GatewayConnectionError or DeadlineError."""
        self._started = await self._begin_until({"type": "start", **said}, now() + timeout)

    async def send(self, message: StreamSaid) -> None:
        async with self._sending:
            self.unconfirmed.push(message)
            await self._say(message)
            if self.unconfirmed.sent - self._asked_at >= _ASK_AFTER:
                await self._ask()

    async def receive(self, ends_at: float) -> Optional[StreamHeard]:
        """The next message with a number. None: nothing by then, or `is_over`."""
        while not self.is_over:
            if self._line is None:
                await self._go_on()
            line = self._line
            if line is None:
                continue
            wait_s = min(_PING_AFTER_S, ends_at - now())
            if wait_s <= 0:
                return None
            try:
                message = await line.receive(wait_s)
            except LineEnded:
                self.is_over = True
                return None
            except (GatewayConnectionError, GatewayError) as why:
                self._lose(line, why)
                continue
            if message is None:
                await self._look(line)
                continue
            found = self._heard(message)
            if found is not None:
                return found
        return None

    async def close(self) -> None:
        self.is_over = True
        line, self._line = self._line, None
        if line is not None:
            await line.end()

    def _heard(self, message: StreamHeard) -> Optional[StreamHeard]:
        self._heard_at = now()
        if message["type"] == "reconnect":
            self._is_draining = True
        # A replica that stops answers pings, and takes nothing.
        if message["type"] == "pong" and not self._is_draining:
            self.unconfirmed.confirm(int(message.get("nonce", "0")))
        seq = cast(Any, message).get("seq", 0)
        if seq <= self._last_seq:
            return None
        self._last_seq = seq
        return message

    async def _go_on(self) -> None:
        """Takes the stream up again. Raises where that cannot be."""
        why = self._lost or GatewayConnectionError("the connection of the stream was lost")
        may_refresh = isinstance(why, AuthError) and self._transport.has_tokens
        if not may_go_on(why) and not may_refresh:
            self.is_over = True
            raise why
        first = {"type": "resume", "resume_token": self._started["resume_token"]}
        try:
            await self._begin_until(first, now() + self._started["resume_for_ms"] / 1000 + _GRACE_S)
        except Exception:
            self.is_over = True
            raise

    async def _begin_until(self, first: Dict[str, Any], ends_at: float) -> Dict[str, Any]:
        """One line after the other, until the stream is on one."""
        attempt, refresh = 1, False
        while True:
            said = {**first, "last_seq": self._last_seq} if first["type"] == "resume" else first
            try:
                return await self._begin(said, refresh, ends_at)
            except (GatewayConnectionError, GatewayError) as error:
                may_refresh = isinstance(error, AuthError) and self._transport.has_tokens and not refresh
                pause_s = 0.0 if may_refresh else delay_ms(_RETRIES, attempt, error.retry_after_ms) / 1000
                if not (may_refresh or may_go_on(error)) or now() + pause_s >= ends_at:
                    raise
                refresh = may_refresh
                attempt += 1
            await sleep(pause_s)

    async def _begin(self, first: Dict[str, Any], refresh: bool, ends_at: float) -> Dict[str, Any]:
        credential = await self._transport.credential(refresh)
        ends_at = min(ends_at, now() + _RESUMED_WITHIN_S)
        line = await self._lines.open(credential, self._transport.tenant, ends_at - now())
        try:
            await line.send(cast(Any, first))
            begun = await _answer(line, ends_at)
            async with self._sending:
                self._heard_at, self._is_draining, self._lost = now(), False, None
                if begun["type"] == "resumed":
                    for message in self.unconfirmed.after(begun["received"]):
                        await line.send(message)
                self._line = line
            return begun
        except LineEnded as ended:
            raise GatewayConnectionError("the gateway ended the stream before it began") from ended
        except Exception:
            await line.drop()
            raise

    async def _look(self, line: Line) -> None:
        if now() - self._heard_at > _SILENT_S:
            self._lose(line, GatewayConnectionError("nothing was heard of the gateway for too long"))
            await line.drop()
        elif now() - self._heard_at >= _PING_AFTER_S:
            async with self._sending:
                await self._ask()

    async def _ask(self) -> None:
        self._asked_at = self.unconfirmed.sent
        await self._say({"type": "ping", "nonce": str(self.unconfirmed.sent)})

    async def _say(self, message: StreamSaid) -> None:
        """What is not said now is said on the next line."""
        line = self._line
        if line is None:
            return
        try:
            await line.send(message)
        except LineEnded:
            self.is_over = True
        except (GatewayConnectionError, GatewayError):
            # Whoever reads hears why.
            pass

    def _lose(self, line: Line, why: Exception) -> None:
        if self._line is line:
            self._line, self._lost = None, why


async def _answer(line: Line, ends_at: float) -> Dict[str, Any]:
    """`started` or `resumed`; an error before it is why there is none."""
    while True:
        left_s = ends_at - now()
        message = await line.receive(left_s) if left_s > 0 else None
        if message is None:
            raise DeadlineError("the gateway did not answer in time")
        if message["type"] == "error":
            raise error_of_message(cast(Any, message["error"]))
        if message["type"] in ("started", "resumed"):
            return cast(Dict[str, Any], message)
