// The doors behind one face: send a call, get back what was decided, so that one table of cases serves REST, gRPC, MCP and streams.
import { holdToDocument } from './documented.ts';
import { resolve } from 'node:path';
import { credentials, loadPackageDefinition, Metadata, type ServiceError } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import protobuf from 'protobufjs';
import { decodeStruct } from '../../src/api/grpc/struct/struct-codec.ts';
import type { RunningGateway } from './running-gateway.ts';
import { StreamClient, type StreamMessage } from './stream-client.ts';

export interface DoorCall {
  readonly tool: string;
  /** JSON text, sent as it is: malformed text is a case too. */
  readonly argumentsJson: string;
  readonly context?: Readonly<Record<string, string>>;
  readonly key?: string;
  readonly timeoutMs?: number;
  /** Said beside the call: headers, or metadata. */
  readonly beside?: Readonly<Record<string, string>>;
}

/** What a caller learns, whichever door it came through. */
export interface Decision {
  readonly ok: boolean;
  readonly data?: unknown;
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: Record<string, unknown>;
  readonly intents?: unknown;
  /** Where an envelope came: how the answer came about. */
  readonly meta?: DecisionMeta;
  /** HTTP status or gRPC code. */
  readonly status: number;
}

export interface DecisionMeta {
  readonly cached: boolean;
  readonly fallback: boolean;
  readonly replayed: boolean;
  readonly degraded: readonly string[];
  readonly attempts: number;
}

export interface Door {
  readonly name: 'rest' | 'grpc' | 'mcp' | 'mcp 2025' | 'stream';
  call(call: DoorCall): Promise<Decision>;
  close(): void;
}

export function restDoor(gateway: RunningGateway): Door {
  async function call({ tool, argumentsJson, context, key, timeoutMs, beside }: DoorCall): Promise<Decision> {
    const body = `{"arguments":${argumentsJson}${context === undefined ? '' : `,"context":${JSON.stringify(context)}`}}`;
    const headers: Record<string, string> = { 'content-type': 'application/json', ...beside };
    if (key !== undefined) headers['authorization'] = `Bearer ${key}`;
    if (timeoutMs !== undefined) headers['x-request-timeout-ms'] = String(timeoutMs);
    const path = `/v1/tools/${encodeURIComponent(tool)}/execute`;
    const response = await fetch(`${gateway.url}${path}`, { method: 'POST', headers, body });
    const text = await response.text();
    const type = response.headers.get('content-type');
    holdToDocument({ method: 'POST', path, status: response.status, type, text });
    const envelope = JSON.parse(text) as {
      ok: boolean;
      data?: unknown;
      intents?: unknown;
      error?: Record<string, unknown>;
      meta?: DecisionMeta;
    };
    const { meta } = envelope;
    if (envelope.ok)
      return { ok: true, data: envelope.data, intents: envelope.intents, meta, status: response.status };
    return {
      ok: false,
      status: response.status,
      meta,
      ...(envelope.error as { type: string; reason: string; message: string }),
    };
  }
  return { name: 'rest', call, close: () => undefined };
}

interface McpMessage {
  readonly result?: {
    readonly content?: readonly { readonly text?: string }[];
    readonly structuredContent?: unknown;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
  readonly error?: { readonly data?: Record<string, unknown> };
}

/** By hand: malformed arguments are cases too, which no client would send. `era`: whose revision is spoken. */
export function mcpDoor(gateway: { readonly url: string }, era: 'modern' | 'legacy' = 'modern'): Door {
  async function call({ tool, argumentsJson, context, key, timeoutMs, beside }: DoorCall): Promise<Decision> {
    const envelope = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const meta = {
      ...(era === 'modern' && envelope),
      ...(context !== undefined && { 'io.ute/context': context }),
    };
    const params = `{"name":${JSON.stringify(tool)},"arguments":${argumentsJson},"_meta":${JSON.stringify(meta)}}`;
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': era === 'modern' ? '2026-07-28' : '2025-11-25',
      ...(era === 'modern' && { 'mcp-method': 'tools/call', 'mcp-name': tool }),
      ...beside,
    };
    if (key !== undefined) headers['authorization'] = `Bearer ${key}`;
    if (timeoutMs !== undefined) headers['x-request-timeout-ms'] = String(timeoutMs);
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
    const response = await fetch(`${gateway.url}/mcp`, { method: 'POST', headers, body });
    const text = await response.text();
    const { status } = response;
    holdToDocument({
      method: 'POST',
      path: '/mcp',
      status,
      type: response.headers.get('content-type'),
      text,
    });
    return decisionOfMessage(JSON.parse(text) as McpMessage, status);
  }
  return { name: era === 'modern' ? 'mcp' : 'mcp 2025', call, close: () => undefined };
}

