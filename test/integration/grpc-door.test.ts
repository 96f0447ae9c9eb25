// The gRPC door over a real socket, with a client that knows only proto/: what the core says arrives, what is hostile does not.
import 'reflect-metadata';
import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import type { ChannelCredentials, ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import { loadSync, type MethodDefinition, type ServiceDefinition } from '@grpc/proto-loader';
import { Module, type INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { protoPath as healthProto } from 'grpc-health-check';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';
import { afterEach, describe, expect, it } from 'vitest';
import { GrpcHealth } from '../../src/api/grpc/grpc-health.ts';
import { grpcOptions, type GrpcSettings } from '../../src/api/grpc/grpc-options.ts';
import { ToolExecutorController } from '../../src/api/grpc/tool-executor.controller.ts';
import {
  AUTHENTICATOR,
  OFFERED_TOOLS,
  TOOL_CALLER,
  TOOL_CATALOG,
  TOOL_SEARCH,
  TOOLSETS,
} from '../../src/api/tokens.ts';
import { errorRow } from '../../src/contract/call/error-row.ts';
import { ERROR_TYPES, type ErrorOrigin, type ErrorType } from '../../src/contract/call/error-types.ts';
import type { JsonValue } from '../../src/contract/json.ts';
import type { ToolSet } from '../../src/contract/tool/tool-set.ts';
import type { ToolRequest } from '../../src/contract/call/tool-call.ts';
import { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import { functionsOf } from '../../src/contract/tool/tool-function.ts';
import type { ResponseMeta, ToolResponse } from '../../src/contract/call/tool-response.ts';
import { principalOf, specOf } from '../helpers/call-kit.ts';
import { selfSignedCertificate } from '../helpers/self-signed-certificate.ts';

const PROTO_DIR = fileURLToPath(new URL('../../proto/', import.meta.url));
const REFLECTION_PROTO = join(
  dirname(createRequire(import.meta.url).resolve('@grpc/reflection')),
  '../proto/grpc/reflection/v1/reflection.proto',
);
const definitions = loadSync(
  ['unified_tool_executor/v1/tool_executor_service.proto', healthProto, REFLECTION_PROTO],
  { includeDirs: [PROTO_DIR], defaults: true, oneofs: true, enums: String, bytes: String },
);
const rpcTypes = new protobuf.Root();
rpcTypes.resolvePath = (_origin, target) => PROTO_DIR + target;
rpcTypes.loadSync([
  'google/rpc/status.proto',
  'google/rpc/error_details.proto',
  'google/protobuf/struct.proto',
]);

const TOOLS = 'unified_tool_executor.v1.ToolExecutorService';
const HEALTH = 'grpc.health.v1.Health';
/** What the certificates of the tests are for. */
const NAME = { 'grpc.ssl_target_name_override': 'localhost' };
const KEY = { 'x-api-key': 'good' };

const META: ResponseMeta = {
  callId: 'call-1',
  tool: 'greet',
  toolVersion: '1.0.0',
  executor: 'test',
  durationMs: 1,
  attempts: 1,
  cached: false,
  replayed: false,
  fallback: false,
  degraded: [],
  registryVersion: 'v1',
  traceId: '',
};

function success(data: JsonValue): ToolResponse {
  return { ok: true, data, dataJson: JSON.stringify(data), intents: [], meta: META, rateLimits: [] };
}

function refusal(
  type: ErrorType,
  changes: { origin?: ErrorOrigin; reason?: string; retryAfterMs?: number } = {},
): ToolResponse {
  const { origin = ERROR_TYPES[type].origin, reason = type, retryAfterMs = null } = changes;
  const fixed = { message: `It was ${type}.`, retryable: false, partialSideEffects: false, details: {} };
  return { ok: false, error: { ...fixed, type, origin, reason, retryAfterMs }, meta: META, rateLimits: [] };
}

/** The core, as far as the door sees it: refuses what the door could not read, and otherwise does as the script says. */
class ScriptedCore {
  readonly requests: ToolRequest[] = [];
  script: (request: ToolRequest) => ToolResponse | Promise<ToolResponse> = ({ arguments: args }) =>
    success(args);

  async execute(request: ToolRequest): Promise<ToolResponse> {
    this.requests.push(request);
    if (request.refusal === undefined) return this.script(request);
    const { type, message, origin, reason, details, retryable } = request.refusal;
    const error = {
      type,
      message,
      origin,
      reason,
      details,
      retryable,
      retryAfterMs: null,
      partialSideEffects: false,
    };
    return { ok: false, error, meta: META, rateLimits: [] };
  }
}

class ScriptedCatalog {
  readonly #listeners = new Set<(snapshot: ToolSet) => void>();
  #snapshot = snapshotOf('v1', ['calc.add', 'greet']);

  snapshot(): ToolSet {
    return this.#snapshot;
  }

  isDisabled(name: string): boolean {
    return name === 'greet';
  }

  onChange(listener: (snapshot: ToolSet) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  swap(version: string, names: readonly string[]): void {
    this.#snapshot = snapshotOf(version, names);
    for (const listener of this.#listeners) listener(this.#snapshot);
  }
}

function snapshotOf(version: string, names: readonly string[]): ToolSet {
  const secret = { url: 'http://internal.example' };
  const metadata = { ...specOf().metadata, documentation: 'All of it.', category: 'utility' };
  const specs = names.map((name) => specOf({ name, implementationConfig: secret, metadata }));
  const functions = specs.flatMap(functionsOf);
  return {
    version,
    contentHash: '',
    specs,
    functions,
    find: (name) => functions.map((fn) => ({ function: fn })).find((known) => known.function.name === name),
    providerName: (name) => name.replaceAll('.', '__'),
  };
}

const authenticator = {
  authenticate(credential: { kind: string; token?: string }) {
    if (credential.token === 'good') return principalOf();
    if (credential.token === 'weak') return principalOf({ permissions: new Set(['tools:call']) });
    throw new ToolFailure('AUTH', 'No valid credential was shown.');
  },
};

interface Door {
  readonly app: INestMicroservice;
  readonly core: ScriptedCore;
  readonly catalog: ScriptedCatalog;
  readonly health: GrpcHealth;
  readonly client: Client;
  readonly address: string;
}

const opened: { app: INestMicroservice; client: Client }[] = [];

afterEach(async () => {
  for (const { app, client } of opened.splice(0)) {
    client.close();
    await app.close();
  }
});

async function openDoor(changes: Partial<GrpcSettings> = {}, channel?: ChannelCredentials): Promise<Door> {
  const [core, catalog, health] = [new ScriptedCore(), new ScriptedCatalog(), new GrpcHealth()];
  class DoorModule {}
  Module({
    controllers: [ToolExecutorController],
    providers: [
      { provide: TOOL_CALLER, useValue: core },
      { provide: TOOL_CATALOG, useValue: catalog },
      { provide: OFFERED_TOOLS, useValue: { generation: 0, isOffered: () => true } },
      { provide: AUTHENTICATOR, useValue: authenticator },
      { provide: GrpcHealth, useValue: health },
      { provide: TOOLSETS, useValue: { find: () => undefined, onChange: () => () => undefined } },
      { provide: TOOL_SEARCH, useValue: { search: async () => [] } },
    ],
  })(DoorModule);
  const settings = {
    host: '127.0.0.1',
    port: 0,
    reflection: true,
    maxMessageBytes: 1 << 20,
    caller: core,
    health,
    ...changes,
  };
  const app = await NestFactory.createMicroservice(DoorModule, { ...grpcOptions(settings), logger: false });
  await app.listen();
  health.setServing(true);
  const address = `127.0.0.1:${health.port(0)}`;
  const client = new Client(address, channel ?? credentials.createInsecure(), NAME);
  opened.push({ app, client });
  return { app, core, catalog, health, client, address };
}

type Message = Record<string, unknown>;

interface Said {
  readonly metadata?: Record<string, string>;
  readonly deadline?: number;
  /** Sent as it is, in place of an encoded message. */
  readonly bytes?: Uint8Array;
}

function methodOf(service: string, name: string): MethodDefinition<Message, Message> {
  return (definitions[service] as ServiceDefinition)[name] as MethodDefinition<Message, Message>;
}

function metadataOf(entries: Record<string, string> = KEY): Metadata {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(entries)) metadata.set(key, value);
  return metadata;
}

function start(
  client: Client,
  name: string,
  message: Message,
  said: Said,
  done: (error: ServiceError | null, answer?: Message) => void,
  service = TOOLS,
) {
  const { path, requestSerialize, responseDeserialize } = methodOf(service, name);
  const serialize = (request: Message) =>
    said.bytes === undefined ? requestSerialize(request) : Buffer.from(said.bytes);
  const { deadline } = said;
  return client.makeUnaryRequest(
    path,
    serialize,
    responseDeserialize,
    message,
    metadataOf(said.metadata),
    { deadline },
    done,
  );
}

/** The answer, or the ServiceError: neither is an exception to a test. */
function ask(
  client: Client,
  name: string,
  message: Message,
  said: Said = {},
  service = TOOLS,
): Promise<Message & Partial<ServiceError>> {
  return new Promise((resolve) => {
    start(
      client,
      name,
      message,
      said,
      (error, answer) => resolve({ ...answer, ...(error && readError(error)) }),
      service,
    );
  });
}

function readError(error: ServiceError): Message {
  const { code, details, metadata } = error;
  return { code, details, rich: richDetails(metadata) };
}

function richDetails(metadata: Metadata): Record<string, Message> {
  const [bytes] = metadata.get('grpc-status-details-bin');
  if (!Buffer.isBuffer(bytes)) return {};
  const found = rpcTypes.lookupType('google.rpc.Status').decode(bytes) as unknown as {
    details: { type_url: string; value: Uint8Array }[];
  };
  return Object.fromEntries(
    found.details.map(({ type_url: url, value }) => {
      const type = rpcTypes.lookupType(url.slice(url.indexOf('/') + 1));
      return [type.name, type.toObject(type.decode(value), { longs: Number })];
    }),
  );
}

function openStream(
  client: Client,
  name: string,
  message: Message,
  said: Said = {},
  service = TOOLS,
): ClientReadableStream<Message> {
  const { path, requestSerialize, responseDeserialize } = methodOf(service, name);
  return client.makeServerStreamRequest(
    path,
    requestSerialize,
    responseDeserialize,
    message,
    metadataOf(said.metadata),
  );
}

/** Everything a stream says, and how it ended. */
async function readAll(
  stream: ClientReadableStream<Message>,
): Promise<{ events: Message[]; error?: Message }> {
  const events: Message[] = [];
  try {
    for await (const event of stream) events.push(event as Message);
    return { events };
  } catch (error) {
    return { events, error: readError(error as ServiceError) };
  }
}

const json = (value: JsonValue) => ({ argumentsJson: Buffer.from(JSON.stringify(value)) });
const fromBase64 = (text: unknown) => Buffer.from(String(text), 'base64').toString('utf8');

describe('Execute', () => {
  it('runs a call and answers in the form of its arguments', async () => {
    const { client, core } = await openDoor();
    const asStruct = await ask(client, 'Execute', {
      tool: 'greet',
      arguments: { fields: { a: { numberValue: 2 } } },
    });
    expect(asStruct).toMatchObject({
      ok: true,
      result: 'data',
      data: { structValue: { fields: { a: { numberValue: 2 } } } },
      meta: { callId: 'call-1', schemaVersion: '1.0.0', registryVersion: 'v1' },
    });
    const asJson = await ask(client, 'Execute', { tool: 'greet', ...json({ a: 'ü' }) });
    expect(fromBase64(asJson['dataJson'])).toBe('{"a":"ü"}');
    expect(core.requests.map((request) => request.credential)).toEqual(
      Array.from({ length: 2 }, () => ({ kind: 'bearer', token: 'good', from: { peer: '127.0.0.1' } })),
    );
  });

  const types = Object.keys(ERROR_TYPES) as ErrorType[];
  const codeOf = (type: ErrorType) => errorRow(type, ERROR_TYPES[type].origin).grpc;

  it('ends a call with the status of the contract for every error type, and an ErrorInfo that names it', async () => {
    const { client, core } = await openDoor();
    for (const type of types.filter((candidate) => codeOf(candidate) > 0)) {
      core.script = () => refusal(type);
      expect(await ask(client, 'Execute', { tool: 'greet' })).toMatchObject({
        code: codeOf(type),
        details: `It was ${type}.`,
        rich: {
          ErrorInfo: { reason: type, domain: 'unified-tool-executor', metadata: { type, call_id: 'call-1' } },
        },
      });
    }
  });

  it('answers OK with the error inside where the contract says that it is an answer', async () => {
    const { client, core } = await openDoor();
    for (const type of types.filter((candidate) => codeOf(candidate) === 0)) {
      core.script = () => refusal(type);
      const error = { type, message: `It was ${type}.` };
      expect(await ask(client, 'Execute', { tool: 'greet' })).toMatchObject({ ok: false, error });
    }
  });

  it("answers with a tool's own error of any type, and says when to try again where the gateway refuses", async () => {
    const { client, core } = await openDoor();
    core.script = () => refusal('RATE_LIMIT', { origin: 'tool' });
    expect(await ask(client, 'Execute', {})).toMatchObject({
      ok: false,
      error: { type: 'RATE_LIMIT', origin: 'tool' },
    });
    core.script = () => refusal('RATE_LIMIT', { retryAfterMs: 1500 });
    expect(await ask(client, 'Execute', {})).toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
      rich: { RetryInfo: { retryDelay: { seconds: 1, nanos: 500_000_000 } }, QuotaFailure: {} },
    });
    core.script = () => refusal('CONFLICT', { reason: 'PAYLOAD_MISMATCH' });
    expect(await ask(client, 'Execute', {})).toMatchObject({ code: status.FAILED_PRECONDITION });
  });

  it('answers INTERNAL and nothing else about a defect of its own', async () => {
    const { client, core } = await openDoor();
    core.script = () => ({ ...success(1), intents: undefined }) as unknown as ToolResponse;
    const answer = await ask(client, 'Execute', { tool: 'greet' });
    expect(answer).toMatchObject({ code: status.INTERNAL, details: 'The gateway failed to answer.' });
  });

  it("hands the caller's deadline and trace context to the core", async () => {
    const { client, core } = await openDoor();
    const metadata = { ...KEY, traceparent: '00-a-b-01', 'idempotency-key': 'once' };
    await ask(
      client,
      'Execute',
      { tool: 'greet', context: { mode: 'INTERACTION_MODE_VOICE' } },
      { deadline: Date.now() + 5000, metadata },
    );
    const [request] = core.requests;
    expect(request?.timeoutMs).toBeGreaterThan(3000);
    expect(request?.timeoutMs).toBeLessThanOrEqual(5000);
    expect(request?.context).toEqual({ mode: 'voice', traceparent: '00-a-b-01', idempotencyKey: 'once' });
  });

  it("lets the caller's cancellation reach the call", async () => {
    const { client, core } = await openDoor();
    const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
    const { promise: aborted, resolve: abort } = Promise.withResolvers<void>();
    core.script = async ({ whenGone }) => {
      enter();
      whenGone?.(abort);
      await aborted;
      return refusal('CANCELLED');
    };
    const { promise: ended, resolve: end } = Promise.withResolvers<ServiceError | null>();
    const call = start(client, 'Execute', { tool: 'greet' }, {}, (error) => end(error));
    await entered;
    call.cancel();
    await aborted;
    expect(await ended).toMatchObject({ code: status.CANCELLED });
  });

  it('refuses hostile arguments as VALIDATION, through the core', async () => {
    const { client, core } = await openDoor();
    const hostile: [string, Message, Said][] = [
      ['a nesting bomb', {}, { bytes: nestingBomb(2000) }],
      ['NaN', { tool: 'greet', arguments: { fields: { a: { numberValue: Number.NaN } } } }, {}],
      [
        'a __proto__ key',
        {
          tool: 'greet',
          arguments: JSON.parse(
            '{"fields":{"__proto__":{"structValue":{"fields":{"polluted":{"boolValue":true}}}}}}',
          ) as Message,
        },
        {},
      ],
      ['broken JSON', { tool: 'greet', argumentsJson: Buffer.from('{"a":') }, {}],
      ['bytes that are no message', {}, { bytes: Uint8Array.of(0x0a, 0xff) }],
    ];
    for (const [what, message, said] of hostile) {
      const answer = await ask(client, 'Execute', message, said);
      expect({ what, ...answer }).toMatchObject({
        what,
        code: status.INVALID_ARGUMENT,
        rich: { BadRequest: {} },
      });
    }
    expect(core.requests.map(({ refusal: refused }) => refused?.type)).toEqual(
      hostile.map(() => 'VALIDATION'),
    );
    expect(({} as Message)['polluted']).toBeUndefined();
  });

  it('refuses metadata above 8 kB and requests above the size limit', async () => {
    const { client, core } = await openDoor();
    const metadata = { ...KEY, filler: 'x'.repeat(9000) };
    expect(await ask(client, 'Execute', { tool: 'greet' }, { metadata })).toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
      rich: { ErrorInfo: { reason: 'METADATA_TOO_LARGE' } },
    });
    expect(core.requests).toHaveLength(1);
    const tooLarge = await ask(client, 'Execute', { tool: 'greet', ...json('x'.repeat(1 << 20)) });
    expect(tooLarge).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
    expect(core.requests).toHaveLength(1);
  });
});

