"""The gateway as an agent's developer uses it."""

from __future__ import annotations

import dataclasses
import os
import uuid
from typing import Any, Callable, Literal, Mapping, Optional, Union

import httpx

from ..errors import ConfirmationRequiredError, error_of_refusal
from ..gateway_types import Envelope, Success
from ..grpc import Grpc
from ..options import Answered, CallContext, CallDefaults, IdempotencyKey, WholeCall
from ..retry import NO_RETRIES, RetryPolicy
from ..wire import with_approval_url
from .accepted_call import AcceptedCall
from .analytics import Analytics
from .approvals import Approvals
from .connection import Connection, Lines, SocketLines
from .requests import Requests
from .rest_call import RestCalls
from .send_call import Calls, send_call
from .sessions import Sessions
from .specs import Specs
from .stream import AsyncToolStream
from .toolbox import AsyncToolbox
from .tools import Tools
from .transport import TokenSource, Transport
from .waiting import now, sleep

_DEFAULT_URL = "http://127.0.0.1:8080"
Retries = Union[RetryPolicy, bool, None]


class AsyncGatewayClient:
    """Calls tools through the gateway. `url` and `api_key` left out: UTE_URL and UTE_API_KEY of the environment.

    `token`, instead of a key, is asked before each request, and with True where the gateway has refused the last one.
    `context` is of every call: agent, user, session, mode. `timeout` is how long a call may take in all, in seconds.
    With `grpc`, calls and streams go over gRPC, and everything else over REST.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        *,
        api_key: Optional[str] = None,
        token: Optional[TokenSource] = None,
        tenant: Optional[str] = None,
        context: Optional[CallContext] = None,
        timeout: float = 60.0,
        retry: Retries = None,
        idempotency_keys: bool = True,
        http: Optional[httpx.AsyncClient] = None,
        grpc: Optional[Grpc] = None,
    ) -> None:
        key = api_key if api_key is not None or token is not None else os.environ.get("UTE_API_KEY")
        address = url or os.environ.get("UTE_URL") or _DEFAULT_URL
        transport = Transport(address, api_key=key, token=token, tenant=tenant, http=http)
        self._grpc: Any = None
        if grpc is not None:
            try:
                from .grpc_calls import GrpcCalls
            except ImportError as missing:
                raise RuntimeError(f"gRPC needs the extra grpc of this package ({missing})") from missing
            self._grpc = GrpcCalls(grpc, transport)
        self._build(transport, CallDefaults(dict(context or {}), timeout, _policy_of(retry), idempotency_keys))

    def _build(self, transport: Transport, defaults: CallDefaults) -> None:
        self._transport = transport
        self._defaults = defaults
        self._rest = RestCalls(transport)
        self._calls: Calls = self._grpc or self._rest
        self._requests = Requests(transport, defaults)
        self.tools = Tools(self._requests, defaults.context)
        self.analytics = Analytics(self._requests)
        self.approvals = Approvals(self._requests)
        self.specs = Specs(self._requests)
        self.sessions = Sessions(self._requests, lambda id: self.with_context(session_id=id))

    async def __aenter__(self) -> AsyncGatewayClient:
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._transport.aclose()
        if self._grpc is not None:
            await self._grpc.aclose()

    def with_context(self, **context: Any) -> AsyncGatewayClient:
        """The same client and connections, for calls of this agent, user, session or mode."""
        client = object.__new__(AsyncGatewayClient)
        both = {**self._defaults.context, **context}
        client._grpc = self._grpc
        client._build(self._transport, dataclasses.replace(self._defaults, context=both))
        return client

    async def execute(
        self,
        tool: str,
        arguments: Optional[Mapping[str, Any]] = None,
        *,
        context: Optional[CallContext] = None,
        idempotency_key: IdempotencyKey = None,
        timeout: Optional[float] = None,
        may_repeat: bool = False,
        retry: Retries = None,
        wait_for_approval: Union[bool, float] = False,
        on_approval: Optional[Callable[[ConfirmationRequiredError], Any]] = None,
        approval_poll: float = 2.0,
    ) -> Success:
        """Calls a tool. Raises the class of the error's type where it did not succeed.

        `may_repeat`: the call may run twice, though it may have acted. `wait_for_approval`: until a human has decided, the
        approval expires, or so many seconds have passed; `on_approval` is told once.
        """
        call = self._call(tool, arguments, context, idempotency_key, timeout, may_repeat, retry)
        answered = await self._executed(call, wait_for_approval, on_approval, approval_poll)
        return _succeeded(answered)

    async def try_execute(
        self,
        tool: str,
        arguments: Optional[Mapping[str, Any]] = None,
        *,
        context: Optional[CallContext] = None,
        idempotency_key: IdempotencyKey = None,
        timeout: Optional[float] = None,
        may_repeat: bool = False,
        retry: Retries = None,
        wait_for_approval: Union[bool, float] = False,
        on_approval: Optional[Callable[[ConfirmationRequiredError], Any]] = None,
        approval_poll: float = 2.0,
    ) -> Envelope:
        """Calls a tool, and gives the envelope whatever it says. Raises only where there was no answer."""
        call = self._call(tool, arguments, context, idempotency_key, timeout, may_repeat, retry)
        return (await self._executed(call, wait_for_approval, on_approval, approval_poll)).envelope

    async def start(
        self,
        tool: str,
        arguments: Optional[Mapping[str, Any]] = None,
        *,
        context: Optional[CallContext] = None,
        idempotency_key: IdempotencyKey = None,
        timeout: Optional[float] = None,
        retry: Retries = None,
        callback_url: Optional[str] = None,
    ) -> AcceptedCall:
        """Has the gateway accept a call now and run it later; where a human has to approve it, it waits for that by itself."""
        call = self._call(tool, arguments, context, idempotency_key, timeout, False, retry)
        later = dataclasses.replace(call, run_later=True, callback_url=callback_url)
        meta = _succeeded(await self._sent(later, self._rest))["meta"]
        if "call_url" not in meta:
            raise RuntimeError("the gateway did not accept the call for later")
        return AcceptedCall(self._requests, meta["call_url"], meta)

    async def stream(
        self,
        *,
        session_id: Optional[str] = None,
        agent_id: Optional[str] = None,
        user_id: Optional[str] = None,
        tenant_id: Optional[str] = None,
        mode: Optional[Literal["voice", "text", "live_call"]] = None,
        language: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> AsyncToolStream:
        """Begins a stream that pauses at calls: for the agent, user, session and mode of the client, unless others are named.

        It goes on over lost connections until it is ended. Over a WebSocket it needs the extra `stream`.
        """
        who = {"session_id": session_id, "agent_id": agent_id, "user_id": user_id, "tenant_id": tenant_id}
        said = {**who, "mode": mode, "language": language}
        shared = {name: value for name, value in self._defaults.context.items() if name in said}
        named = {name: value for name, value in said.items() if value is not None}
        lines: Lines = self._grpc or SocketLines(self._transport.base)
        connection = Connection(lines, self._transport)
        await connection.start({**shared, **named}, self._defaults.timeout if timeout is None else timeout)
        return AsyncToolStream(connection)

    def toolbox(self, *, call: Optional[Mapping[str, Any]] = None, **filter: Any) -> AsyncToolbox:
        """The tools of a dialog: those of the filter (tag, category, tool_type). `call`: of every call, as `execute` takes it."""
        return AsyncToolbox(self, filter, call or {})

    def accepted(self, id_or_url: str) -> AcceptedCall:
        """A call that was accepted before, by its id or its call_url."""
        return AcceptedCall(self._requests, id_or_url if id_or_url.startswith("/") else f"/v1/calls/{id_or_url}")

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
        """Any other route of the gateway: `client.request("GET", "/v1/agents")`. Put ids into the path with `path_of`."""
        return await self._requests.request(method, path, query=query, body=body, headers=headers, timeout=timeout)

    def _call(
        self,
        tool: str,
        arguments: Optional[Mapping[str, Any]],
        context: Optional[CallContext],
        key: IdempotencyKey,
        timeout: Optional[float],
        may_repeat: bool,
        retry: Retries,
    ) -> WholeCall:
        both = {**self._defaults.context, **(context or {})}
        made = str(uuid.uuid4()) if self._defaults.idempotency_keys else None
        return WholeCall(
            tool=tool,
            arguments=dict(arguments or {}),
            context=both,
            key=None if key is False or both.get("dry_run") is True else key or made,
            timeout=self._defaults.timeout if timeout is None else timeout,
            may_repeat=may_repeat,
            retry=self._defaults.retry if retry is None else _policy_of(retry),
        )

    async def _executed(
        self,
        call: WholeCall,
        wait_for_approval: Union[bool, float],
        on_approval: Optional[Callable[[ConfirmationRequiredError], Any]],
        poll_s: float,
    ) -> Answered:
        first = await self._sent(call, self._calls)
        asked = _asked_for(first)
        if wait_for_approval is False or asked is None or asked.confirmation_token is None:
            return first
        if on_approval is not None:
            on_approval(asked)
        # An approval that has expired is told by the gateway: its clock counts.
        ends_at = now() + (float("inf") if wait_for_approval is True else wait_for_approval)
        with_token = {**call.context, "confirmation_token": asked.confirmation_token}
        while now() + poll_s < ends_at:
            await sleep(poll_s)
            answered = await self._sent(dataclasses.replace(call, context=with_token), self._calls)
            pending = _asked_for(answered)
            if pending is None or pending.reason != "APPROVAL_PENDING":
                return answered
        return first

    async def _sent(self, call: WholeCall, calls: Calls) -> Answered:
        answered = await send_call(calls, call)
        return Answered(with_approval_url(answered.envelope, self._transport.base), answered.status)


def _policy_of(retry: Retries) -> RetryPolicy:
    if isinstance(retry, RetryPolicy):
        return retry
    return NO_RETRIES if retry is False else RetryPolicy()


def _succeeded(answered: Answered) -> Success:
    envelope = answered.envelope
    if envelope["ok"]:
        return envelope
    raise error_of_refusal(envelope, answered.status)


def _asked_for(answered: Answered) -> Optional[ConfirmationRequiredError]:
    envelope = answered.envelope
    if envelope["ok"]:
        return None
    error = error_of_refusal(envelope, answered.status)
    return error if isinstance(error, ConfirmationRequiredError) else None
