"""Conversations that the gateway knows, each with a client for its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Literal, Optional, cast

from ..gateway_types import Session, SessionPage
from ..wire import path_of
from .requests import Requests

if TYPE_CHECKING:
    from .client import AsyncGatewayClient


class OpenSession:
    """`client` makes the calls of this session."""

    def __init__(self, id: str, requests: Requests, client: AsyncGatewayClient) -> None:
        self.id = id
        self.client = client
        self._requests = requests

    async def get(self) -> Session:
        return cast(Session, await self._requests.request("GET", path_of("/v1/sessions/{id}", id=self.id)))

    async def begin_turn(self) -> Session:
        """Its number is to be said as context.turn_id where another replica may get the next call."""
        return cast(Session, await self._requests.request("POST", path_of("/v1/sessions/{id}/turns", id=self.id)))

    async def end(self) -> Session:
        return cast(Session, await self._requests.request("DELETE", path_of("/v1/sessions/{id}", id=self.id)))


class Sessions:
    def __init__(self, requests: Requests, client_for: Callable[[str], AsyncGatewayClient]) -> None:
        self._requests = requests
        self._client_for = client_for

    async def create(
        self,
        *,
        agent_id: Optional[str] = None,
        user_id: Optional[str] = None,
        tenant_id: Optional[str] = None,
        mode: Optional[Literal["voice", "text", "live_call"]] = None,
    ) -> OpenSession:
        said: Dict[str, Any] = {"agent_id": agent_id, "user_id": user_id, "tenant_id": tenant_id, "mode": mode}
        body = {name: value for name, value in said.items() if value is not None}
        made = await self._requests.request("POST", "/v1/sessions", body=body)
        return self.open(made["id"])

    def open(self, id: str) -> OpenSession:
        """One that was declared before."""
        return OpenSession(id, self._requests, self._client_for(id))

    async def list(self, **query: Any) -> SessionPage:
        return cast(SessionPage, await self._requests.request("GET", "/v1/sessions", query=query))
