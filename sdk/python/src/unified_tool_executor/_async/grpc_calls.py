"""Calls and streams over gRPC, for code that awaits. Needs the packages grpcio and protobuf, and asyncio."""

from __future__ import annotations

import asyncio
from typing import Any, Optional

import grpc
import grpc.aio

from ..grpc import Grpc
from ..grpc_wire import (
    CHANNEL_OPTIONS,
    CONVERSE,
    EXECUTE,
    ConverseRequest,
    ConverseResponse,
    ExecuteRequest,
    ExecuteResponse,
    answer_of_status,
    answered,
    converse_message,
    converse_request,
    error_of_status,
    execute_request,
    metadata_of,
)
from ..options import Answered, Try, WholeCall
from ..stream_types import StreamHeard, StreamSaid
from ..stream_wire import LineEnded
from .transport import Transport


class GrpcCalls:
    def __init__(self, settings: Grpc, transport: Transport) -> None:
        self._settings = settings
        self._transport = transport
        self._opened: Optional[grpc.aio.Channel] = None

    @property
    def _channel(self) -> grpc.aio.Channel:
        """Of the event loop that is there with the first call."""
        if self._opened is None:
            given = self._settings.credentials or grpc.ssl_channel_credentials()
            secure = self._settings.credentials is not None or self._settings.is_secure
            self._opened = (
                grpc.aio.secure_channel(self._settings.target, given, options=CHANNEL_OPTIONS)
                if secure
                else grpc.aio.insecure_channel(self._settings.target, options=CHANNEL_OPTIONS)
            )
        return self._opened

    async def send(self, call: WholeCall, *, key: Optional[str], repeats: bool, left_s: float) -> Try:
        """A refused token is asked for anew, once."""
        tried = await self._send(call, key, left_s, False)
        refused = isinstance(tried, Answered) and not tried.envelope["ok"] and tried.envelope["error"]["type"] == "AUTH"
        return await self._send(call, key, left_s, True) if refused and self._transport.has_tokens else tried

    async def _send(self, call: WholeCall, key: Optional[str], left_s: float, refresh: bool) -> Try:
        method = self._channel.unary_unary(
            EXECUTE,
            request_serializer=ExecuteRequest.SerializeToString,
            response_deserializer=ExecuteResponse.FromString,
        )
        metadata = metadata_of(await self._transport.credential(refresh), self._transport.tenant)
        timeout = None if left_s == float("inf") else left_s
        try:
            return answered(await method(execute_request(call, key), metadata=metadata, timeout=timeout))
        except grpc.RpcError as error:
            return answer_of_status(error)

    async def open(self, credential: Optional[str], tenant: Optional[str], timeout: float) -> ConverseLine:
        method = self._channel.stream_stream(
            CONVERSE,
            request_serializer=ConverseRequest.SerializeToString,
            response_deserializer=ConverseResponse.FromString,
        )
        return ConverseLine(method(metadata=metadata_of(credential, tenant)))

    async def aclose(self) -> None:
        if self._opened is not None:
            await self._opened.close()


class ConverseLine:
    """A call of Converse as the line of a stream."""

    def __init__(self, call: Any) -> None:
        self._call = call
        # Whoever gives up waiting does not give up the call: what is read next is kept.
        self._reading: Optional[asyncio.Future[Any]] = None

    async def send(self, message: StreamSaid) -> None:
        try:
            await self._call.write(converse_request(message))
        except (grpc.RpcError, asyncio.InvalidStateError) as error:
            raise await self._why() from error

    async def receive(self, timeout: float) -> Optional[StreamHeard]:
        """None: nothing came in time. Raises LineEnded, GatewayConnectionError or GatewayError where it is over."""
        reading = self._reading or asyncio.ensure_future(self._call.read())
        self._reading = reading
        await asyncio.wait([reading], timeout=timeout)
        if not reading.done():
            return None
        self._reading = None
        try:
            response = reading.result()
        except grpc.RpcError as error:
            raise error_of_status(error) from error
        if response is grpc.aio.EOF:
            raise await self._why()
        return converse_message(response)

    async def end(self) -> None:
        """As a WebSocket is closed: calls are given up, and nothing is waited for."""
        try:
            await self._call.write(converse_request({"type": "turn_end", "cancel": True}))
            await self._call.write(converse_request({"type": "end"}))
            await self._call.done_writing()
        except (grpc.RpcError, asyncio.InvalidStateError):
            pass

    async def drop(self) -> None:
        self._call.cancel()

    async def _why(self) -> Exception:
        """What the call has ended with."""
        call = self._call
        code = await call.code()
        if code == grpc.StatusCode.OK:
            return LineEnded()
        said = await call.initial_metadata(), await call.trailing_metadata()
        return error_of_status(grpc.aio.AioRpcError(code, *said, details=await call.details()))
