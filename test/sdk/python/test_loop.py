"""The dialog loop, with a model that is a function and tools that are a table."""

import asyncio
import itertools
import time

import pytest

from unified_tool_executor import Limits, ModelCall, ModelTurn, Usage, run, run_async
from unified_tool_executor.dialog import refused

SAID = [{"role": "user", "content": "go"}]


class Tools:
    def __init__(self, answer):
        self.answer, self.called = answer, []

    def of(self, dialect):
        return []

    def call_for(self, call, **options):
        if call.arguments is None:
            return refused("VALIDATION", "ARGUMENTS_NOT_JSON", call.problem)
        self.called.append((call, options))
        return self.answer(call)


def succeeds(call):
    return {"ok": True, "data": call.arguments, "intents": [], "meta": refused("INTERNAL", "", "")["meta"]}


def waits(call):
    refusal = refused("CONFIRMATION_REQUIRED", "APPROVAL_REQUIRED", "A human has to approve it.")
    refusal["error"]["details"] = {"approval_id": "ap-1", "confirmation_token": "tok"}
    return refusal


def talker(*calls_per_turn):
    turns = itertools.count()

    def model(request):
        turn = next(turns)
        count = calls_per_turn[turn] if turn < len(calls_per_turn) else 0
        calls = [ModelCall(f"c{turn}-{at}", "add", {"at": at}) for at in range(count)]
        return ModelTurn(text=f"turn {turn}", calls=calls, usage=Usage(10, 0))

    return model


def unanswered(messages):
    answered = {message.get("tool_call_id") for message in messages}
    asked = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    return [id for id in asked if id not in answered]


def test_it_ends_with_the_models_answer_and_gives_it_what_the_tools_said():
    result = run(talker(2, 1), Tools(succeeds), SAID)
    assert (result.reason, result.text, result.turns, result.calls) == ("answered", "turn 2", 3, 3)
    assert result.messages[2] == {"role": "tool", "tool_call_id": "c0-0", "content": '{"at": 0}'}
    assert result.usage == Usage(30, 0)
    assert SAID == [{"role": "user", "content": "go"}]


@pytest.mark.parametrize("turns, tokens, calls", list(itertools.product((0, 1, 3), (0, 15, 1000), (0, 2, 5))))
def test_limits_are_kept_and_no_call_is_left_without_an_answer(turns, tokens, calls):
    tools = Tools(succeeds)
    result = run(talker(1, 2, 3, 1), tools, SAID, limits=Limits(turns=turns, tokens=tokens, calls=calls))
    assert result.turns <= turns and len(tools.called) <= calls
    assert (result.turns - 1) * 10 < tokens or result.turns <= 1
    assert unanswered(result.messages) == []


def test_what_a_model_got_wrong_is_told_to_it():
    turns = iter([ModelTurn(calls=[ModelCall("c", "add", None, "not JSON")]), ModelTurn(text="I see.")])
    result = run(lambda request: next(turns), Tools(succeeds), SAID)
    assert result.reason == "answered" and "ARGUMENTS_NOT_JSON" in str(result.messages)


def test_it_stops_where_a_human_has_to_approve_and_never_shows_the_token_to_the_model():
    heard = []
    result = run(talker(1, 1), Tools(waits), SAID, approvals="stop", on_approval=heard.append)
    assert (result.reason, result.turns, len(heard)) == ("approval_required", 1, 1)
    assert result.approvals[0].asked.confirmation_token == "tok"
    assert unanswered(result.messages) == []
    told = run(talker(1), Tools(waits), SAID)
    assert "ap-1" in str(told.messages) and "'tok'" not in str(told.messages) and '"tok"' not in str(told.messages)


def test_it_waits_for_a_decision_if_told_to():
    tools = Tools(succeeds)
    run(talker(1), tools, SAID, approvals="wait", limits=Limits(time=30))
    assert 0 < tools.called[0][1]["wait_for_approval"] <= 30


def test_it_ends_between_two_steps_when_its_time_is_over():
    def slow(call):
        time.sleep(0.05)
        return succeeds(call)

    result = run(talker(1, 1, 1, 1), Tools(slow), SAID, limits=Limits(time=0.03))
    assert result.reason == "time_limit" and unanswered(result.messages) == []


def test_what_awaits_is_ended_in_the_middle():
    class AsyncTools(Tools):
        async def of(self, dialect):
            return []

    async def never(request):
        await asyncio.sleep(60)

    result = asyncio.run(run_async(never, AsyncTools(succeeds), SAID, limits=Limits(time=0.05)))
    assert result.reason == "time_limit" and result.messages == SAID


def test_it_raises_what_the_model_raises():
    def model(request):
        raise RuntimeError("no quota")

    with pytest.raises(RuntimeError, match="no quota"):
        run(model, Tools(succeeds), SAID)
