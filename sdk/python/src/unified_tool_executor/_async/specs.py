"""Definitions of tools at the gateway. Takes a credential with `specs:write`."""

from __future__ import annotations

import builtins
from typing import Any, Dict, Iterable, Mapping, Optional, cast

from ..declare import ToolFunction, spec_of
from ..gateway_types import ToolSpecHead, ToolSpecOutcome
from ..wire import path_of
from .requests import Requests


class Specs:
    def __init__(self, requests: Requests) -> None:
        self._requests = requests

    async def register(
        self,
        functions: Iterable[ToolFunction],
        *,
        connection: Optional[str] = None,
        url: Optional[str] = None,
        note: str = "declared by the SDK",
    ) -> builtins.list[ToolSpecOutcome]:
        """Functions marked with `@tool`, all or none: each is judged first. Returns when this replica has them."""
        specs = [spec_of(function, connection=connection, url=url) for function in functions]
        for spec in specs:
            await self.put(spec["name"], spec, dry_run=True)
        outcomes = [cast(ToolSpecOutcome, await self.put(spec["name"], spec, note=note)) for spec in specs]
        for outcome in outcomes:
            if not outcome["in_force"]:
                raise RuntimeError(f"the definition of {outcome['name']} is kept, and not in force yet: {outcome['problems']}")
        return outcomes

    async def put(self, name: str, spec: Mapping[str, Any], *, note: str = "", dry_run: bool = False) -> Dict[str, Any]:
        path = path_of("/v1/specs/{name}", name=name)
        query = {"note": note or None, "dry_run": dry_run or None}
        return cast(Dict[str, Any], await self._requests.request("PUT", path, query=query, body=dict(spec)))

    async def get(self, name: str) -> ToolSpecHead:
        return cast(ToolSpecHead, await self._requests.request("GET", path_of("/v1/specs/{name}", name=name)))

    async def delete(self, name: str, *, note: str = "") -> ToolSpecOutcome:
        path = path_of("/v1/specs/{name}", name=name)
        return cast(ToolSpecOutcome, await self._requests.request("DELETE", path, query={"note": note or None}))