describe('ExecuteStream', () => {
  it('streams events in order and the response last', async () => {
    const { client, core } = await openDoor();
    core.script = ({ emit }) => {
      emit?.({ kind: 'progress', fraction: 0.5 });
      emit?.({ kind: 'log', level: 'info', message: 'half' });
      emit?.({ kind: 'partial', data: [1] });
      return success('done');
    };
    const { events, error } = await readAll(openStream(client, 'ExecuteStream', { tool: 'greet' }));
    expect(error).toBeUndefined();
    expect(events).toMatchObject([
      { event: 'progress', progress: { fraction: 0.5 } },
      { event: 'log', log: { level: 'info', message: 'half' } },
      { event: 'partial', partial: { data: { listValue: { values: [{ numberValue: 1 }] } } } },
      { event: 'response', response: { ok: true, data: { stringValue: 'done' } } },
    ]);
  });

  it('ends with the gRPC error, after the events, where the call failed', async () => {
    const { client, core } = await openDoor();
    core.script = ({ emit }) => {
      emit?.({ kind: 'partial', data: 1 });
      return refusal('TIMEOUT');
    };
    const { events, error } = await readAll(openStream(client, 'ExecuteStream', { tool: 'greet' }));
    expect(events).toMatchObject([{ event: 'partial' }]);
    expect(error).toMatchObject({
      code: status.DEADLINE_EXCEEDED,
      rich: { ErrorInfo: { reason: 'TIMEOUT' } },
    });
  });

  it('brings thousands of partial results to a reader who keeps up, in order', async () => {
    const { client, core } = await openDoor();
    const count = 3000;
    core.script = async ({ emit }) => {
      for (let index = 0; index < count; index += 1) {
        emit?.({ kind: 'partial', data: index });
        if (index % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      return success('done');
    };
    const { events, error } = await readAll(
      openStream(client, 'ExecuteStream', { tool: 'greet', ...json({}) }),
    );
    expect(error).toBeUndefined();
    const partials = events
      .slice(0, -1)
      .map(({ partial }) => Number(fromBase64((partial as Message)['dataJson'])));
    expect(partials).toEqual(Array.from({ length: count }, (_, index) => index));
  });

  it('gives a call up whose partial results nobody reads', async () => {
    const { client, core } = await openDoor();
    const { promise: given, resolve: giveUp } = Promise.withResolvers<void>();
    core.script = async ({ emit, whenGone }) => {
      whenGone?.(giveUp);
      const data = 'x'.repeat(1 << 20);
      for (let index = 0; index < 64; index += 1) emit?.({ kind: 'partial', data });
      await given;
      return refusal('CANCELLED');
    };
    const stream = openStream(client, 'ExecuteStream', { tool: 'greet' });
    await given;
    const { error } = await readAll(stream);
    expect(error).toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
      rich: { ErrorInfo: { reason: 'READER_TOO_SLOW' } },
    });
  });

  it('lets the cancellation of a stream reach the call', async () => {
    const { client, core } = await openDoor();
    const { promise: aborted, resolve: abort } = Promise.withResolvers<void>();
    core.script = async ({ emit, whenGone }) => {
      whenGone?.(abort);
      emit?.({ kind: 'progress', message: 'started' });
      await aborted;
      return refusal('CANCELLED');
    };
    const stream = openStream(client, 'ExecuteStream', { tool: 'greet' });
    stream.once('data', () => stream.cancel());
    const { error } = await readAll(stream);
    await aborted;
    expect(error).toMatchObject({ code: status.CANCELLED });
  });
});

