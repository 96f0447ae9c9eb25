"""The blocking client."""

import threading
import time
import uuid
from datetime import datetime, timedelta, timezone

import pytest

from unified_tool_executor import (
    AuthError,
    CallTimeoutError,
    CancelledError,
    ConfirmationRequiredError,
    ConflictError,
    GatewayClient,
    GatewayConnectionError,
    GatewayError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    RetryPolicy,
    SessionInactiveError,
    ValidationError,
)


def fresh():
    return f"py-{uuid.uuid4()}"


def test_a_call_gives_what_the_tool_returned(client):
    result = client.execute("add", {"a": 2, "b": 3})
    assert result["data"] == 5
    assert result["meta"]["tool"] == "add"


def test_a_call_raises_the_class_of_its_error(client, given):
    with pytest.raises(ValidationError) as caught:
        client.execute("add", {"a": "two", "b": 3})
    assert caught.value.violations[0]["pointer"] == "/a"
    assert caught.value.status == 400 and caught.value.retryable is False
    with pytest.raises(NotFoundError):
        client.execute("no_such_tool")
    with GatewayClient(given["url"], api_key=given["reader"]) as reader, pytest.raises(PermissionDeniedError):
        reader.execute("add", {"a": 1, "b": 1})
    with GatewayClient(given["url"], api_key="ute_live_none") as stranger, pytest.raises(AuthError):
        stranger.execute("add")


def test_the_envelope_is_given_to_whoever_asks_for_it(client):
    envelope = client.try_execute("add", {"a": 1})
    assert envelope["ok"] is False and envelope["error"]["type"] == "VALIDATION"


@pytest.mark.parametrize("name", ["..", ".", ""])
def test_a_name_that_is_a_step_of_a_path_is_refused(client, name):
    with pytest.raises(ValueError, match="names nothing"):
        client.execute(name)


@pytest.mark.parametrize("name", ["../execute", "../../v1/keys", "%2e%2e", "a/b", "add?x=1#y", "\ud800"])
def test_a_name_that_a_model_made_up_reaches_no_other_route(client, name):
    with pytest.raises((NotFoundError, ValidationError)):
        client.execute(name)


def test_a_limited_call_comes_again_under_its_key(behind):
    limited, seen = behind("none")
    assert [limited.execute("limited", {"a": a, "b": 0})["data"] for a in (1, 2, 3)] == [1, 2, 3]
    keys = [each["key"] for each in seen()]
    assert len(keys) > 3 and len(set(keys)) == 3


def test_a_limited_call_is_not_held_longer_than_its_caller_waits(client):
    client.try_execute("limited", {"a": 0, "b": 0}, retry=False)
    with pytest.raises(RateLimitError):
        client.execute("limited", {"a": 1, "b": 1}, timeout=0.3)


def test_a_call_runs_once_although_its_answer_was_lost(behind):
    unlucky, seen = behind("drop-answer", 2)
    result = unlucky.execute("write_entry", {"id": fresh()})
    assert result["data"]["times"] == 1 and result["meta"]["replayed"] is True
    assert len({each["key"] for each in seen()}) == 1
    assert len(seen()) == 3


def test_a_call_without_a_key_is_not_sent_again_once_it_may_have_run(behind):
    unlucky, _ = behind("drop-answer", 1, idempotency_keys=False)
    entry = fresh()
    with pytest.raises(GatewayConnectionError):
        unlucky.execute("write_entry", {"id": entry})
    assert unlucky.execute("write_entry", {"id": entry})["data"]["times"] == 2
    careless, _ = behind("drop-answer", 1)
    other = fresh()
    repeated = careless.execute("write_entry", {"id": other}, idempotency_key=False, may_repeat=True)
    assert repeated["data"]["times"] == 2


def test_a_gateway_between_that_answers_502_is_asked_again(behind):
    unlucky, _ = behind("bad-gateway", 2)
    assert unlucky.execute("add", {"a": 1, "b": 1})["data"] == 2
    never, _ = behind("bad-gateway", 9, retry=False)
    with pytest.raises(GatewayConnectionError) as caught:
        never.execute("add", {"a": 1, "b": 1})
    assert caught.value.status == 502


