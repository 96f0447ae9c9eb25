// The Python SDK, installed from its wheel, against a running gateway and a network that loses things: test/sdk/python, by pytest.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPython, run, type InstalledPython } from './packages.ts';
import { pytest, PYTEST_WITHIN_MS } from './pytest.ts';
import { SdkGateway } from './sdk-gateway.ts';

const gateway = new SdkGateway();
let installed: InstalledPython;

beforeAll(async () => {
  installed = installPython();
  await gateway.start();
}, 900_000);

afterAll(async () => {
  await gateway.stop();
  if (installed !== undefined) rmSync(installed.dir, { recursive: true, force: true });
});

describe('the Python package', () => {
  it.each(['test_parts.py', 'test_loop.py', 'test_client.py', 'test_async_client.py', 'test_stream.py'])(
    'passes %s',
    async (file) => {
      expect(await pytest(file, installed, gateway)).toMatch(/\d+ passed/);
    },
    PYTEST_WITHIN_MS,
  );

  it('is typed for its user', () => {
    const source = `from unified_tool_executor import AsyncGatewayClient, GatewayClient, RateLimitError

with GatewayClient("http://127.0.0.1:1", api_key="k") as client:
    try:
        data: object = client.execute("add", {"a": 1, "b": 2})["data"]
        tool_names: list[str] = [tool["name"] for tool in client.tools.list(category="utility")]
    except RateLimitError as error:
        print(error.retry_after_ms)

async def talk(client: AsyncGatewayClient) -> object:
    async with await client.stream(mode="voice") as stream:
        call = await stream.call("add", {"a": 1, "b": 2})
        async for message in stream:
            if message["type"] == "text_delta":
                print(message["text"])
        return (await call.result())["data"]

async def main(client: AsyncGatewayClient) -> str:
    call = await client.start("add", {"a": 1, "b": 2})
    async for event in call.events():
        print(event.event, event.data)
    return (await call.get())["status"]
`;
    writeFileSync(join(installed.dir, 'user.py'), source);
    const mypy = ['-m', 'mypy', '--strict', '--cache-dir', '.mypy', 'user.py'];
    expect(run(installed.python, mypy, installed.dir)).toContain('Success');
  });
});
