"""Tools of one's own: functions marked with `@tool`, as the gateway takes their declarations.

    from unified_tool_executor.declare import tool

    @tool(read_only=True)
    def add(a: float, b: Annotated[float, "Second summand"] = 1) -> float:
        '''Adds two numbers.'''
        return a + b
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, Mapping, Optional

from unified_tools import ToolError, tool  # type: ignore[import-untyped]
from unified_tools.tool import MARK, ToolDefinitionError, tool_spec  # type: ignore[import-untyped]

__all__ = ["ToolDefinitionError", "ToolError", "spec_of", "tool", "tool_name"]

ToolFunction = Callable[..., Any]


def tool_name(function: ToolFunction) -> str:
    return str(tool_spec(function)["name"])


def spec_of(function: ToolFunction, *, connection: Optional[str] = None, url: Optional[str] = None) -> Dict[str, Any]:
    """The declaration of a marked function that is served over HTTP, as tools.yaml has it.

    `connection`: one of the gateway, whose base_url leads to the tools and whose secret they ask for. `url`: where they are
    served without a secret of their own.
    """
    if (connection is None) == (url is None):
        raise TypeError("say either connection or url")
    original = getattr(function, MARK, (function,))[0]
    if inspect.isgeneratorfunction(original) or inspect.isasyncgenfunction(original):
        raise ToolDefinitionError(f"{original.__name__} is a generator; over HTTP a tool answers once")
    declared: Mapping[str, Any] = tool_spec(function)
    path = f"/tools/{declared['name']}"
    where = {"connection": connection, "path": path} if url is None else {"url": url.rstrip("/") + path}
    return {
        **declared,
        "tool_type": "http",
        "implementation_config": {"method": "POST", **where, "body": "remaining", "response": "json"},
    }
