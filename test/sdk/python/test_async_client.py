"""The client that awaits: what differs from the one that blocks."""

import asyncio
import uuid

import pytest

from unified_tool_executor import AsyncGatewayClient, CallTimeoutError, RateLimitError, ValidationError


def fresh():
    return f"py-{uuid.uuid4()}"


def test_calls_run_beside_each_other(async_client):
    async def main():
        async with async_client() as client:
            return await asyncio.gather(*(client.execute("add", {"a": n, "b": 1}) for n in range(20)))

    assert [result["data"] for result in asyncio.run(main())] == [n + 1 for n in range(20)]


def test_errors_are_of_the_same_classes(async_client):
    async def main():
        async with async_client() as client:
            with pytest.raises(ValidationError):
                await client.execute("add", {"a": 1})
            with pytest.raises(CallTimeoutError):
                await client.execute("write_slowly", {"id": fresh()}, timeout=0.2)

    asyncio.run(main())


def test_limited_calls_come_again(async_client):
    async def main():
        async with async_client() as client:
            both = await asyncio.gather(*(client.execute("limited", {"a": n, "b": 0}) for n in range(2)))
            with pytest.raises(RateLimitError):
                await client.execute("limited", {"a": 1, "b": 1}, timeout=0.2)
            return both

    assert sorted(result["data"] for result in asyncio.run(main())) == [0, 1]


def test_a_cancelled_task_ends_its_call(async_client):
    async def main():
        async with async_client() as client:
            entry = fresh()
            task = asyncio.create_task(client.execute("write_slowly", {"id": entry}))
            await asyncio.sleep(0.3)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            # Its connections are still good.
            assert (await client.execute("add", {"a": 1, "b": 1}))["data"] == 2

    asyncio.run(main())


def test_a_call_runs_once_although_its_answer_was_lost(behind):
    async def main():
        unlucky, seen = behind("drop-answer", 2, kind=AsyncGatewayClient)
        async with unlucky:
            result = await unlucky.execute("write_entry", {"id": fresh()})
        return result, seen()

    result, seen = asyncio.run(main())
    assert result["data"]["times"] == 1 and result["meta"]["replayed"] is True
    assert len({each["key"] for each in seen}) == 1


def test_events_go_on_over_a_stream_that_is_cut(behind):
    async def main():
        cut, _ = behind("cut-stream", 2, kind=AsyncGatewayClient)
        async with cut:
            call = await cut.start("report", {"pages": 6})
            told = [event async for event in call.events()]
            return told, await call.result(timeout=30)

    told, result = asyncio.run(main())
    assert [each.data["data"]["page"] for each in told if each.event == "partial"] == [1, 2, 3, 4, 5, 6]
    assert result["data"] == {"pages": 6}


def test_an_approval_is_waited_for_and_a_token_may_be_awaited(given):
    async def token(refresh):
        await asyncio.sleep(0)
        return given["agent"]

    async def main():
        async with AsyncGatewayClient(given["url"], token=token) as client:
            async with AsyncGatewayClient(given["url"], api_key=given["admin"]) as admin:
                deciding = []

                def decide(asked):
                    deciding.append(asyncio.create_task(admin.approvals.approve(asked.approval_id)))

                result = await client.execute(
                    "delete_note", {"id": "f"}, wait_for_approval=True, approval_poll=0.05, on_approval=decide
                )
                await asyncio.gather(*deciding)
                return result

    assert asyncio.run(main())["data"] == {"id": "f"}


def test_a_session_has_a_client_of_its_own(async_client):
    async def main():
        async with async_client() as client:
            session = await client.sessions.create(mode="text")
            result = await session.client.execute("add", {"a": 1, "b": 1})
            await session.end()
            return result

    assert asyncio.run(main())["data"] == 2