describe('the tools on show', () => {
  it('lists and describes the public part of a tool', async () => {
    const { client } = await openDoor();
    const page = await ask(client, 'ListTools', { pageSize: 1 });
    expect(page).toMatchObject({
      tools: [{ name: 'calc.add', providerName: 'calc__add', disabled: false }],
      registryVersion: 'v1',
    });
    const rest = await ask(client, 'ListTools', { pageSize: 1, pageToken: page['nextPageToken'] });
    expect(rest).toMatchObject({ tools: [{ name: 'greet', disabled: true }], nextPageToken: '' });
    const one = await ask(client, 'GetTool', { name: 'greet' });
    expect(one).toMatchObject({
      documentation: 'All of it.',
      tool: {
        name: 'greet',
        category: 'utility',
        inputSchema: { fields: { type: { stringValue: 'object' } } },
        modes: ['INTERACTION_MODE_VOICE', 'INTERACTION_MODE_TEXT'],
      },
    });
    expect(JSON.stringify([page, rest, one])).not.toContain('internal.example');
  });

  it('asks for a credential that may read tools, in every method', async () => {
    const { client } = await openDoor();
    for (const [key, code] of [
      ['weak', status.PERMISSION_DENIED],
      ['wrong', status.UNAUTHENTICATED],
    ] as const) {
      const said = { metadata: { 'x-api-key': key } };
      expect(await ask(client, 'ListTools', {}, said)).toMatchObject({ code, rich: { ErrorInfo: {} } });
      expect(await ask(client, 'GetTool', { name: 'greet' }, said)).toMatchObject({ code });
      expect((await readAll(openStream(client, 'WatchTools', {}, said))).error).toMatchObject({ code });
    }
  });

  it('says what was wrong with a request in google.rpc details', async () => {
    const { client } = await openDoor();
    expect(await ask(client, 'GetTool', { name: 'nowhere' })).toMatchObject({
      code: status.NOT_FOUND,
      rich: { ResourceInfo: { resourceType: 'tool', resourceName: 'nowhere' } },
    });
    expect(await ask(client, 'ListTools', { pageSize: -1 })).toMatchObject({
      code: status.INVALID_ARGUMENT,
      rich: { BadRequest: { fieldViolations: [{ field: '/page_size' }] } },
    });
    expect(await ask(client, 'GetTool', {}, { bytes: Uint8Array.of(0x0a, 0xff) })).toMatchObject({
      code: status.INVALID_ARGUMENT,
    });
  });

  it('streams the set of tools and its changes, and ends with UNAVAILABLE when the gateway drains', async () => {
    const { client, catalog, health } = await openDoor();
    const stream = openStream(client, 'WatchTools', {});
    const reading = readAll(stream);
    await new Promise((resolve) => stream.once('data', resolve));
    catalog.swap('v2', ['greet', 'new']);
    await new Promise((resolve) => stream.once('data', resolve));
    health.setServing(false);
    const { events, error } = await reading;
    expect(events).toMatchObject([
      { event: 'snapshot', registryVersion: 'v1', snapshot: { names: ['calc.add', 'greet'] } },
      {
        event: 'changes',
        registryVersion: 'v2',
        changes: { added: ['new'], removed: ['calc.add'], changed: [] },
      },
    ]);
    expect(error).toMatchObject({
      code: status.UNAVAILABLE,
      rich: { ErrorInfo: { reason: 'DRAINING' }, RetryInfo: {} },
    });
  });
});

