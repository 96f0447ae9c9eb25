"""Calls and streams over gRPC, for code that blocks. Needs the packages grpcio and protobuf."""

from __future__ import annotations

import queue
import threading
from typing import Any, Iterator, Optional

import grpc

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
        self._transport = transport
        given = settings.credentials or grpc.ssl_channel_credentials()
        self._channel = (
            grpc.secure_channel(settings.target, given, options=CHANNEL_OPTIONS)
            if settings.credentials is not None or settings.is_secure
            else grpc.insecure_channel(settings.target, options=CHANNEL_OPTIONS)
        )

    def send(self, call: WholeCall, *, key: Optional[str], repeats: bool, left_s: float) -> Try:
        """A refused token is asked for anew, once."""
        tried = self._send(call, key, left_s, False)
        refused = isinstance(tried, Answered) and not tried.envelope["ok"] and tried.envelope["error"]["type"] == "AUTH"
        return self._send(call, key, left_s, True) if refused and self._transport.has_tokens else tried

    def _send(self, call: WholeCall, key: Optional[str], left_s: float, refresh: bool) -> Try:
        method = self._channel.unary_unary(
            EXECUTE,
            request_serializer=ExecuteRequest.SerializeToString,
            response_deserializer=ExecuteResponse.FromString,
        )
        metadata = metadata_of(self._transport.credential(refresh), self._transport.tenant)
        timeout = None if left_s == float("inf") else left_s
        try:
            return answered(method(execute_request(call, key), metadata=metadata, timeout=timeout))
        except grpc.RpcError as error:
            return answer_of_status(error)

    def open(self, credential: Optional[str], tenant: Optional[str], timeout: float) -> ConverseLine:
        method = self._channel.stream_stream(
            CONVERSE,
            request_serializer=ConverseRequest.SerializeToString,
            response_deserializer=ConverseResponse.FromString,
        )
        return ConverseLine(method, metadata_of(credential, tenant))

    def close(self) -> None:
        self._channel.close()


class ConverseLine:
    """A call of Converse as the line of a stream. Threads: one of grpc takes what is sent, one of ours reads what comes."""

    def __init__(self, method: Any, metadata: Any) -> None:
        self._said: queue.Queue[Any] = queue.Queue()
        # Few: who reads slowly holds the gateway back.
        self._heard: queue.Queue[Any] = queue.Queue(16)
        self._is_over = threading.Event()
        self._call = method(self._requests(), metadata=metadata)
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, message: StreamSaid) -> None:
        self._said.put(converse_request(message))

    def receive(self, timeout: float) -> Optional[StreamHeard]:
        """None: nothing came in time. Raises LineEnded, GatewayConnectionError or GatewayError where it is over."""
        try:
            found = self._heard.get(timeout=timeout)
        except queue.Empty:
            return None
        if isinstance(found, Exception):
            # Whoever asks again hears the same.
            self._heard.put(found)
            raise found
        return converse_message(found)

    def end(self) -> None:
        """As a WebSocket is closed: calls are given up, and nothing is waited for."""
        self.send({"type": "turn_end", "cancel": True})
        self.send({"type": "end"})
        self._said.put(None)
        self._is_over.set()

    def drop(self) -> None:
        self._is_over.set()
        self._said.put(None)
        self._call.cancel()

    def _requests(self) -> Iterator[Any]:
        return iter(self._said.get, None)

    def _read(self) -> None:
        over: Exception = LineEnded()
        try:
            for response in self._call:
                self._keep(response)
        except grpc.RpcError as error:
            over = error_of_status(error)
        self._said.put(None)
        self._keep(over)

    def _keep(self, found: Any) -> None:
        while not self._is_over.is_set():
            try:
                return self._heard.put(found, timeout=1)
            except queue.Full:
                continue
