"""One tool of the gateway as a tool of a framework, whose package is imported only here, where it is asked for."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict

from .gateway_types import Tool


def _either(run: Callable[..., Any], blocking: str, awaiting: str) -> Dict[str, Any]:
    return {awaiting: run} if inspect.iscoroutinefunction(run) else {blocking: run}


def langchain_tool(tool: Tool, run: Callable[..., Any]) -> Any:
    from langchain_core.tools import StructuredTool

    return StructuredTool(
        name=tool["provider_name"],
        description=tool["description"],
        args_schema=tool["input_schema"],
        **_either(run, "func", "coroutine"),
    )


def llama_index_tool(tool: Tool, run: Callable[..., Any]) -> Any:
    from llama_index.core.tools import FunctionTool, ToolMetadata

    schema = tool["input_schema"]

    class Metadata(ToolMetadata):
        """Its own makes the schema from a Pydantic model; here it is there already."""

        def get_parameters_dict(self) -> Dict[str, Any]:
            return schema

    metadata = Metadata(description=tool["description"], name=tool["provider_name"], fn_schema=None)
    return FunctionTool(metadata=metadata, **_either(run, "fn", "async_fn"))


def pydantic_ai_tool(tool: Tool, run: Callable[..., Any]) -> Any:
    from pydantic_ai import Tool as AgentTool

    return AgentTool.from_schema(
        run, name=tool["provider_name"], description=tool["description"], json_schema=tool["input_schema"]
    )
