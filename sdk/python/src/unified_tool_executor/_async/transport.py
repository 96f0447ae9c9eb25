"""One request and its answer. Credentials go to the gateway's own address and nowhere else."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import Any, AsyncIterator, Awaitable, Callable, Dict, Mapping, Optional, Union
from urllib.parse import urlsplit

import httpx

from ..errors import GatewayConnectionError
from ..wire import Incoming
from .waiting import settled

TokenSource = Callable[[bool], Union[str, Awaitable[str]]]
"""Asked before each request; True: the gateway has refused the token that it gave last."""


class Transport:
    def __init__(
        self,
        url: str,
        *,
        api_key: Optional[str],
        token: Optional[TokenSource],
        tenant: Optional[str],
        http: Optional[httpx.AsyncClient],
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise ValueError(f"url: expected an http or https URL without user, password and query, found {url!r}")
        self.base = url.rstrip("/")
        self._api_key = api_key
        self._token = token
        self.tenant = tenant
        # A redirect would take the credential elsewhere.
        self._http = http or httpx.AsyncClient(follow_redirects=False, trust_env=False)

    async def send(
        self,
        method: str,
        path: str,
        *,
        timeout: float,
        body: Any = None,
        headers: Optional[Mapping[str, Optional[str]]] = None,
        query: Optional[Dict[str, str]] = None,
    ) -> Incoming:
        """An answer in JSON. Raises GatewayConnectionError where there was none."""
        async with self.open(method, path, timeout=timeout, body=body, headers=headers, query=query) as response:
            try:
                content = await response.aread()
            except httpx.HTTPError as error:
                raise GatewayConnectionError("the answer of the gateway broke off") from error
            if not _is_json(response.headers.get("content-type", "")):
                return Incoming(response.status_code, response.headers, response.text)
            try:
                return Incoming(response.status_code, response.headers, json.loads(content))
            except ValueError as error:
                raise GatewayConnectionError("the answer of the gateway is not what it says") from error

    @asynccontextmanager
    async def open(
        self,
        method: str,
        path: str,
        *,
        timeout: float,
        body: Any = None,
        headers: Optional[Mapping[str, Optional[str]]] = None,
        query: Optional[Dict[str, str]] = None,
    ) -> AsyncIterator[httpx.Response]:
        """An answer whose body is still to be read. A refused token is asked for anew, once."""
        response = await self._fetch(method, path, timeout, body, headers or {}, query, False)
        if response.status_code == 401 and self._token is not None:
            await response.aclose()
            response = await self._fetch(method, path, timeout, body, headers or {}, query, True)
        try:
            yield response
        finally:
            await response.aclose()

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _fetch(
        self,
        method: str,
        path: str,
        timeout: float,
        body: Any,
        headers: Mapping[str, Optional[str]],
        query: Optional[Dict[str, str]],
        refresh: bool,
    ) -> httpx.Response:
        credential = await self.credential(refresh)
        wanted: Dict[str, Optional[str]] = {
            "accept": "application/json",
            "authorization": None if credential is None else f"Bearer {credential}",
            "x-ute-tenant": self.tenant,
            "content-type": None if body is None else "application/json",
            **headers,
        }
        sent = {name: value for name, value in wanted.items() if value is not None}
        content = None if body is None else json.dumps(body, allow_nan=False).encode()
        limit = None if timeout == float("inf") else max(0.001, timeout)
        request = self._http.build_request(
            method, self.base + path, params=query, headers=sent, content=content, timeout=httpx.Timeout(limit)
        )
        try:
            response = await self._http.send(request, stream=True, follow_redirects=False)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise GatewayConnectionError(f"no connection to {self.base}", not_sent=True) from error
        except httpx.LocalProtocolError as error:
            raise ValueError(f"a header cannot be sent: {error}") from None
        except httpx.HTTPError as error:
            raise GatewayConnectionError(f"no answer from {self.base}") from error
        if response.is_redirect:
            await response.aclose()
            message = "something between answers with a redirect; redirects are not followed"
            raise GatewayConnectionError(message, status=response.status_code)
        return response

    @property
    def has_tokens(self) -> bool:
        """Whether asking anew may bring another credential."""
        return self._token is not None

    async def credential(self, refresh: bool) -> Optional[str]:
        if self._token is None:
            return self._api_key
        return await settled(self._token(refresh))


def _is_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))
