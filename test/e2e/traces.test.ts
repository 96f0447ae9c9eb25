// Telemetry: one connected trace from each door to what a call ends in, errors always, the same metrics and log lines by OTLP,
// and nothing of arguments or results unless an operator asks for them.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { acceptedId, callWhen } from '../helpers/async-client.ts';
import { grpcDoor, restDoor, type Door } from '../helpers/doors.ts';
import { eventually } from '../helpers/eventually.ts';
import { DoorClient } from '../helpers/mcp-door-client.ts';
import { nodeServer } from '../helpers/mcp-kit.ts';
import { openDatabase } from '../helpers/open-database.ts';
import { OtlpReceiver, type ReceivedSpan } from '../helpers/otlp-receiver.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const ROOT = join(import.meta.dirname, '../..');
const CALLERS_SPAN = 'cd'.repeat(8);
let traces = 0;
/** Of a caller who traces: `01`, or does not: `00`. */
const traceparent = (flags = '01') =>
  `00-${(++traces).toString(16).padStart(32, 'a')}-${CALLERS_SPAN}-${flags}`;
const traceIdOf = (parent: string) => parent.slice(3, 35);
const spanIdOf = (parent: unknown) => String(parent).slice(36, 52);

const tool = (name: string, more: object) => ({
  name,
  description: name,
  input_schema: { type: 'object' },
  metadata: { read_only: true, idempotent: true },
  ...more,
});

function toolsFor(upstream: string) {
  const secret = { type: 'string', 'x-ute-sensitive': true };
  const python = { module: 'good', function_name: 'whoami' };
  return {
    connections: {
      upstream: {
        type: 'http',
        base_url: upstream,
        allow_private: ['127.0.0.0/8'],
        allow_ports: ['1024-65535'],
      },
      server: { type: 'mcp', ...nodeServer(join(ROOT, 'test/fixtures/mcp/era-server.js'), ['stdio']) },
    },
    tools: [
      tool('ask_python', {
        tool_type: 'python',
        input_schema: { type: 'object', properties: { value: { type: 'string' } } },
        implementation_config: python,
      }),
      tool('keep_pin', {
        tool_type: 'javascript',
        input_schema: { type: 'object', properties: { value: { type: 'string' }, pin: secret } },
        implementation_config: { handler: join(ROOT, 'tools/handlers/echo.js'), trusted: true },
      }),
      tool('ask_mcp', { tool_type: 'mcp', implementation_config: { connection: 'server', tool: 'meta' } }),
      tool('ask_http', {
        tool_type: 'http',
        implementation_config: { connection: 'upstream', method: 'GET', path: '/' },
      }),
      tool('ask_steps', {
        tool_type: 'composite',
        implementation_config: {
          steps: [{ id: 'one', tool: 'ask_http', arguments: {} }],
          result: 'steps.one',
        },
      }),
    ],
  };
}

let receiver: OtlpReceiver;
let upstream: Server;
let gateway: RunningGateway;
let rest: Door;
let grpc: Door;
let dir: string;
const heard: string[] = [];