def test_another_key_is_taken_where_the_last_one_holds_an_outcome_and_only_for_what_changed_nothing(behind):
    patient, seen = behind("none", retry=RetryPolicy(base_delay_ms=10))
    assert patient.execute("read_unstable", {"id": fresh()})["data"]["times"] == 2
    first, second = (each["key"] for each in seen())
    assert second == f"{first}.2"
    entry = fresh()
    with pytest.raises(Exception) as caught:
        patient.execute("write_unstable", {"id": entry})
    assert caught.value.retryable and caught.value.partial_side_effects
    assert len(seen()) == 3


def test_no_redirect_is_followed_with_a_credential(behind, given):
    led, _ = behind("redirect", 9, retry=False)
    with pytest.raises(GatewayConnectionError, match="redirect"):
        led.execute("add", {"a": 1, "b": 1})


def test_a_key_that_is_no_header_is_refused_at_once(behind):
    client, seen = behind("none")
    with pytest.raises(ValueError, match="header"):
        client.execute("add", {"a": 1, "b": 1}, idempotency_key="a\r\nx-ute-tenant: other")
    assert seen() == []


def test_a_call_ends_with_its_deadline(client):
    with pytest.raises(CallTimeoutError):
        client.execute("write_slowly", {"id": fresh()}, timeout=0.2)


def test_a_new_token_is_asked_for_where_the_gateway_refuses_the_old_one(given):
    asked = []

    def token(refresh):
        asked.append(refresh)
        return given["agent"] if refresh else "ute_live_old"

    with GatewayClient(given["url"], token=token) as refreshed:
        assert refreshed.execute("add", {"a": 1, "b": 1})["data"] == 2
    assert asked == [False, True]


def test_a_revoked_key_is_told(admin, given):
    made = admin.request("POST", "/v1/keys", body={"name": fresh(), "roles": ["agent"]})
    with GatewayClient(given["url"], api_key=made["key"]) as short:
        assert short.execute("add", {"a": 1, "b": 1})["data"] == 2
        admin.request("DELETE", f"/v1/keys/{made['id']}")
        ends_at = time.monotonic() + 20
        while time.monotonic() < ends_at:
            try:
                short.execute("add", {"a": 1, "b": 1})
            except AuthError:
                return
            time.sleep(0.1)
    raise AssertionError("the key goes on")


def test_tools_are_listed(client):
    assert "delete_note" in [tool["name"] for tool in client.tools.list()]
    assert [tool["name"] for tool in client.tools.list(tag="math")] == ["add"]
    for format in ("openai", "openai-responses", "anthropic", "gemini", "bedrock", "mistral", "mcp"):
        assert "write_entry" in str(client.tools.as_format(format))
    assert "add" in client.tools.prompt(tag="math")
    assert client.tools.get("add")["read_only"] is True


def test_a_call_that_runs_later_tells_its_events_over_a_stream_that_is_cut(behind):
    cut, seen = behind("cut-stream", 2)
    told = list(cut.start("report", {"pages": 6}).events())
    assert [each.data["data"]["page"] for each in told if each.event == "partial"] == [1, 2, 3, 4, 5, 6]
    assert told[-1].event == "result" and told[-1].data["data"] == {"pages": 6}
    ids = [int(each.id) for each in told]
    assert ids == sorted(set(ids))
    assert any(each.get("lastEventId") for each in seen())


def test_a_call_that_runs_later_is_found_again_and_cancelled(client):
    call = client.start("report", {"pages": 50})
    assert client.accepted(call.id).get()["tool"] == "report"
    client.accepted(call.url).cancel()
    with pytest.raises(CancelledError):
        call.result(timeout=30)
    with pytest.raises(ConflictError):
        call.cancel()
    with pytest.raises(ValueError, match="call_url"):
        client.accepted("/v1/calls/../keys")


