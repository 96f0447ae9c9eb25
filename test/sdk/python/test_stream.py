"""Streams: over a WebSocket and over gRPC, by code that blocks and by code that awaits, and a network that loses connections."""

import asyncio
import inspect
import threading
import uuid

import pytest

from unified_tool_executor import (
    AsyncGatewayClient,
    AsyncStreamedCall,
    AsyncToolStream,
    AuthError,
    CancelledError,
    CallTimeoutError,
    ConfirmationRequiredError,
    ConflictError,
    DeadlineError,
    GatewayClient,
    GatewayConnectionError,
    GatewayError,
    PermissionDeniedError,
    ValidationError,
)
from unified_tool_executor.grpc import Grpc
from unified_tool_executor.stream_wire import pieces_of

from conftest import GIVEN, Rough


class Awaited:
    """What awaits, as if it blocked: the same test for both."""

    def __init__(self, loop, inner):
        self._loop, self._inner = loop, inner

    def __getattr__(self, name):
        found = getattr(self._inner, name)
        return self._called(found) if callable(found) else found

    def __iter__(self):
        messages = self._inner.__aiter__()
        while True:
            try:
                yield self._loop.run_until_complete(messages.__anext__())
            except StopAsyncIteration:
                return

    def _called(self, function):
        def call(*args, **named):
            result = function(*args, **named)
            if inspect.isawaitable(result):
                result = self._loop.run_until_complete(result)
            kinds = (AsyncToolStream, AsyncStreamedCall)
            return Awaited(self._loop, result) if isinstance(result, kinds) else result

        return call


@pytest.fixture(params=["blocks", "awaits"])
def kind(request):
    return request.param


@pytest.fixture(params=["socket", "grpc"])
def line(request):
    return request.param


@pytest.fixture
def client_of(kind):
    made, loop = [], asyncio.new_event_loop()

    def make(line, url=GIVEN["url"], api_key=GIVEN["agent"], **options):
        if line == "grpc":
            options = {"grpc": Grpc(f"http://{GIVEN['grpc']}"), **options}
        if "token" not in options:
            options = {"api_key": api_key, **options}
        if kind == "blocks":
            client = GatewayClient(url, **options)
            made.append(client.close)
            return client
        awaiting = Awaited(loop, AsyncGatewayClient(url, **options))
        made.append(awaiting.aclose)
        return awaiting

    yield make
    for close in made:
        close()
    loop.close()


@pytest.fixture
def stream_of(client_of, line):
    return lambda **said: client_of(line).stream(**said)


def close(stream):
    getattr(stream, "aclose" if isinstance(stream, Awaited) else "close")()


def told(stream):
    return [said["text"] if said["type"] == "text_delta" else said["type"] for said in stream]


def fresh():
    return f"py-{uuid.uuid4()}"


def test_text_and_results_come_in_order_and_the_session_ends(stream_of, client_of):
    stream = stream_of(agent_id="reception", user_id="ann", mode="live_call")
    assert stream.session["agent_id"] == "reception" and stream.session["mode"] == "live_call"
    stream.text("Let me see. ")
    call = stream.call("add", {"a": 2, "b": 3})
    stream.text("That is it.")
    result = call.result()
    assert (result["data"], result["meta"]["tool"]) == (5, "add")
    stream.end()
    assert told(stream) == ["Let me see. ", "tool_started", "tool_result", "That is it.", "ended"]
    path = f"/v1/sessions/{stream.session['id']}"
    assert client_of("socket").request("GET", path)["state"] == "ended"


def test_what_a_tool_says_is_told(stream_of):
    stream = stream_of()
    assert stream.call("report", {"pages": 2}).result()["data"] == {"pages": 2}
    stream.end()
    said = list(stream)
    assert {"page": 1} in [each["data"] for each in said if each["type"] == "tool_partial"]
    assert (0.5, "page 1") in [(each["fraction"], each["message"]) for each in said if each["type"] == "tool_progress"]


