"""Adapters with the real packages of providers and frameworks: model, tools, model, and a human in the middle."""

import asyncio
import os
import re

import pytest

from unified_tool_executor import GatewayClient, run, run_async
from unified_tool_executor.providers import anthropic, gemini, openai, openai_responses

DONE = re.compile(r"done: .*5.* and .*n-1")
MODELS = os.environ.get("UTE_SDK_MODELS", "")


@pytest.fixture
def asked(admin):
    """What a human was asked, and approved."""
    seen = []

    def approve(error):
        seen.append(error.approval_id)
        admin.approvals.approve(error.approval_id)

    approve.seen = seen
    return approve


@pytest.fixture
def toolbox(client, asked):
    return client.toolbox(call={"wait_for_approval": True, "approval_poll": 0.05, "on_approval": asked})


def test_openai_chat_completions_in_a_loop_of_ones_own(toolbox, asked):
    from openai import OpenAI

    client = OpenAI(api_key="k", base_url=f"{MODELS}/v1", max_retries=0)
    messages = [{"role": "user", "content": "go"}]
    while True:
        completion = client.chat.completions.create(model="m", messages=messages, tools=toolbox.of(openai))
        messages += toolbox.answer(openai, completion)
        if completion.choices[0].finish_reason == "stop":
            break
    assert DONE.match(completion.choices[0].message.content)
    assert len(asked.seen) == 1


@pytest.mark.parametrize("provider", [openai, openai_responses], ids=["chat", "responses"])
def test_openai_in_the_loop(toolbox, asked, provider):
    from openai import OpenAI

    client = OpenAI(api_key="k", base_url=f"{MODELS}/v1", max_retries=0)
    result = run(provider.model(client, model="m"), toolbox, [{"role": "user", "content": "go"}])
    assert (result.reason, result.turns, result.calls) == ("answered", 2, 2)
    assert (result.usage.input_tokens, result.usage.output_tokens) == (80, 20)
    assert DONE.match(result.text) and len(asked.seen) == 1


def test_anthropic_in_the_loop(toolbox, asked):
    from anthropic import Anthropic

    client = Anthropic(api_key="k", base_url=MODELS, max_retries=0)
    result = run(anthropic.model(client, model="m", max_tokens=100), toolbox, [{"role": "user", "content": "go"}])
    assert result.reason == "answered" and DONE.match(result.text) and len(asked.seen) == 1


def test_gemini_in_the_loop(toolbox, asked):
    from google import genai

    client = genai.Client(api_key="k", http_options={"base_url": MODELS})
    said = [{"role": "user", "parts": [{"text": "go"}]}]
    result = run(gemini.model(client, model="m"), toolbox, said)
    assert result.reason == "answered" and DONE.match(result.text) and len(asked.seen) == 1


def test_clients_that_await(async_client, asked):
    from anthropic import AsyncAnthropic
    from openai import AsyncOpenAI

    async def main():
        async with async_client() as client:
            toolbox = client.toolbox(call={"wait_for_approval": True, "approval_poll": 0.05, "on_approval": asked})
            said = [{"role": "user", "content": "go"}]
            chat = openai.model(AsyncOpenAI(api_key="k", base_url=f"{MODELS}/v1", max_retries=0), model="m")
            claude = anthropic.model(AsyncAnthropic(api_key="k", base_url=MODELS, max_retries=0), model="m", max_tokens=9)
            return await asyncio.gather(run_async(chat, toolbox, said), run_async(claude, toolbox, said))

    for result in asyncio.run(main()):
        assert result.reason == "answered" and DONE.match(result.text)
    assert len(asked.seen) == 2


def test_langchain(toolbox, asked):
    from langchain_core.messages import HumanMessage
    from langchain_openai import ChatOpenAI

    tools = {tool.name: tool for tool in toolbox.langchain()}
    chat = ChatOpenAI(model="m", api_key="k", base_url=f"{MODELS}/v1", max_retries=0).bind_tools(list(tools.values()))
    messages = [HumanMessage("go")]
    while True:
        said = chat.invoke(messages)
        messages.append(said)
        if not said.tool_calls:
            break
        messages += [tools[call["name"]].invoke(call) for call in said.tool_calls]
    assert DONE.match(said.content) and len(asked.seen) == 1
    assert "VALIDATION" in tools["add"].invoke({"a": "two", "b": 1})


def test_llama_index(toolbox):
    tools = {tool.metadata.name: tool for tool in toolbox.llama_index()}
    assert tools["add"].metadata.get_parameters_dict()["required"] == ["a", "b"]
    assert tools["add"].metadata.to_openai_tool()["function"]["parameters"]["required"] == ["a", "b"]
    assert tools["add"].call(a=2, b=3).raw_output == "5"
    assert "VALIDATION" in tools["add"].call(a="two").raw_output


def test_pydantic_ai(toolbox, asked):
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel("m", provider=OpenAIProvider(api_key="k", base_url=f"{MODELS}/v1"))
    result = Agent(model, tools=toolbox.pydantic_ai()).run_sync("go")
    assert DONE.match(result.output) and len(asked.seen) == 1


def test_what_a_model_makes_up_is_an_answer_that_it_reads(toolbox):
    made_up = [
        {"id": f"c{at}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for at, (name, arguments) in enumerate(
            [
                ("..", "{}"),
                ("../../v1/keys", "{}"),
                ("no_such", "{}"),
                ("add", '{"a": 1, "b"'),
                ("add", "[1]"),
                ("add", '{"a": NaN, "b": 1}'),
                ("add", '{"a": 1e999, "b": 1}'),
                ("add", '{"a": ' + "[" * 100_000),
                ("\ud800", "{}"),
            ]
        )
    ]
    completion = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": made_up}}]}
    _, *answers = toolbox.answer(openai, completion)
    types = [re.search(r'"type": "(\w+)"', answer["content"]).group(1) for answer in answers]
    assert types == ["NOT_FOUND"] * 3 + ["VALIDATION"] * 5 + ["NOT_FOUND"]


def test_nothing_of_a_framework_is_imported_with_the_sdk(given):
    import subprocess
    import sys

    source = (
        "import sys, unified_tool_executor, unified_tool_executor.providers, unified_tool_executor.declare\n"
        "found = {'openai', 'anthropic', 'google.genai', 'langchain_core', 'llama_index', 'pydantic_ai', 'pydantic'}\n"
        "assert not found & set(sys.modules), found & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", source], check=True, timeout=60)
    assert isinstance(GatewayClient(given["url"], api_key="k"), GatewayClient)