beforeAll(async () => {
  dir = tempDir();
  receiver = await OtlpReceiver.start();
  upstream = createServer(({ headers }, response) => {
    heard.push(String(headers['traceparent']));
    response.setHeader('content-type', 'application/json').end('"here"');
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const file = join(dir, 'tools.yaml');
  writeFileSync(file, stringify(toolsFor(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`)));
  gateway = await startGateway({
    tools: [file],
    settings: {
      log: { level: 'info' },
      telemetry: { otlp_endpoint: receiver.url, export_interval_ms: 100, sample_ratio: 0 },
      extensions: { tracing: { content: true } },
    },
  });
  await openDatabase(gateway);
  [rest, grpc] = [restDoor(gateway), grpcDoor(gateway)];
});
afterAll(async () => {
  grpc?.close();
  await gateway?.stop();
  receiver?.close();
  upstream?.close();
  removeDir(dir);
});

const key = () => gateway.keys.agent.text;

/** The spans of the trace once those of these names have come, each with its parent among them or the caller's. */
async function connected(parent: string, names: readonly string[]): Promise<readonly ReceivedSpan[]> {
  const spans = () => receiver.trace(traceIdOf(parent));
  await eventually(() => names.every((name) => spans().some((span) => span.name === name)));
  const ids = new Set([CALLERS_SPAN, ...spans().map(({ spanId }) => spanId)]);
  expect(spans().filter(({ parentId }) => !ids.has(parentId))).toEqual([]);
  return spans();
}
const named = (spans: readonly ReceivedSpan[], name: string) => spans.filter((span) => span.name === name);

describe('one trace', () => {
  it('from REST over the gateway to a Python function', async () => {
    const parent = traceparent();
    const call = {
      tool: 'ask_python',
      argumentsJson: '{"value":"x"}',
      key: key(),
      beside: { traceparent: parent },
    };
    const answer = await rest.call(call);
    const spans = await connected(parent, ['execute_tool ask_python', 'ute.attempt']);
    const [root] = named(spans, 'execute_tool ask_python');
    const [attempt] = named(spans, 'ute.attempt');
    expect([root?.parentId, attempt?.parentId]).toEqual([CALLERS_SPAN, root?.spanId]);
    const { context } = answer.data as { context: { traceparent: string } };
    expect([traceIdOf(context.traceparent), spanIdOf(context.traceparent)]).toEqual([
      traceIdOf(parent),
      attempt?.spanId,
    ]);
    expect(root?.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'ask_python',
      'ute.tenant.id': 'acme',
      'ute.attempts': 1,
    });
  });

  it('from REST over the queue to an MCP server', async () => {
    const parent = traceparent();
    const target = { url: gateway.url, key: key() };
    const id = await acceptedId(target, 'ask_mcp', {}, { context: { traceparent: parent } });
    const { result } = await callWhen(target, id);
    const spans = await connected(parent, ['execute_tool ask_mcp', 'ute.attempt']);
    await eventually(() => named(receiver.trace(traceIdOf(parent)), 'execute_tool ask_mcp').length === 2);
    const [admitted, ran] = named(receiver.trace(traceIdOf(parent)), 'execute_tool ask_mcp').toSorted(
      (one, other) => (String(one.attributes['ute.phase']) < String(other.attributes['ute.phase']) ? -1 : 1),
    );
    expect([admitted?.attributes['ute.phase'], ran?.attributes['ute.phase']]).toEqual(['admit', 'resume']);
    expect([admitted?.parentId, ran?.parentId]).toEqual([CALLERS_SPAN, admitted?.spanId]);
    const meta = JSON.stringify(result);
    expect(meta).toContain(`00-${traceIdOf(parent)}-${named(spans, 'ute.attempt')[0]?.spanId}-01`);
  });

  it('from an MCP client, which names it in _meta, over the gateway to an HTTP server', async () => {
    const parent = traceparent();
    heard.length = 0;
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
    const requestInit = { headers: { authorization: `Bearer ${key()}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', gateway.url), { requestInit }));
    await client.callTool({ name: 'ask_http', arguments: {}, _meta: { traceparent: parent } });
    await client.close();
    const names = ['tools/call ask_http', 'execute_tool ask_http', 'ute.attempt'];
    const spans = await connected(parent, names);
    const [request, call, attempt] = names.map((name) => named(spans, name)[0]);
    const parents = [request, call, attempt].map((span) => span?.parentId);
    expect(parents).toEqual([CALLERS_SPAN, request?.spanId, call?.spanId]);
    expect(heard).toEqual([`00-${traceIdOf(parent)}-${attempt?.spanId}-01`]);
    expect(request?.attributes).toMatchObject({
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': '2026-07-28',
      'gen_ai.tool.name': 'ask_http',
      'gen_ai.operation.name': 'execute_tool',
    });
  });

  it('a request of an MCP client that ends in an error says so by its span', async () => {
    const parent = traceparent();
    const asker = new DoorClient({ url: gateway.url, key: key(), era: 'modern' });
    await asker.ask('tools/call', { name: 'no_such', arguments: {}, _meta: { traceparent: parent } });
    const [request] = named(await connected(parent, ['tools/call no_such']), 'tools/call no_such');
    expect(request?.attributes).toMatchObject({
      'error.type': '-32602',
      'rpc.response.status_code': '-32602',
    });
  });

  it('from gRPC over the steps of a composite tool to an HTTP server', async () => {
    const parent = traceparent();
    heard.length = 0;
    await grpc.call({ tool: 'ask_steps', argumentsJson: '{}', key: key(), beside: { traceparent: parent } });
    const spans = await connected(parent, ['execute_tool ask_steps', 'execute_tool ask_http']);
    const [outer] = named(spans, 'execute_tool ask_steps');
    const [step] = named(spans, 'execute_tool ask_http');
    const attempts = named(spans, 'ute.attempt');
    const [around, within] = [outer, step].map((span) =>
      attempts.find(({ parentId }) => parentId === span?.spanId),
    );
    expect([outer?.parentId, step?.parentId]).toEqual([CALLERS_SPAN, around?.spanId]);
    expect(heard).toEqual([`00-${traceIdOf(parent)}-${within?.spanId}-01`]);
  });
});

describe('what is traced', () => {
  it('is what the caller traces, and whatever fails; a trace id is passed on all the same', async () => {
    const quiet = traceparent('00');
    heard.length = 0;
    await rest.call({ tool: 'ask_http', argumentsJson: '{}', key: key(), beside: { traceparent: quiet } });
    expect(heard).toEqual([expect.stringMatching(new RegExp(`^00-${traceIdOf(quiet)}-[0-9a-f]{16}-00$`))]);
    const failing = traceparent('00');
    await rest.call({ tool: 'no_such', argumentsJson: '{}', key: key(), beside: { traceparent: failing } });
    const [span] = await connected(failing, ['execute_tool no_such']);
    expect(span).toMatchObject({
      failed: true,
      parentId: CALLERS_SPAN,
      attributes: { 'error.type': 'NOT_FOUND' },
    });
    expect(receiver.trace(traceIdOf(quiet))).toEqual([]);
  });

  it('holds arguments and results where that is asked for, without what a schema marks as sensitive', async () => {
    const parent = traceparent();
    const argumentsJson = '{"value":"shown","pin":"7391-4402"}';
    await rest.call({ tool: 'keep_pin', argumentsJson, key: key(), beside: { traceparent: parent } });
    const [span] = named(await connected(parent, ['execute_tool keep_pin']), 'execute_tool keep_pin');
    expect(span?.attributes['gen_ai.tool.call.arguments']).toContain('shown');
    expect(span?.attributes['gen_ai.tool.call.result']).toContain('shown');
    expect(JSON.stringify(receiver.spans)).not.toContain('7391-4402');
  });
});

it('metrics come with the names of others as well: tool.calls.*', async () => {
  const point = (name: string) =>
    receiver.points.find((each) => each.name === name && each.attributes['tool'] === 'ask_http');
  await eventually(() => (point('tool.calls.count')?.value ?? 0) > 0);
  expect(point('ute_tool_calls_total')).toMatchObject({ unit: '1', attributes: { outcome: 'ok' } });
  expect(point('tool.calls.latency_ms')?.value).toBeCloseTo(
    (point('ute_tool_call_duration_seconds')?.value ?? 0) * 1_000,
    5,
  );
  expect(receiver.points).toContainEqual(
    expect.objectContaining({
      name: 'tool.calls.errors',
      attributes: { tool: '_unknown', type: 'NOT_FOUND' },
    }),
  );
});

it('log lines come with the trace and the call that they are about', async () => {
  const parent = traceparent();
  await rest.call({ tool: 'ask_http', argumentsJson: '{}', key: key(), beside: { traceparent: parent } });
  const line = () => receiver.lines.find(({ traceId }) => traceId === traceIdOf(parent));
  await eventually(() => line() !== undefined);
  expect(line()).toMatchObject({
    severity: 'INFO',
    body: 'call succeeded',
    attributes: {
      tool: 'ask_http',
      tenantId: 'acme',
      callId: expect.any(String),
      principalId: expect.any(String),
    },
  });
});