def test_errors_are_of_their_classes_and_the_stream_goes_on(stream_of):
    stream = stream_of()
    with pytest.raises(ValidationError) as wrong:
        stream.call("add", {"a": "two", "b": 1}).result()
    assert wrong.value.violations[0]["pointer"] == "/a"
    with pytest.raises(ConfirmationRequiredError) as asked:
        stream.call("delete_note", {"id": "n"}).result()
    assert asked.value.confirmation_token
    assert stream.call("add", {"a": 1, "b": 1}).try_result()["data"] == 2
    close(stream)


def test_calls_are_given_up(stream_of):
    stream = stream_of()
    one = stream.call("report", {"pages": 50})
    one.cancel()
    with pytest.raises(CancelledError):
        one.result()
    other = stream.call("report", {"pages": 50})
    stream.end_turn(cancel=True)
    with pytest.raises(CancelledError):
        other.result()
    with pytest.raises(GatewayError) as over:
        stream.call("add", {"a": 1, "b": 1}).result()
    assert over.value.reason == "TURN_OVER"
    stream.start_turn()
    assert stream.call("add", {"a": 1, "b": 1}).result()["data"] == 2
    close(stream)


def test_any_text_comes_back_whole(stream_of):
    text = "a🙂é" * 20_000
    stream = stream_of()
    stream.text(text)
    stream.end()
    assert "".join(each["text"] for each in stream if each["type"] == "text_delta") == text


