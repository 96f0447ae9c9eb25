"""Tools of one's own: declared by hints and docstring, served by the SDK, called through the gateway."""

import asyncio
import dataclasses
import enum
import json
import os
import uuid
from typing import Annotated, Literal, Optional, TypedDict

import httpx
import pytest
from pydantic import BaseModel, Field

from unified_tool_executor import (
    CallTimeoutError,
    GatewayClient,
    GatewayError,
    NotFoundError,
    PermissionDeniedError,
    ValidationError,
)
from unified_tool_executor.declare import ToolDefinitionError, ToolError, spec_of, tool
from unified_tool_executor.serve import asgi_app, serve_tools

SECRET = "a-secret-of-these-tools"
failures = []


class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"


@dataclasses.dataclass
class Place:
    city: str
    zip: Optional[str] = None


class Options(TypedDict):
    gift: bool


class Line(BaseModel):
    article: str
    count: int = Field(ge=1, le=9)


class Order(BaseModel):
    lines: list[Line]


@tool(read_only=True, tags=["own"])
def greet(name: Annotated[str, {"maxLength": 20}], times: int = 1) -> dict:
    """Greets somebody by name.

    Args:
        name: Who is greeted.
        times: How often.
    """
    return {"greeting": " ".join([f"Hello, {name}!"] * times)}


@tool
def order(
    size: Size, place: Place, options: Options, order: Order, speed: Literal["slow", "fast"] = "slow"
) -> Optional[dict]:
    """Orders something.

    :param speed: How soon it comes.
    """
    assert isinstance(size, Size) and isinstance(place, Place) and isinstance(order, Order)
    counts = [line.count for line in order.lines]
    return {"size": size.value, "city": place.city, "gift": options["gift"], "speed": speed, "counts": counts}


@tool
async def look_up(id: str, context) -> dict:
    """Looks an entry up."""
    if id == "none":
        raise ToolError("NOT_FOUND", "There is no such entry.")
    if id == "broken":
        raise RuntimeError("password=hunter2")
    return {"id": id, "timed": context.timeout is not None}


@tool(timeout_ms=500)
async def wait_long() -> None:
    """Waits until nobody wants it any more."""
    await asyncio.sleep(60)


TOOLS = [greet, order, look_up, wait_long]


@pytest.fixture(scope="module")
def server():
    port = int(os.environ["UTE_SDK_TOOLS_PORT"])
    with serve_tools(TOOLS, secret=SECRET, port=port, on_error=lambda error, name: failures.append(error)) as made:
        yield made


@pytest.fixture
def author(given):
    with GatewayClient(given["url"], api_key=given["author"]) as made:
        yield made


def test_a_declaration_is_that_of_hints_and_docstring():
    spec = spec_of(order, connection="own")
    properties = spec["input_schema"]["properties"]
    assert spec["input_schema"]["required"] == ["size", "place", "options", "order"]
    assert properties["size"] == {"type": "string", "enum": ["small", "large"]}
    assert properties["place"]["properties"]["zip"]["type"] == ["string", "null"]
    assert properties["speed"] == {
        "type": "string",
        "enum": ["slow", "fast"],
        "description": "How soon it comes.",
        "default": "slow",
    }
    line = properties["order"]["properties"]["lines"]["items"]
    assert line["properties"]["count"]["maximum"] == 9 and "$ref" not in json.dumps(spec)
    assert spec["tool_type"] == "http"
    assert spec["implementation_config"]["path"] == "/tools/order"


class Tree(BaseModel):
    branches: list["Tree"] = []


def test_what_can_be_no_tool_is_refused_at_once():
    @tool
    def climb(tree: Tree) -> int:
        return len(tree.branches)

    with pytest.raises(ToolDefinitionError, match="contains itself"):
        spec_of(climb, connection="own")

    @tool
    def several():
        yield 1

    with pytest.raises(ToolDefinitionError, match="generator"):
        spec_of(several, connection="own")
    with pytest.raises(ValueError, match="16 characters"):
        serve_tools([greet], secret="short")
    with pytest.raises(ValueError, match="two tools"):
        serve_tools([greet, greet], secret=SECRET)
    with pytest.raises(ToolDefinitionError):
        serve_tools([len], secret=SECRET)


