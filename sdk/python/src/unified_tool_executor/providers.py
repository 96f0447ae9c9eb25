"""Model providers: how each writes a turn and takes the answers of tools. No package of theirs is imported.

    from unified_tool_executor.providers import openai

    tools = gateway.toolbox()
    completion = client.chat.completions.create(model=model, messages=messages, tools=tools.of(openai))
    messages += tools.answer(openai, completion)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Sequence

from .dialog import (
    AnsweredCall,
    Dialect,
    GenerateRequest,
    Model,
    ModelCall,
    ModelTurn,
    Usage,
    arguments_from_text,
    arguments_from_value,
    text_of_answer,
)

__all__ = ["Provider", "anthropic", "gemini", "openai", "openai_responses"]


@dataclass(frozen=True)
class Provider(Dialect):
    def model(self, client: Any, **params: Any) -> Model:
        """For `run`. `params`: what a request has besides messages and tools. For `run_async`, a client that awaits."""
        return Model(self, lambda request: _CREATE[self.format](client, params, request))


def _member(value: Any, *names: str) -> Any:
    """Of a dict, or of an object of the provider's package, under the first name that is there."""
    for name in names:
        found = value.get(name) if isinstance(value, dict) else getattr(value, name, None)
        if found is not None:
            return found
    return None


def _each(value: Any) -> List[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _usage(value: Any, read: Sequence[str], written: Sequence[str]) -> Usage:
    def count(names: Sequence[str]) -> int:
        return sum(int(_member(value, name) or 0) for name in names)

    return Usage(count(read), count(written))


def _read_chat(response: Any) -> ModelTurn:
    choices = _each(_member(response, "choices"))
    message = _member(choices[0], "message") if choices else None
    calls = [
        ModelCall(
            _text(_member(call, "id")),
            _text(_member(_member(call, "function"), "name")),
            **arguments_from_text(_member(_member(call, "function"), "arguments")),
        )
        for call in _each(_member(message, "tool_calls"))
    ]
    usage = _usage(_member(response, "usage"), ["prompt_tokens"], ["completion_tokens"])
    text = _text(_member(message, "content")) or _text(_member(message, "refusal"))
    return ModelTurn(text, calls, [] if message is None else [message], usage)


def _chat_results(answered: Sequence[AnsweredCall]) -> List[Any]:
    return [
        {"role": "tool", "tool_call_id": each.call.id, "content": text_of_answer(each.envelope)} for each in answered
    ]


def _create_chat(client: Any, params: Dict[str, Any], request: GenerateRequest) -> Any:
    some = {"tools": request.tools} if request.tools else {}
    timeout = {} if request.timeout is None else {"timeout": request.timeout}
    return client.chat.completions.create(**params, **some, **timeout, messages=request.messages)


def _read_responses(response: Any) -> ModelTurn:
    items = _each(_member(response, "output"))
    parts = [part for item in items if _member(item, "type") == "message" for part in _each(_member(item, "content"))]
    calls = [
        ModelCall(
            _text(_member(item, "call_id")),
            _text(_member(item, "name")),
            **arguments_from_text(_member(item, "arguments")),
        )
        for item in items
        if _member(item, "type") == "function_call"
    ]
    text = "".join(_text(_member(part, "text", "refusal")) for part in parts)
    return ModelTurn(text, calls, items, _usage(_member(response, "usage"), ["input_tokens"], ["output_tokens"]))


def _responses_results(answered: Sequence[AnsweredCall]) -> List[Any]:
    return [
        {"type": "function_call_output", "call_id": each.call.id, "output": text_of_answer(each.envelope)}
        for each in answered
    ]


def _create_responses(client: Any, params: Dict[str, Any], request: GenerateRequest) -> Any:
    some = {"tools": request.tools} if request.tools else {}
    timeout = {} if request.timeout is None else {"timeout": request.timeout}
    return client.responses.create(**params, **some, **timeout, input=request.messages)


def _read_anthropic(response: Any) -> ModelTurn:
    blocks = _each(_member(response, "content"))
    calls = [
        ModelCall(
            _text(_member(block, "id")), _text(_member(block, "name")), **arguments_from_value(_member(block, "input"))
        )
        for block in blocks
        if _member(block, "type") == "tool_use"
    ]
    text = "".join(_text(_member(block, "text")) for block in blocks if _member(block, "type") == "text")
    read = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]
    messages = [{"role": "assistant", "content": blocks}] if blocks else []
    return ModelTurn(text, calls, messages, _usage(_member(response, "usage"), read, ["output_tokens"]))


def _anthropic_results(answered: Sequence[AnsweredCall]) -> List[Any]:
    content = [
        {
            "type": "tool_result",
            "tool_use_id": each.call.id,
            "content": text_of_answer(each.envelope),
            **({} if each.envelope["ok"] else {"is_error": True}),
        }
        for each in answered
    ]
    return [{"role": "user", "content": content}]


def _create_anthropic(client: Any, params: Dict[str, Any], request: GenerateRequest) -> Any:
    timeout = {} if request.timeout is None else {"timeout": request.timeout}
    return client.messages.create(**params, **timeout, messages=request.messages, tools=request.tools)


def _read_gemini(response: Any) -> ModelTurn:
    candidates = _each(_member(response, "candidates"))
    content = _member(candidates[0], "content") if candidates else None
    parts = _each(_member(content, "parts"))
    asked = [call for call in (_member(part, "function_call", "functionCall") for part in parts) if call is not None]
    calls = [
        ModelCall(
            _text(_member(call, "id")), _text(_member(call, "name")), **arguments_from_value(_member(call, "args"))
        )
        for call in asked
    ]
    text = "".join(_text(_member(part, "text")) for part in parts if _member(part, "thought") is not True)
    used = _member(response, "usage_metadata", "usageMetadata")
    read = ["prompt_token_count", "promptTokenCount"]
    written = ["candidates_token_count", "candidatesTokenCount", "thoughts_token_count", "thoughtsTokenCount"]
    return ModelTurn(text, calls, [] if content is None else [content], _usage(used, read, written))


def _gemini_results(answered: Sequence[AnsweredCall]) -> List[Any]:
    parts = []
    for call, envelope in ((each.call, each.envelope) for each in answered):
        said = {"output": envelope["data"]} if envelope["ok"] else {"error": text_of_answer(envelope)}
        own = {"id": call.id} if call.id else {}
        parts.append({"function_response": {**own, "name": call.name, "response": said}})
    return [{"role": "user", "parts": parts}]


def _create_gemini(client: Any, params: Dict[str, Any], request: GenerateRequest) -> Any:
    config = dict(params.get("config") or {})
    if '"name"' in str(request.tools).replace("'", '"'):
        config["tools"] = request.tools
    # Calls are this loop's to run.
    config.setdefault("automatic_function_calling", {"disable": True})
    return client.models.generate_content(**{**params, "config": config}, contents=request.messages)


_CREATE = {
    "openai": _create_chat,
    "openai-responses": _create_responses,
    "anthropic": _create_anthropic,
    "gemini": _create_gemini,
}

openai = Provider("openai", _read_chat, _chat_results)
"""Chat completions: of OpenAI, and of whoever speaks their protocol."""
openai_responses = Provider("openai-responses", _read_responses, _responses_results)
anthropic = Provider("anthropic", _read_anthropic, _anthropic_results)
gemini = Provider("gemini", _read_gemini, _gemini_results)
"""With an asynchronous client: `gemini.model(client.aio, model=…)`."""
