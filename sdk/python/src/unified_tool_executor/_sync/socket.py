"""A WebSocket as the line of a stream, for code that blocks. Needs the package websockets."""

from __future__ import annotations

import json
from typing import Any, Mapping, Optional, cast

from websockets.sync.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.typing import Subprotocol

from ..errors import GatewayConnectionError, GatewayError
from ..stream_types import StreamHeard, StreamSaid
from ..stream_wire import ENDED, GOING_AWAY, PROTOCOL, error_of_message, why_closed
from ..wire import Incoming, problem_of


class _Refused(Exception):
    def __init__(self, answer: Incoming) -> None:
        super().__init__(f"HTTP {answer.status}")
        self.answer = answer


class _Connection(ClientConnection):
    """One that follows no redirect: that would take the credential elsewhere."""

    def handshake(self, *given: Any, **named: Any) -> None:
        try:
            super().handshake(*given, **named)
        except InvalidStatus as refused:
            raise _Refused(_answer_of(refused)) from refused


def _answer_of(refused: InvalidStatus) -> Incoming:
    response = refused.response
    headers = {name.lower(): value for name, value in response.headers.raw_items()}
    try:
        body = json.loads(response.body or b"")
    except ValueError:
        body = None
    return Incoming(response.status_code, headers, body)


def open_socket(base: str, headers: Mapping[str, str], timeout: float) -> SocketLine:
    """Raises GatewayConnectionError, or what the gateway says."""
    try:
        # Entered and never left: the line closes it, when it is over.
        socket = connect(
            f"ws{base[4:]}/v1/stream",
            subprotocols=[Subprotocol(PROTOCOL)],
            additional_headers=dict(headers),
            open_timeout=max(0.1, timeout),
            close_timeout=2,
            compression=None,
            max_size=None,
            proxy=None,
            create_connection=_Connection,
        ).__enter__()
    except _Refused as refused:
        raise problem_of(refused.answer) from refused
    except (OSError, TimeoutError, InvalidHandshake) as error:
        raise GatewayConnectionError(f"no stream from {base}", not_sent=True) from error
    return SocketLine(socket)


class SocketLine:
    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._told: Optional[GatewayError] = None

    def send(self, message: StreamSaid) -> None:
        text = json.dumps(message, allow_nan=False)
        try:
            self._socket.send(text)
        except ConnectionClosed as closed:
            raise self._why(closed) from closed

    def receive(self, timeout: float) -> Optional[StreamHeard]:
        """None: nothing came in time. Raises LineEnded, GatewayConnectionError or GatewayError where it is over."""
        text: Any = None
        try:
            text = self._socket.recv(timeout=timeout)
        except TimeoutError:
            return None
        except ConnectionClosed as closed:
            raise self._why(closed) from closed
        if not isinstance(text, str):
            return None
        message = cast(StreamHeard, json.loads(text))
        if message["type"] == "error" and "seq" not in message:
            self._told = error_of_message(cast(Any, message["error"]))
        return message

    def end(self) -> None:
        """Ends the stream at once: the client is through."""
        self._socket.close(ENDED)

    def drop(self) -> None:
        """Lets the connection go, and not the stream."""
        self._socket.close(GOING_AWAY)

    def _why(self, closed: ConnectionClosed) -> Exception:
        frame = closed.rcvd
        return why_closed(None if frame is None else frame.code, "" if frame is None else frame.reason, self._told)
