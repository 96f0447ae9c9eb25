"""Serves tools of one's own to the gateway: a small server for scripts, and an ASGI application for any server."""

from __future__ import annotations

import asyncio
import inspect
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Awaitable, Callable, Iterable, Literal, MutableMapping, Optional, Union

import anyio
import anyio.to_thread

from .declare import ToolFunction
from .tool_calls import MAX_BODY_BYTES, Answer, Asked, OnError, ToolCalls, pairs, refusal

__all__ = ["ToolServer", "asgi_app", "serve_tools"]

_MOST_PASSED_OVER = 16 * MAX_BODY_BYTES
# The gateway ends the call itself when its time is over; its word is to come first.
_GRACE_S = 0.5


class ToolServer:
    """Runs in threads of its own until it is closed. Behind it a proxy ends TLS, where the gateway is on another machine."""

    def __init__(self, calls: ToolCalls, host: str, port: int) -> None:
        self._server = ThreadingHTTPServer((host, port), _handler_of(calls))
        self._server.daemon_threads = True
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, name="tools", daemon=True)
        self._thread.start()

    def __enter__(self) -> ToolServer:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def wait(self) -> None:
        """Until it is closed, or the process is told to stop."""
        self._thread.join()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def serve_tools(
    functions: Iterable[ToolFunction],
    *,
    secret: Union[str, Literal[False]],
    host: str = "127.0.0.1",
    port: int = 0,
    on_error: Optional[OnError] = None,
) -> ToolServer:
    """`port` 0: any that is free. `on_error` is told of what a tool raised that is no ToolError."""
    return ToolServer(ToolCalls(functions, secret, on_error), host, port)


def _handler_of(calls: ToolCalls) -> type:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # A peer that says nothing for so long is gone.
        timeout = 60

        def do_POST(self) -> None:
            length = self.headers.get("content-length", "")
            if not length.isascii() or not length.isdigit() or len(length) > 12:
                return self._say(refusal(411, "The request does not say how long it is."), keep=False)
            if int(length) > MAX_BODY_BYTES:
                self._pass_over(int(length))
                return self._say(refusal(413, f"The arguments are longer than {MAX_BODY_BYTES} bytes."), keep=False)
            body = self.rfile.read(int(length))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = calls.read("POST", self.path, headers, body)
            return self._say(asked if isinstance(asked, Answer) else _run(calls, asked))

        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = calls.read("GET", self.path, headers, b"")
            self._say(answer if isinstance(answer, Answer) else refusal(405, "A tool is called by POST."), keep=False)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: paths and addresses are the server's own business."""

        def _pass_over(self, length: int) -> None:
            """Who still writes does not read the answer."""
            left = min(length, _MOST_PASSED_OVER)
            while left > 0:
                piece = self.rfile.read(min(left, 65_536))
                if not piece:
                    return
                left -= len(piece)

        def _say(self, answer: Answer, keep: bool = True) -> None:
            self.send_response(answer.status)
            self.send_header("content-type", answer.content_type)
            self.send_header("content-length", str(len(answer.body)))
            if not keep:
                self.send_header("connection", "close")
                self.close_connection = True
            self.end_headers()
            self.wfile.write(answer.body)

    return Handler


def _run(calls: ToolCalls, asked: Asked) -> Answer:
    try:
        result = asked.function(**asked.arguments)
        if inspect.isawaitable(result):
            result = asyncio.run(_within(asked, result))
        return calls.answered(result)
    except Exception as error:
        return calls.failed(error, asked.name)


async def _within(asked: Asked, result: Awaitable[Any]) -> Any:
    """What awaits is ended when the gateway waits no more; what blocks cannot be."""
    told = asked.told.timeout
    with anyio.fail_after(None if told is None else told + _GRACE_S):
        return await result


Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


def asgi_app(
    functions: Iterable[ToolFunction], *, secret: Union[str, Literal[False]], on_error: Optional[OnError] = None
) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    """For uvicorn, hypercorn and the like, alone or mounted below any path. What blocks runs in threads."""
    calls = ToolCalls(functions, secret, on_error)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await _lifespan(receive, send)
        if scope["type"] != "http":
            return
        body = b""
        more = True
        while more and len(body) <= MAX_BODY_BYTES:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        asked = calls.read(scope["method"], scope["path"], pairs(scope["headers"]), body)
        answer = asked if isinstance(asked, Answer) else await _run_async(calls, asked)
        headers = [(b"content-type", answer.content_type.encode()), (b"content-length", str(len(answer.body)).encode())]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.body})

    return app


async def _run_async(calls: ToolCalls, asked: Asked) -> Answer:
    try:
        if inspect.iscoroutinefunction(asked.function):
            return calls.answered(await _within(asked, asked.function(**asked.arguments)))
        return calls.answered(await anyio.to_thread.run_sync(lambda: asked.function(**asked.arguments)))
    except Exception as error:
        return calls.failed(error, asked.name)


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