def test_a_tool_is_declared_listed_and_called(server, author, client):
    outcomes = author.specs.register(TOOLS, connection="own")
    assert [(each["name"], each["in_force"]) for each in outcomes] == [
        ("greet", True),
        ("order", True),
        ("look_up", True),
        ("wait_long", True),
    ]
    (listed,) = client.tools.list(tag="own")
    assert listed["input_schema"]["properties"]["name"]["description"] == "Who is greeted."
    assert client.execute("greet", {"name": "Ada", "times": 2})["data"] == {"greeting": "Hello, Ada! Hello, Ada!"}
    arguments = {
        "size": "large",
        "place": {"city": "Oslo"},
        "options": {"gift": True},
        "order": {"lines": [{"article": "pen", "count": 3}]},
    }
    assert client.execute("order", arguments)["data"] == {
        "size": "large",
        "city": "Oslo",
        "gift": True,
        "speed": "slow",
        "counts": [3],
    }
    assert client.execute("look_up", {"id": "a"})["data"] == {"id": "a", "timed": True}
    with pytest.raises(ValidationError):
        client.execute("order", {**arguments, "order": {"lines": [{"article": "pen", "count": 10}]}})


def test_an_error_says_what_it_means_to_and_no_more(server, client):
    with pytest.raises(NotFoundError, match="There is no such entry") as caught:
        client.execute("look_up", {"id": "none"})
    assert caught.value.origin == "tool"
    with pytest.raises(GatewayError) as broken:
        client.execute("look_up", {"id": "broken"}, retry=False)
    assert "hunter2" not in str(broken.value) + str(broken.value.details)
    assert "hunter2" in str(failures[-1])


def test_a_tool_that_awaits_ends_when_the_time_of_its_call_is_over(server, client):
    with pytest.raises(CallTimeoutError):
        client.execute("wait_long")


def test_only_an_author_declares(server, client, author):
    with pytest.raises(PermissionDeniedError):
        client.specs.register([greet], connection="own")
    with pytest.raises(ValidationError):
        author.specs.register([greet], connection="of-nobody")


def ask(server, path, content, secret=SECRET, method="POST"):
    headers = {"authorization": f"Bearer {secret}"}
    return httpx.request(method, server.url + path, content=content, headers=headers, trust_env=False).status_code


def test_the_server_answers_nobody_without_its_secret(server):
    for secret in ("x", "wrong", SECRET + "x", SECRET.upper()):
        assert ask(server, "/tools/greet", b'{"name": "Eve"}', secret) == 401
    assert ask(server, "/tools/__class__", b"{}") == 404
    assert ask(server, "/tools/greet", b"", method="GET") == 405
    for wrong in (b"[1]", b"no json", b'{"nobody": 1}', b"[" * 100_000):
        assert ask(server, "/tools/greet", wrong) == 400
    assert ask(server, "/tools/greet", b"x" * 2_000_000) == 413


def test_an_asgi_application_answers_the_same():
    app = asgi_app(TOOLS, secret=SECRET, on_error=lambda error, name: failures.append(error))

    async def main():
        transport = httpx.ASGITransport(app=app)
        headers = {"authorization": f"Bearer {SECRET}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://tools") as http:
            assert (await http.post("/tools/greet", json={"name": "Ada"})).status_code == 401
            greeted = await http.post("/below/tools/greet", json={"name": "Ada"}, headers=headers)
            assert greeted.json() == {"greeting": "Hello, Ada!"}
            looked = await http.post("/tools/look_up", json={"id": "none"}, headers=headers)
            assert looked.status_code == 404 and looked.json()["detail"] == "There is no such entry."
            short = {**headers, "x-request-timeout-ms": "50"}
            assert (await http.post("/tools/wait_long", json={}, headers=short)).status_code == 500

    asyncio.run(main())
