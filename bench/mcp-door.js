// What a call over MCP costs: echo over Streamable HTTP, 32 in flight, beside the SDK's bare server in the same run; in both eras.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startChild, startGateway } from './children.js';
import { compare, median, number, report, WARM_UP_SECONDS } from './measure.js';
import { latencyMs, perSecond } from './rest-load.js';

const PROGRAM = join(import.meta.dirname, '../dist/cli/main.js');
const ARGUMENTS = { text: 'the quick brown fox jumps over the lazy dog' };
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const ERAS = {
  '2026-07-28': { headers: { 'mcp-method': 'tools/call', 'mcp-name': 'echo' }, meta: { _meta: META } },
  '2025-11-25': { headers: {}, meta: {} },
};

/** One after another: by `ute mcp`, and by the same requests over HTTP without it. */
async function stdio(gateway) {
  const { headers, meta } = ERAS['2026-07-28'];
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'echo', arguments: ARGUMENTS, ...meta },
  };
  const said = { accept: 'application/json', 'mcp-protocol-version': '2026-07-28', ...headers };
  const request = {
    url: `${gateway.url}/mcp`,
    headers: { ...said, authorization: `Bearer ${gateway.key}` },
    body,
  };
  const program = spawn(process.execPath, [PROGRAM, 'mcp', '--url', gateway.url], {
    env: { ...process.env, UTE_API_KEY: gateway.key },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  const times = [];
  await latencyMs(request);
  for (let i = 0; i < 1_200; i += 1) {
    const at = performance.now();
    program.stdin.write(`${JSON.stringify(body)}\n`);
    const { value } = await lines.next();
    if (i >= 600) times.push(performance.now() - at);
    if (!value.includes('"resultType":"complete"')) throw new Error(value);
  }
  const direct = await latencyMs(request);
  program.stdin.end();
  const own = median(times);
  report(
    'MCP by `ute mcp`, echo, one after another',
    `${number(own)} ms median`,
    `${number(direct)} ms (the same over HTTP)`,
    `${number(own - direct)} ms more`,
    '≤ 1 ms',
    own - direct <= 1,
  );
}

export async function mcpDoor(tools) {
  const bare = await startChild('mcp-http-echo.js');
  const gateway = await startGateway({ tools });
  for (const [version, { headers, meta }] of Object.entries(ERAS)) {
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'echo', arguments: ARGUMENTS, ...meta },
    };
    const said = {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      ...headers,
    };
    const theirs = { url: `http://127.0.0.1:${bare.message.port}/mcp`, headers: said, body };
    const ours = {
      url: `${gateway.url}/mcp`,
      headers: { ...said, authorization: `Bearer ${gateway.key}` },
      body,
    };
    for (const side of [ours, theirs]) await perSecond(side, WARM_UP_SECONDS);
    const { base, own, ratio } = await compare(
      () => perSecond(theirs),
      () => perSecond(ours),
    );
    report(
      `MCP door, echo, ${version}, 32 in flight`,
      `${number(own)} calls/s`,
      `${number(base)} calls/s (the SDK's bare server)`,
      `${number(ratio * 100)} %`,
      '≥ 60 %',
      ratio >= 0.6,
    );
  }
  await stdio(gateway);
  await Promise.all([bare.stop(), gateway.stop()]);
}
