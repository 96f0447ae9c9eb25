"""Figures of calls, and what they suggest. Takes a credential with `calls:read`."""

from __future__ import annotations

from typing import Any, Dict, Optional, cast

from ..gateway_types import Analytics as Figures
from ..gateway_types import Suggestions
from .requests import Requests


class Analytics:
    """Times are ISO 8601 texts. `from_` is `from` of the gateway: Python has that word for itself."""

    def __init__(self, requests: Requests) -> None:
        self._requests = requests

    async def get(
        self,
        *,
        from_: Optional[str] = None,
        to: Optional[str] = None,
        tool: Optional[str] = None,
        agent_id: Optional[str] = None,
        tenant: Optional[str] = None,
        top: Optional[int] = None,
    ) -> Figures:
        """Calls, failures, times and cost, by tool, agent and day; what fails and why; and what is never called."""
        query = _query(from_, to, tool, agent_id, tenant, top)
        return cast(Figures, await self._requests.request("GET", "/v1/analytics", query=query))

    async def suggestions(
        self,
        *,
        from_: Optional[str] = None,
        to: Optional[str] = None,
        tool: Optional[str] = None,
        agent_id: Optional[str] = None,
        tenant: Optional[str] = None,
        top: Optional[int] = None,
    ) -> Suggestions:
        """Tools to offer next, to put together, to mend and to leave out."""
        query = _query(from_, to, tool, agent_id, tenant, top)
        return cast(Suggestions, await self._requests.request("GET", "/v1/suggestions", query=query))


def _query(
    from_: Optional[str],
    to: Optional[str],
    tool: Optional[str],
    agent_id: Optional[str],
    tenant: Optional[str],
    top: Optional[int],
) -> Dict[str, Any]:
    said = {"from": from_, "to": to, "tool": tool, "agent_id": agent_id, "tenant": tenant, "top": top}
    return {name: value for name, value in said.items() if value is not None}
