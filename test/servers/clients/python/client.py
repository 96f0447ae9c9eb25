"""The official client in Python, in the era that is asked for: what it sees of each thing that docs/mcp-door.md promises, as a line of JSON."""

import json
import sys
from typing import Any, Literal

import anyio
import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.streamable_http import streamable_http_client

URL, KEY, MODE = sys.argv[1:4]


def say(what: str, saw: Any) -> None:
    print(json.dumps({what: saw}), flush=True)


async def accept(_context: Any, params: Any) -> types.ElicitResult:
    """A person, who goes where the client sends them."""
    say("asked", params.url)
    return types.ElicitResult(action="accept")


class CreatedTask(types.Result):
    result_type: Literal["task"] = "task"
    task_id: str


class TaskParams(types.RequestParams):
    task_id: str
    input_responses: dict[str, Any] | None = None


class TaskRequest(types.Request[TaskParams, str]):
    name_param = "taskId"
    method: str
    params: TaskParams


class Tasks(ClientExtension):
    """The extension of 2026-07-28, as its specification has it: polls, and answers what it is asked."""

    identifier = "io.modelcontextprotocol/tasks"

    def claims(self) -> list[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=CreatedTask, resolve=self.resolve)]

    async def resolve(self, created: CreatedTask, context: ClaimContext) -> types.CallToolResult:
        say("became a task", context.tool_name)
        answered: set[str] = set()

        async def ask(method: str, **more: Any) -> dict[str, Any]:
            params = TaskParams(task_id=created.task_id, **more)
            got = await context.session.send_request(TaskRequest(method=method, params=params), Anything)
            return got.model_dump(by_alias=True)

        while True:
            task = await ask("tasks/get")
            if task["status"] == "completed":
                return types.CallToolResult.model_validate(task["result"])
            if task["status"] in ("failed", "cancelled"):
                raise RuntimeError(task["status"])
            for name, question in (task.get("inputRequests") or {}).items():
                if name not in answered:
                    say("asked", question["params"]["url"])
                    await ask("tasks/update", input_responses={name: {"action": "accept"}})
                    answered.add(name)
            await anyio.sleep(0.2)


class Anything(types.Result):
    model_config = {"extra": "allow"}


def client_of(http: httpx2.AsyncClient, **more: Any) -> Client:
    transport = streamable_http_client(URL, http_client=http)
    return Client(transport, mode=MODE, elicitation_callback=accept, **more)


async def main() -> None:
    headers = {"authorization": f"Bearer {KEY}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        async with client_of(http) as client:
            say("version", client.session.protocol_version)
            say("tools", [tool.name for tool in (await client.list_tools()).tools])
            say("structured", (await client.call_tool("adds", {"a": 1, "b": 2})).structured_content)
            invalid = await client.call_tool("adds", {"a": "one"})
            say("invalid", [invalid.is_error, invalid.content[0].text.split(":")[0]])
            heard: list[Any] = []

            async def told(_progress: float, _total: float | None, message: str | None) -> None:
                heard.append(message)

            await client.call_tool("tells", {}, progress_callback=told)
            say("progress", heard)
            with anyio.CancelScope() as scope:

                async def stop(*_progress: Any) -> None:
                    scope.cancel()

                await client.call_tool("lasts", {}, progress_callback=stop)
            say("cancelled", scope.cancelled_caught)
            say("approved", (await client.call_tool("erases", {"what": "x"})).structured_content)
        if MODE == "legacy":
            return
        async with client_of(http, extensions=[Tasks()]) as client:
            say("task", (await client.call_tool("adds", {"a": 40, "b": 2})).structured_content)
            say("approved task", (await client.call_tool("erases_slowly", {"what": "y"})).structured_content)


anyio.run(main)