def test_an_approval_is_waited_for(client, admin, given):
    with pytest.raises(ConfirmationRequiredError) as caught:
        client.execute("delete_note", {"id": "a"})
    assert caught.value.approval_id and caught.value.confirmation_token
    assert caught.value.approval_url == f"{given['url']}/v1/approvals/{caught.value.approval_id}"
    result = client.execute(
        "delete_note",
        {"id": "b"},
        wait_for_approval=True,
        approval_poll=0.05,
        on_approval=lambda asked: admin.approvals.approve(asked.approval_id, "fine"),
    )
    assert result["data"] == {"id": "b"}


def test_a_rejection_is_told_and_a_wait_ends_in_time(client, admin):
    with pytest.raises(PermissionDeniedError) as caught:
        client.execute(
            "delete_note",
            {"id": "c"},
            wait_for_approval=30.0,
            approval_poll=0.05,
            on_approval=lambda asked: admin.approvals.reject(asked.approval_id, "not this one"),
        )
    assert caught.value.reason == "APPROVAL_REJECTED"
    with pytest.raises(ConfirmationRequiredError):
        client.execute("delete_note", {"id": "d"}, wait_for_approval=0.2, approval_poll=0.05)


def test_an_approval_that_expires_ends_the_wait(client):
    with pytest.raises(GatewayError) as caught:
        client.execute("delete_soon", {"id": "x"}, wait_for_approval=True, approval_poll=0.05)
    assert caught.value.reason == "APPROVAL_EXPIRED"


def test_approvers_hear_of_it_and_a_call_that_waits_runs_by_itself(client, admin, given):
    heard = []
    listening = threading.Event()

    def listen():
        for event in admin.approvals.events(timeout=30):
            heard.append(event)
            return

    reader = threading.Thread(target=lambda: (listening.set(), listen()))
    reader.start()
    listening.wait(10)
    time.sleep(0.3)
    call = client.start("delete_note", {"id": "e"})
    reader.join(30)
    assert heard[0].event == "asked" and heard[0].approval["id"] == call.approval_id
    assert call.approval_url == f"{given['url']}/v1/approvals/{call.approval_id}"
    admin.approvals.approve(call.approval_id)
    assert call.result(timeout=30)["data"] == {"id": "e"}
    assert admin.approvals.decided(call.approval_id, timeout=30)["status"] == "used"


def test_figures_of_calls_are_those_of_the_tenant_and_suggest_what_nobody_calls(client, given):
    client.execute("add", {"a": 1, "b": 1})
    since = (datetime.now(timezone.utc) - timedelta(hours=1)).isoformat()
    with GatewayClient(given["url"], api_key=given["admin"]) as admin:
        for _ in range(200):
            figures = admin.analytics.get(from_=since, tool="add")
            if figures["totals"]["succeeded"] > 0:
                break
            time.sleep(0.1)
        assert [each["tool"] for each in figures["tools"]] == ["add"]
        suggested = admin.analytics.suggestions(from_=since, agent_id="nobody", top=2)
        assert suggested["tenant"] == figures["tenant"]
        assert [each["kind"] for each in suggested["suggestions"]] == ["unused", "unused"]
        with pytest.raises(ValidationError):
            admin.analytics.get(top=501)
    with pytest.raises(PermissionDeniedError):
        client.analytics.get(from_=since)


def test_a_session_holds_its_calls_together(client, given):
    session = client.sessions.create(agent_id="front", user_id="ann", mode="text")
    assert session.client.execute("add", {"a": 1, "b": 1})["data"] == 2
    assert session.begin_turn()["turn_id"] == "2"
    assert session.end()["state"] == "ended"
    with pytest.raises(SessionInactiveError):
        session.client.execute("add", {"a": 1, "b": 1})
    with GatewayClient(given["url"], api_key=given["other"]) as other, pytest.raises(NotFoundError):
        other.sessions.open(session.id).get()
