"""What waits for a human, and the decision about it. Takes a credential with `approvals:decide`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, AsyncIterator, Optional, cast

from ..errors import DeadlineError
from ..gateway_types import Approval, ApprovalList, OneApproval
from ..wire import path_of
from .requests import Requests
from .waiting import now, sleep

_LOOK_S = 1.0


@dataclass(frozen=True)
class ApprovalEvent:
    """`event` is asked, expiring or decided."""

    event: str
    id: Optional[str]
    approval: Approval


class Approvals:
    def __init__(self, requests: Requests) -> None:
        self._requests = requests

    async def list(self, **query: Any) -> ApprovalList:
        return cast(ApprovalList, await self._requests.request("GET", "/v1/approvals", query=query))

    async def get(self, id: str) -> OneApproval:
        return cast(OneApproval, await self._requests.request("GET", path_of("/v1/approvals/{id}", id=id)))

    async def approve(self, id: str, comment: Optional[str] = None) -> Approval:
        return await self._decide(id, "approve", comment)

    async def reject(self, id: str, comment: Optional[str] = None) -> Approval:
        return await self._decide(id, "reject", comment)

    async def decided(self, id: str, *, timeout: float = float("inf")) -> OneApproval:
        """Until somebody has decided, or it has expired."""
        ends_at = now() + timeout
        while True:
            approval = await self.get(id)
            if approval["status"] != "pending":
                return approval
            if now() + _LOOK_S >= ends_at:
                raise DeadlineError(f"nobody decided within {timeout} s")
            await sleep(_LOOK_S)

    async def events(
        self, *, last_event_id: Optional[str] = None, group: Optional[str] = None, timeout: float = float("inf")
    ) -> AsyncIterator[ApprovalEvent]:
        """What happens to approvals from now on, or after `last_event_id`; goes on over lost connections."""
        path = "/v1/approvals/events" + ("" if group is None else path_of("?group={group}", group=group))
        async for said in self._requests.events(path, last_event_id, timeout):
            yield ApprovalEvent(said.event, said.id, json.loads(said.data))

    async def _decide(self, id: str, decision: str, comment: Optional[str]) -> Approval:
        body = {"decision": decision, **({} if comment is None else {"comment": comment})}
        path = path_of("/v1/approvals/{id}/decision", id=id)
        return cast(Approval, await self._requests.request("POST", path, body=body))