describe('health, reflection and TLS', () => {
  it('says SERVING until the drain, then NOT_SERVING, and ends the watches', async () => {
    const { client, health } = await openDoor();
    expect(await ask(client, 'Check', { service: TOOLS }, {}, HEALTH)).toMatchObject({ status: 'SERVING' });
    const stream = openStream(client, 'Watch', { service: '' }, {}, HEALTH);
    const reading = readAll(stream);
    await new Promise((resolve) => stream.once('data', resolve));
    health.setServing(false);
    expect(await reading).toMatchObject({
      events: [{ status: 'SERVING' }, { status: 'NOT_SERVING' }],
      error: { code: status.UNAVAILABLE },
    });
    expect(await ask(client, 'Check', { service: '' }, {}, HEALTH)).toMatchObject({ status: 'NOT_SERVING' });
  });

  it('describes itself by reflection, old and new, unless that is switched off', async () => {
    const { client } = await openDoor();
    for (const version of ['v1', 'v1alpha']) {
      expect(await reflectServices(client, version)).toEqual(expect.arrayContaining([TOOLS, HEALTH]));
    }
    const closed = await openDoor({ reflection: false });
    await expect(reflectServices(closed.client, 'v1')).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
  });

  it('speaks TLS, and with a CA only to callers with a certificate of that CA', async () => {
    const server = selfSignedCertificate();
    const tls = await openDoor({ tls: server }, credentials.createSsl(server.cert));
    expect(await ask(tls.client, 'Execute', { tool: 'greet' })).toMatchObject({ ok: true });
    const plain = new Client(tls.address, credentials.createInsecure());
    expect(await ask(plain, 'Execute', {}, { deadline: Date.now() + 2000 })).not.toHaveProperty('ok');
    plain.close();

    const caller = selfSignedCertificate('caller');
    const known = credentials.createSsl(server.cert, caller.key, caller.cert);
    const mutual = await openDoor({ tls: { ...server, ca: caller.cert } }, known);
    expect(await ask(mutual.client, 'Execute', { tool: 'greet' })).toMatchObject({ ok: true });
    const stranger = new Client(mutual.address, credentials.createSsl(server.cert), NAME);
    expect(await ask(stranger, 'Execute', {}, { deadline: Date.now() + 2000 })).not.toHaveProperty('ok');
    stranger.close();
  });
});

