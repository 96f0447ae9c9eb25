"""The tools of a dialog: listed as a provider or a framework takes them, called for a model."""

from __future__ import annotations

import builtins
import re
from functools import partial
from typing import TYPE_CHECKING, Any, Dict, List, Mapping

from ..dialog import AnsweredCall, Dialect, ModelCall, not_json, refused, text_of_answer
from ..errors import DeadlineError, GatewayConnectionError, GatewayError
from ..gateway_types import Envelope, Tool
from .waiting import gather

if TYPE_CHECKING:
    from .client import AsyncGatewayClient

_NO_NAME = re.compile(r"\.{0,2}")


class AsyncToolbox:
    """`filter`: which tools. `call`: of every call, as `execute` takes it."""

    def __init__(self, client: AsyncGatewayClient, filter: Mapping[str, Any], call: Mapping[str, Any]) -> None:
        self._client = client
        self._filter = dict(filter)
        self._call = dict(call)

    async def of(self, dialect: Dialect) -> Any:
        """As the SDK of a provider takes them."""
        return await self._client.tools.as_format(dialect.format, **self._filter)

    async def list(self) -> builtins.list[Tool]:
        tools = await self._client.tools.list(**self._filter)
        return [tool for tool in tools if not tool["disabled"] and not tool["deprecated"]]

    async def call(self, name: str, arguments: Mapping[str, Any], **options: Any) -> Envelope:
        """Never raises for what a model asks: that is an answer for the model."""
        if _NO_NAME.fullmatch(name):
            return refused("NOT_FOUND", "TOOL_NOT_FOUND", f'There is no tool "{name}".')
        problem = not_json(arguments)
        if problem is not None:
            return refused("VALIDATION", "ARGUMENTS_NOT_JSON", problem)
        try:
            return await self._client.try_execute(name, arguments, **{**self._call, **options})
        except GatewayError as error:
            return refused(error.type, error.reason, error.message)
        except DeadlineError as error:
            return refused("TIMEOUT", "NO_ANSWER", f"{error}. The call may have run.", may_have_run=True)
        except GatewayConnectionError as error:
            if error.not_sent:
                return refused("UNAVAILABLE", "NO_CONNECTION", "The tools cannot be reached now.")
            return refused("UNAVAILABLE", "NO_ANSWER", "There was no answer. The call may have run.", may_have_run=True)

    async def call_for(self, call: ModelCall, **options: Any) -> Envelope:
        if call.arguments is None:
            return refused("VALIDATION", "ARGUMENTS_NOT_JSON", call.problem or "The arguments cannot be read.")
        return await self.call(call.name, call.arguments, **options)

    async def answer(self, dialect: Dialect, response: Any) -> List[Any]:
        """Runs the calls of a response, in parallel, and gives all messages to append."""
        turn = dialect.read(response)
        envelopes = await gather([partial(self.call_for, call) for call in turn.calls])
        answered = [AnsweredCall(call, envelope) for call, envelope in zip(turn.calls, envelopes)]
        return [*(turn.messages or ()), *(dialect.results(answered) if answered else ())]

    async def langchain(self) -> List[Any]:
        """For LangChain's agents and `bind_tools`. Data and errors are texts for the model."""
        from ..frameworks import langchain_tool

        return [langchain_tool(tool, self._text_of(tool)) for tool in await self.list()]

    async def llama_index(self) -> List[Any]:
        """For LlamaIndex's agents."""
        from ..frameworks import llama_index_tool

        return [llama_index_tool(tool, self._text_of(tool)) for tool in await self.list()]

    async def pydantic_ai(self) -> List[Any]:
        """For `Agent(tools=…)` of Pydantic AI."""
        from ..frameworks import pydantic_ai_tool

        return [pydantic_ai_tool(tool, self._text_of(tool)) for tool in await self.list()]

    def _text_of(self, tool: Tool) -> Any:
        async def run(**arguments: Any) -> str:
            return text_of_answer(await self.call(tool["name"], arguments))

        run.__name__ = tool["provider_name"]
        return run