/** What is text is the data itself, or its JSON. */
function decisionOfMessage({ result, error }: McpMessage, status: number): Decision {
  const told = error?.data ?? result?._meta?.['io.ute/error'];
  const meta = result?._meta?.['io.ute/meta'] as DecisionMeta | undefined;
  if (told !== undefined) return { ok: false, meta, status, ...(told as { type: string; reason: string }) };
  const text = result?.content?.[0]?.text ?? '';
  const data = result?.structuredContent ?? jsonOr(text);
  return { ok: result !== undefined, data, intents: result?._meta?.['io.ute/intents'] ?? [], meta, status };
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Of the context, what a stream says of its session and not of each call. */
const OF_SESSION = ['agent_id', 'user_id', 'tenant_id', 'mode', 'session_id'];

/** Each call in a stream of its own. A refused upgrade has a status; what is said in a stream has none. */
export function streamDoor({ url }: { readonly url: string }): Door {
  async function call({
    tool,
    argumentsJson,
    context = {},
    key,
    timeoutMs,
    beside,
  }: DoorCall): Promise<Decision> {
    const target = { url, key, ...(beside !== undefined && { headers: beside }) };
    const opened = await StreamClient.open(target).catch((error: { status: number; body: object }) => error);
    if (!(opened instanceof StreamClient)) return refusedUpgrade(opened);
    try {
      const ofSession = Object.entries(context).filter(([field]) => OF_SESSION.includes(field));
      const ofCall = Object.entries(context).filter(([field]) => !OF_SESSION.includes(field));
      opened.send({ type: 'start', ...Object.fromEntries(ofSession) });
      const begun = await opened.nextWhere(({ type }) => type === 'started' || type === 'error');
      if (begun.type === 'error') return decisionOfStream(begun);
      const more = `"context":${JSON.stringify(Object.fromEntries(ofCall))}${timeoutMs === undefined ? '' : `,"timeout_ms":${timeoutMs}`}`;
      opened.send(
        `{"type":"tool_call","tool_name":${JSON.stringify(tool)},"arguments":${argumentsJson},${more}}`,
      );
      const closed = opened.closed.then(({ code }) => ({ ok: false, status: code }));
      const ended = opened.nextWhere(({ type }) => type === 'tool_result' || type === 'error');
      ended.catch(() => undefined);
      return await Promise.race([ended.then(decisionOfStream), closed]);
    } finally {
      opened.close();
      await opened.closed;
    }
  }
  return { name: 'stream', call, close: () => undefined };
}

const IN_STREAM = 101;

function decisionOfStream({ ok = false, result, error, intents, meta }: StreamMessage): Decision {
  const told = meta as unknown as DecisionMeta | undefined;
  if (ok) return { ok, data: result, intents, meta: told, status: IN_STREAM };
  return { ok, meta: told, status: error?.type === 'AUTH' ? 401 : IN_STREAM, ...error };
}

/** A problem: its `detail` is the message, its `code` the type, and what else it says are the details. */
function refusedUpgrade({ status, body }: { readonly status: number; readonly body: object }): Decision {
  const { code, reason, detail } = body as {
    readonly code?: string;
    readonly reason?: string;
    readonly detail?: string;
  };
  return { ok: false, status, type: code, reason, message: detail };
}

const PROTO_DIR = resolve(import.meta.dirname, '../../proto');

interface GrpcClient {
  Execute(
    request: object,
    metadata: Metadata,
    options: object,
    done: (error: ServiceError | null, reply?: GrpcReply) => void,
  ): void;
  close(): void;
}
interface GrpcReply {
  readonly ok: boolean;
  readonly dataJson?: Buffer;
  readonly intents?: unknown;
  /** What is false, zero or empty does not travel. */
  readonly meta?: Partial<DecisionMeta>;
  readonly error?: {
    type: string;
    reason: string;
    message: string;
    details?: { fields?: Record<string, WireValue> };
  };
}

export interface GrpcTarget {
  readonly service: { readonly grpcAddress: string };
  /** PEM of the CA to trust; without it the door is spoken to in plain text. */
  readonly rootCertificate?: Buffer;
  /** With a certificate of one's own. */
  readonly clientCertificate?: { readonly cert: Buffer; readonly key: Buffer };
}

export function grpcDoor(gateway: GrpcTarget): Door {
  const definition = loadSync('unified_tool_executor/v1/tool_executor_service.proto', {
    includeDirs: [PROTO_DIR],
    enums: String,
    oneofs: true,
  });
  const loaded = loadPackageDefinition(definition) as unknown as {
    unified_tool_executor: {
      v1: { ToolExecutorService: new (address: string, credentials: object) => GrpcClient };
    };
  };
  const { service, rootCertificate, clientCertificate } = gateway;
  const channel =
    rootCertificate === undefined
      ? credentials.createInsecure()
      : credentials.createSsl(rootCertificate, clientCertificate?.key, clientCertificate?.cert);
  const client = new loaded.unified_tool_executor.v1.ToolExecutorService(service.grpcAddress, channel);
  function call({ tool, argumentsJson, context, key, timeoutMs, beside }: DoorCall): Promise<Decision> {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(beside ?? {})) metadata.set(name, value);
    if (key !== undefined) metadata.set('authorization', `Bearer ${key}`);
    const options = timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs };
    const request = {
      tool,
      argumentsJson: Buffer.from(argumentsJson),
      context: context && wireContext(context),
    };
    return new Promise((done, fail) => {
      client.Execute(request, metadata, options, (error, reply) => {
        if (error !== null) done(decisionOfError(error));
        else if (reply === undefined) fail(new Error('no reply'));
        else done(decisionOfReply(reply));
      });
    });
  }
  return { name: 'grpc', call, close: () => client.close() };
}