describe('graceful shutdown', () => {
  it('lets the call in flight finish, though watches and reflection were open', async () => {
    const { app, client, core, health } = await openDoor();
    const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    core.script = async () => {
      enter();
      await released;
      return success('finished');
    };
    const watch = readAll(openStream(client, 'WatchTools', {}));
    const healthWatch = readAll(openStream(client, 'Watch', {}, {}, HEALTH));
    const answer = ask(client, 'Execute', { tool: 'greet' });
    await entered;
    health.setServing(false);
    const closed = app.close();
    expect((await watch).error).toMatchObject({ code: status.UNAVAILABLE });
    await healthWatch;
    release();
    expect(await answer).toMatchObject({ ok: true, data: { stringValue: 'finished' } });
    await closed;
    opened.splice(0);
    client.close();
  });

  it('cuts what still runs when the time for closing is over', async () => {
    const { app, client, core } = await openDoor({ closeWithinMs: 50 });
    const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
    const { promise: aborted, resolve: abort } = Promise.withResolvers<void>();
    core.script = async ({ whenGone }) => {
      enter();
      whenGone?.(abort);
      await aborted;
      return refusal('CANCELLED');
    };
    const answer = ask(client, 'Execute', { tool: 'greet' });
    await entered;
    await app.close();
    await aborted;
    expect(await answer).not.toHaveProperty('ok');
    opened.splice(0);
    client.close();
  });
});

