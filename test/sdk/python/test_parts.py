"""Parts that need no gateway: rules of retries, and events in whatever pieces they come."""

import itertools
import random

import pytest

from unified_tool_executor.errors import GatewayConnectionError
from unified_tool_executor.retry import Protection, RetryPolicy, after_loss, after_refusal, delay_ms, key_of
from unified_tool_executor.sse import EventParser

REASONS = ("RATE_LIMIT", "IDEMPOTENCY_IN_FLIGHT", "ACCEPTANCE_UNKNOWN", "HTTP_503")
TRUTHS = (False, True)
CASES = list(itertools.product(REASONS, TRUTHS, TRUTHS, TRUTHS, (0, 2), TRUTHS, TRUTHS))


@pytest.mark.parametrize("reason, retryable, partial, replayed, attempts, has_key, may_repeat", CASES)
def test_no_refusal_lets_a_call_run_twice_unless_the_caller_does(
    reason, retryable, partial, replayed, attempts, has_key, may_repeat
):
    refusal = {
        "ok": False,
        "error": {"reason": reason, "retryable": retryable, "partial_side_effects": partial, "retry_after_ms": None},
        "meta": {"replayed": replayed, "attempts": attempts},
    }
    verdict = after_refusal(refusal, Protection(has_key, may_repeat))
    if not retryable:
        assert not verdict.again
    elif verdict.again and partial and not may_repeat:
        assert verdict.same_key
        assert reason == "IDEMPOTENCY_IN_FLIGHT" or (reason == "ACCEPTANCE_UNKNOWN" and has_key)


@pytest.mark.parametrize("not_sent, status, has_key, may_repeat", list(itertools.product(TRUTHS, (None, 404, 502), TRUTHS, TRUTHS)))
def test_an_unprotected_call_comes_again_only_where_nothing_was_sent(not_sent, status, has_key, may_repeat):
    lost = GatewayConnectionError("lost", not_sent=not_sent, status=status)
    if after_loss(lost, Protection(has_key, may_repeat)).again and not has_key and not may_repeat:
        assert not_sent


def test_a_pause_is_never_shorter_than_asked_for():
    for attempt in range(1, 200):
        assert delay_ms(RetryPolicy(), attempt, 700.0) >= 700
        assert delay_ms(RetryPolicy(), attempt, None) <= 10_000
    assert [key_of("k", ended) for ended in range(3)] == ["k", "k.2", "k.3"]


def test_events_are_the_same_in_whatever_pieces_they_come():
    chance = random.Random(7)
    sent = [("progress", str(n), chance.choice(["é", "a: b", "😀\u2028x", "{}", ""])) for n in range(40)]
    text = "".join(f"id: {id}\nevent: {kind}\n: alive\ndata: {data}\n\n" for kind, id, data in sent).encode()
    for _ in range(200):
        parser, found, at = EventParser(), [], 0
        while at < len(text):
            size = chance.randint(1, 9)
            found += parser.push(text[at : at + size])
            at += size
        assert [(each.event, each.id, each.data) for each in found] == sent


def test_an_event_that_was_cut_is_none():
    parser = EventParser()
    assert len(parser.push(b'retry: 1000\n\nid: 1\nevent: log\ndata: "whole"\n\nid: 2\ndata: "cu')) == 1
    assert parser.retry_ms == 1000