def test_text_is_cut_into_pieces_that_fit():
    for text in ("", "a" * 16_384, "a" * 16_385, "🙂" * 20_000, "a" + "🙂" * 9_000):
        pieces = list(pieces_of(text))
        assert "".join(pieces) == text
        assert all(0 < len(piece.encode("utf-16-le")) // 2 <= 16_384 for piece in pieces)


def test_who_may_not_is_refused_and_a_token_is_asked_for_anew(client_of, line):
    with pytest.raises(AuthError):
        client_of(line, api_key="ute_live_none").stream()
    with pytest.raises(PermissionDeniedError):
        client_of(line, api_key=GIVEN["reader"]).stream()
    with pytest.raises(GatewayError):
        client_of(line).stream(session_id="ses_none")
    asked = []

    def token(refresh):
        asked.append(refresh)
        return GIVEN["agent"] if refresh else "ute_live_none"

    stream = client_of(line, token=token).stream()
    assert stream.call("add", {"a": 1, "b": 1}).result()["data"] == 2
    # A connection that was refused may look lost at first, and is tried again with the same token.
    assert asked[-1] is True and asked.count(True) == 1
    close(stream)


def test_a_stream_is_closed_at_once(stream_of):
    stream = stream_of()
    call = stream.call("report", {"pages": 50})
    close(stream)
    with pytest.raises(GatewayConnectionError):
        call.result()
    with pytest.raises(GatewayConnectionError):
        stream.call("add")
    stream.end()


def test_a_result_is_waited_for_as_long_as_the_caller_says(stream_of):
    stream = stream_of()
    call = stream.call("report", {"pages": 50})
    with pytest.raises(DeadlineError):
        call.result(timeout=0.2)
    call.cancel()
    with pytest.raises(CancelledError):
        call.result()
    close(stream)


@pytest.mark.parametrize("fault", ["cut-heard", "cut-said"])
def test_a_lost_stream_goes_on_and_nothing_is_run_or_said_twice(client_of, fault):
    rough = Rough(fault, 2)
    stream = client_of("socket", url=rough.url).stream()
    entries = [fresh() for _ in range(3)]
    calls = []
    for entry in entries:
        stream.text(f"{entry} ")
        calls.append(stream.call("write_entry", {"id": entry}))
    assert [call.result()["data"]["times"] for call in calls] == [1, 1, 1]
    stream.end()
    assert told(stream) == [said for entry in entries for said in (f"{entry} ", "tool_started", "tool_result")] + ["ended"]
    assert len(rough.seen()) > 1


def test_a_stream_that_is_replaced_is_over(client_of):
    client = client_of("socket")
    stream = client.stream()
    call = stream.call("report", {"pages": 50})
    other = client.stream(session_id=stream.session["id"])
    with pytest.raises(ConflictError) as over:
        call.result()
    assert over.value.reason == "STREAM_REPLACED"
    with pytest.raises(ConflictError):
        list(stream)
    with pytest.raises(ConflictError):
        stream.end()
    close(other)


def test_a_redirect_is_not_followed(client_of):
    with pytest.raises(GatewayConnectionError):
        client_of("socket", url=Rough("redirect-upgrade", 9).url).stream(timeout=2)


def test_threads_wait_for_results_of_one_stream():
    with GatewayClient(GIVEN["url"], api_key=GIVEN["agent"]) as client, client.stream() as stream:
        found = []
        calls = [stream.call("add", {"a": n, "b": 1}) for n in range(8)]
        threads = [threading.Thread(target=lambda call=call: found.append(call.result()["data"])) for call in calls]
        for each in threads:
            each.start()
        for each in threads:
            each.join(20)
        assert sorted(found) == list(range(1, 9))


def test_tasks_wait_for_results_of_one_stream(async_client):
    async def main():
        async with async_client() as client, await client.stream() as stream:
            calls = [await stream.call("add", {"a": n, "b": 1}) for n in range(8)]
            return await asyncio.gather(*(call.result() for call in calls))

    assert [result["data"] for result in asyncio.run(main())] == list(range(1, 9))


def parts_of(envelope):
    if envelope["ok"]:
        return envelope["data"], envelope["intents"]
    error = {name: value for name, value in envelope["error"].items() if name not in ("details", "message")}
    return error, sorted(envelope["error"]["details"])


def test_calls_over_grpc_give_the_envelopes_of_rest(client_of):
    calls = [
        ("add", {"a": 2, "b": 3}),
        ("add", {"a": "two"}),
        ("no_such_tool", {}),
        ("delete_note", {"id": "n"}),
        ("report", {"pages": 1}),
    ]
    over, rest = client_of("grpc"), client_of("socket")
    for tool, arguments in calls:
        assert parts_of(over.try_execute(tool, arguments)) == parts_of(rest.try_execute(tool, arguments))
    one, two = (each.execute("add", {"a": 1, "b": 1})["meta"] for each in (over, rest))
    assert sorted(one) == sorted(two)


def test_calls_over_grpc_are_sent_again_by_the_words_of_the_envelope(client_of):
    client, entry = client_of("grpc"), fresh()
    assert client.execute("read_unstable", {"id": entry}, idempotency_key=entry)["data"]["times"] == 2
    with pytest.raises(GatewayError) as failed:
        client.execute("write_unstable", {"id": f"{entry}-u"})
    assert failed.value.partial_side_effects
    both = [client.execute("write_entry", {"id": entry}, idempotency_key=f"{entry}-w") for _ in range(2)]
    assert [each["data"]["times"] for each in both] == [1, 1]
    assert both[1]["meta"]["replayed"]


def test_calls_over_grpc_have_an_end_and_say_where_nothing_listens(client_of):
    with pytest.raises((DeadlineError, CallTimeoutError)):
        client_of("grpc").execute("report", {"pages": 50}, timeout=0.2, retry=False)
    nowhere = client_of("grpc", grpc=Grpc("http://127.0.0.1:1"))
    with pytest.raises(GatewayConnectionError) as lost:
        nowhere.execute("add", {"a": 1, "b": 1}, retry=False)
    assert lost.value.not_sent
    with pytest.raises(ValueError, match="https://"):
        Grpc("gateway:50051")


def test_everything_else_goes_over_rest(client_of):
    call = client_of("grpc").start("report", {"pages": 1})
    assert call.url.startswith("/v1/calls/")