/** An ExecuteRequest whose Struct is `{a: {a: …}}`; other writers refuse to make one. */
function nestingBomb(levels: number): Uint8Array {
  let struct = new Uint8Array();
  for (let level = 0; level < levels; level += 1) {
    const value = protobuf.Writer.create().uint32(0x2a).bytes(struct).finish();
    const entry = protobuf.Writer.create().uint32(0x0a).string('a').uint32(0x12).bytes(value).finish();
    struct = Uint8Array.from(protobuf.Writer.create().uint32(0x0a).bytes(entry).finish());
  }
  return protobuf.Writer.create().uint32(0x0a).string('greet').uint32(0x12).bytes(struct).finish();
}

/** Names of the services, asked for as grpcurl does. */
function reflectServices(client: Client, version: string): Promise<string[]> {
  const { path, requestSerialize, responseDeserialize } = methodOf(
    'grpc.reflection.v1.ServerReflection',
    'ServerReflectionInfo',
  );
  const stream = client.makeBidiStreamRequest(
    path.replace('.v1.', `.${version}.`),
    requestSerialize,
    responseDeserialize,
  );
  return new Promise((resolve, reject) => {
    stream.on('error', reject);
    stream.on('data', (message: { listServicesResponse: { service: { name: string }[] } }) => {
      resolve(message.listServicesResponse.service.map(({ name }) => name));
      stream.end();
    });
    stream.write({ listServices: '' });
  });
}
