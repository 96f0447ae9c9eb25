// No upstream's answer holds the event loop, however large it may be and whatever it is made of.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { configured, GatewayProcess } from '../helpers/gateway-process.ts';
import { leastHeldBy, LOOP_PROBE } from '../helpers/held-loop.ts';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const MOST_MS = 50;
const MIB = 1 << 20;
/** What an operator may allow at most. */
const MOST_BYTES = 64 * MIB;
const SECRET = 'a-secret-of-the-connection';

const list = (item: string, bytes: number) => `[${`${item},`.repeat(bytes / (item.length + 1) - 1)}${item}]`;
const names = (count: number) =>
  `{${Array.from({ length: count }, (_, at) => `"name ${at}":${at}`).join(',')}}`;
const ANSWERS: Readonly<Record<string, string>> = {
  'as many names as may be': names(20_000),
  'more names than may be': names(500_000),
  'as many empty objects as may be': list('{}', 99_000 * 3),
  'more empty objects than may be': list('{}', MOST_BYTES),
  'small objects': list('{"id":1,"on":true}', 66_000 * 19),
  numbers: list('1.234567890123', 199_000 * 15),
  'numbers beyond a double': list('9007199254740993', 199_000 * 17),
  'texts with escapes': list(`"${'\\u0061'.repeat(50)}"`, 199_000 * 303),
  'brackets that never close': '['.repeat(MOST_BYTES),
  'brackets that open and close': list(`${'['.repeat(60)}${']'.repeat(60)}`, 3_200 * 121),
  'a string of escapes': `"${'\\"'.repeat(4 * MIB)}"`,
  'a string of escaped escapes': `["${'\\\\u0061'.repeat(MIB)}"]`,
  'a number without end': `[${'9'.repeat(MOST_BYTES - 2)}]`,
  'blanks without end': `[${' '.repeat(MOST_BYTES - 2)}]`,
};
const KINDS = Object.keys(ANSWERS);

let dir: string;
let servers: LoopbackServers;
let gateway: GatewayProcess;
let rest: string;

beforeAll(async () => {
  dir = tempDir();
  servers = new LoopbackServers();
  const upstream = await servers.http((request, response) => {
    const answer = ANSWERS[KINDS[Number(request.url?.slice(1))] ?? ''];
    response.setHeader('content-type', 'application/json').end(answer);
  });
  const reach = { allow_private: ['127.0.0.0/8'], allow_ports: ['1-65535'] };
  const upstreamConnection = { type: 'http', base_url: upstream, headers: { 'x-key': SECRET }, ...reach };
  const tools = KINDS.map((description, at) => ({
    name: `answer_${at}`,
    description,
    tool_type: 'http',
    implementation_config: { connection: 'upstream', path: `/${at}`, max_response_bytes: MOST_BYTES },
    metadata: { category: 'retrieval' },
  }));
  writeFileSync(join(dir, 'tools.yaml'), stringify({ connections: { upstream: upstreamConnection }, tools }));
  // A loop that is held sheds load, and a call that is refused holds nothing.
  const limits = { max_result_bytes: MOST_BYTES, shed_at_lag_ms: 10_000 };
  const settings = { auth: { mode: 'none' }, limits };
  gateway = new GatewayProcess(dir, { ...configured(dir, settings), ...LOOP_PROBE });
  ({ rest } = await gateway.ready(60_000));
});

afterAll(async () => {
  await gateway.end();
  await servers.close();
  removeDir(dir);
});

async function call(at: number): Promise<{ status: number; bytes: number }> {
  const response = await fetch(`${rest}/v1/tools/answer_${at}/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"arguments":{}}',
  });
  const { byteLength: bytes } = await response.arrayBuffer();
  return { status: response.status, bytes };
}

describe('the event loop is not held by an answer of', () => {
  it.each(KINDS.map((kind, at) => ({ kind, at })))('$kind', async ({ at }) => {
    expect(await leastHeldBy(gateway, MOST_MS, () => call(at))).toBeLessThan(MOST_MS);
    const { status, bytes } = await call(at);
    // Either the whole answer or a short refusal.
    expect(status === 200 ? bytes > MIB / 8 : bytes < 2_000).toBe(true);
  });
});