function wireContext(context: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(context).map(([key, value]) => [
    key.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase()),
    key === 'mode' ? `INTERACTION_MODE_${value.toUpperCase()}` : value,
  ]);
  return Object.fromEntries(entries) as Record<string, string>;
}

function decisionOfReply(reply: GrpcReply): Decision {
  const meta = { cached: false, fallback: false, replayed: false, degraded: [], attempts: 0, ...reply.meta };
  if (reply.ok) {
    const data =
      reply.dataJson === undefined ? undefined : (JSON.parse(reply.dataJson.toString()) as unknown);
    return { ok: true, data, intents: reply.intents, meta, status: 0 };
  }
  const { type, reason, message, details } = reply.error ?? {};
  return { ok: false, status: 0, type, reason, message, meta, details: plainStruct(details) };
}

interface WireValue {
  readonly kind?: string;
  readonly stringValue?: string;
}

/** The text fields of a Struct: all that the tests read. */
function plainStruct(struct: { fields?: Record<string, WireValue> } | undefined): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(struct?.fields ?? {}).map(([key, value]) => [key, value.stringValue]),
  );
}

const rpc = new protobuf.Root();
rpc.resolvePath = (_origin, target) => (target.startsWith('google/') ? resolve(PROTO_DIR, target) : target);
rpc.loadSync(['google/rpc/status.proto', 'google/rpc/error_details.proto']);

interface ErrorInfo {
  readonly reason: string;
  readonly metadata: Record<string, string>;
}

/** Type and reason travel in google.rpc.ErrorInfo, the details in a Struct beside it. */
export function decisionOfError(error: ServiceError): Decision {
  const [bytes] = error.metadata.get('grpc-status-details-bin');
  if (!Buffer.isBuffer(bytes)) return { ok: false, status: error.code, message: error.details };
  const status = rpc.lookupType('google.rpc.Status').decode(bytes) as unknown as {
    details: { type_url: string; value: Uint8Array }[];
  };
  const packed = status.details.find(({ type_url: url }) => url.endsWith('google.rpc.ErrorInfo'));
  if (packed === undefined) return { ok: false, status: error.code, message: error.details };
  const struct = status.details.find(({ type_url: url }) => url.endsWith('google.protobuf.Struct'));
  const info = rpc.lookupType('google.rpc.ErrorInfo').decode(packed.value) as unknown as ErrorInfo;
  return {
    ok: false,
    status: error.code,
    message: error.details,
    type: info.metadata['type'],
    reason: info.reason,
    ...(struct !== undefined && { details: decodeStruct(struct.value) }),
  };
}
