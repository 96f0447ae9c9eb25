// The Python SDK, installed from its wheel, against a running gateway and a network that loses things: test/sdk/python, by pytest.
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPython, run } from './packages.ts';
import { SdkGateway } from './sdk-gateway.ts';

const TESTS = join(import.meta.dirname, 'python');
const WITHIN_MS = 240_000;
const gateway = new SdkGateway();
let installed: ReturnType<typeof installPython>;

beforeAll(async () => {
  installed = installPython();
  await gateway.start();
}, 300_000);

afterAll(async () => {
  await gateway.stop();
  if (installed !== undefined) rmSync(installed.dir, { recursive: true, force: true });
});

/** The gateway runs in this process: it must not be held while the tests run. */
function pytest(
  files: readonly string[],
): Promise<{ readonly code: number | null; readonly output: string }> {
  const { url, keys } = gateway.running;
  const texts = Object.fromEntries(Object.entries(keys).map(([name, { text }]) => [name, text]));
  const author = gateway.running.key('author').key;
  const given = { url, network: gateway.network.url, author, ...texts };
  const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--rootdir', TESTS, ...files];
  const child = spawn(installed.python, args, {
    cwd: installed.dir,
    env: { ...process.env, UTE_SDK_TEST: JSON.stringify(given), PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: WITHIN_MS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((done) => child.once('close', (code) => done({ code, output })));
}

describe('the Python package', () => {
  it.each(['test_parts.py', 'test_client.py', 'test_async_client.py'])(
    'passes %s',
    async (file) => {
      const { code, output } = await pytest([join(TESTS, file)]);
      if (code !== 0) throw new Error(output);
      expect(output).toMatch(/\d+ passed/);
    },
    WITHIN_MS,
  );

  it('is typed for its user', () => {
    const source = `from unified_tool_executor import AsyncGatewayClient, GatewayClient, RateLimitError

with GatewayClient("http://127.0.0.1:1", api_key="k") as client:
    try:
        data: object = client.execute("add", {"a": 1, "b": 2})["data"]
        tool_names: list[str] = [tool["name"] for tool in client.tools.list(category="utility")]
    except RateLimitError as error:
        print(error.retry_after_ms)

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
