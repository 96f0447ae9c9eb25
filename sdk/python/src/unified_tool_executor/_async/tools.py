"""Which tools there are, as the gateway describes them or as a provider takes them."""

from __future__ import annotations

import builtins
from typing import Any, Dict, Literal, Mapping, Optional, cast

from ..gateway_types import Tool, ToolDocs
from ..wire import path_of
from .requests import Requests

ToolFormat = Literal["openai", "openai-responses", "anthropic", "gemini", "bedrock", "mistral", "mcp"]


class Tools:
    def __init__(self, requests: Requests, context: Mapping[str, Any]) -> None:
        self._requests = requests
        # What an agent may not call, it need not see.
        self._filter = {name: context[name] for name in ("agent_id", "mode") if name in context}

    async def list(self, **filter: Any) -> builtins.list[Tool]:
        """All of them, page by page: tool_type, category, tag, mode, agent_id."""
        found: builtins.list[Tool] = []
        query: Dict[str, Any] = {**self._filter, **filter, "page_size": 1000}
        while True:
            page = await self._requests.request("GET", "/v1/tools", query=query)
            found.extend(page["tools"])
            if not page["next_page_token"]:
                return found
            query["page_token"] = page["next_page_token"]

    async def get(self, name: str) -> Tool:
        return cast(Tool, await self._requests.request("GET", path_of("/v1/tools/{name}", name=name)))

    async def docs(self, name: str) -> ToolDocs:
        return cast(ToolDocs, await self._requests.request("GET", path_of("/v1/tools/{name}/docs", name=name)))

    async def as_format(self, format: ToolFormat, *, strict: Optional[bool] = None, **filter: Any) -> Any:
        """As the SDK of a provider takes them."""
        query = {**self._filter, **filter, "format": format, "strict": strict}
        return await self._requests.request("GET", "/v1/tools", query=query)

    async def prompt(self, **filter: Any) -> str:
        """A text for the system prompt of a model without tools."""
        query = {**self._filter, **filter, "format": "prompt"}
        return str(await self._requests.request("GET", "/v1/tools", query=query))
