// The messages of proto/ as this door reads and writes them: protobufjs types over plain objects.
import { isUtf8 } from 'node:buffer';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';

export const PROTO_DIR = fileURLToPath(new URL('../../../proto/', import.meta.url));
export const PROTO_PACKAGE = 'unified_tool_executor.v1';
export const PROTO_FILE = 'unified_tool_executor/v1/tool_executor_service.proto';
export const SERVICE = 'ToolExecutorService';
export const SERVICE_NAME = `${PROTO_PACKAGE}.${SERVICE}`;

/** What a request that is no message of its type is read as: the handler refuses it in words. */
export const UNREADABLE = Symbol('unreadable');
export type Readable<Message> = Message | typeof UNREADABLE;

export interface ContextMessage {
  readonly sessionId: string;
  readonly agentId: string;
  readonly userId: string;
  readonly tenantId: string;
  readonly mode: number;
  readonly turnId: string;
  readonly idempotencyKey: string;
  readonly confirmationToken: string;
  readonly traceparent: string;
  readonly tracestate: string;
  readonly dryRun: boolean;
  readonly cursor: string;
  readonly toolVersion: string;
  readonly toolset: string;
  readonly language: string;
}

/** `arguments` and `argumentsJson` are own properties only where they were sent. */
export interface ExecuteMessage {
  readonly tool: string;
  readonly arguments: Uint8Array;
  readonly argumentsJson: Uint8Array;
  readonly context?: ContextMessage | null;
}

export interface ListToolsMessage {
  readonly pageSize: number;
  readonly pageToken: string;
  readonly toolType: string;
  readonly category: string;
  readonly tag: string;
  readonly mode: number;
  readonly agentId: string;
  readonly toolset: string;
}

export interface GetToolMessage {
  readonly name: string;
  readonly toolset: string;
  readonly agentId: string;
}

export interface SearchToolsMessage {
  readonly query: string;
  readonly limit: number;
  readonly toolset: string;
  readonly agentId: string;
  readonly mode: number;
}

/** As of an ExecuteRequest. */
export interface StartCallMessage extends ExecuteMessage {
  readonly callbackUrl: string;
}

export interface CalledForMessage {
  readonly agentId: string;
  readonly userId: string;
  readonly sessionId: string;
}

export interface ByIdMessage {
  readonly id: string;
  readonly calledFor?: CalledForMessage | null;
}

export interface WatchCallMessage extends ByIdMessage {
  readonly afterSeq: number;
}

export interface DecisionMessage extends ByIdMessage {
  readonly decision: string;
  readonly comment: string;
}

/** One of these is an own property, where the message says anything. */
export interface ConverseMessage {
  readonly start?: Readonly<Record<'sessionId' | 'agentId' | 'userId' | 'tenantId', string>> & {
    readonly mode: number;
    readonly language: string;
  };
  readonly resume?: { readonly resumeToken: string; readonly lastSeq: number };
  readonly textDelta?: { readonly text: string };
  readonly toolCall?: {
    readonly toolName: string;
    readonly argumentsJson: Uint8Array;
    readonly id: string;
    readonly context?: ContextMessage | null;
    readonly timeoutMs: number;
  };
  readonly toolCancel?: { readonly id: string };
  readonly turnStart?: object;
  readonly turnEnd?: { readonly cancel: boolean };
  readonly ping?: { readonly nonce: string };
  readonly end?: { readonly endSession?: boolean };
}

const root = loadRoot();

export const REQUESTS = {
  Execute: reader<ExecuteMessage>('ExecuteRequest'),
  ExecuteStream: reader<ExecuteMessage>('ExecuteStreamRequest'),
  ListTools: reader<ListToolsMessage>('ListToolsRequest'),
  GetTool: reader<GetToolMessage>('GetToolRequest'),
  SearchTools: reader<SearchToolsMessage>('SearchToolsRequest'),
  WatchTools: reader<object>('WatchToolsRequest'),
  Converse: reader<ConverseMessage>('ConverseRequest'),
  StartCall: reader<StartCallMessage>('StartCallRequest'),
  GetCall: reader<ByIdMessage>('GetCallRequest'),
  ListCalls: reader<object>('ListCallsRequest'),
  GetAnalytics: reader<object>('GetAnalyticsRequest'),
  GetSuggestions: reader<object>('GetSuggestionsRequest'),
  WatchCall: reader<WatchCallMessage>('WatchCallRequest'),
  CancelCall: reader<ByIdMessage>('CancelCallRequest'),
  CreateSession: reader<object>('CreateSessionRequest'),
  GetSession: reader<ByIdMessage>('GetSessionRequest'),
  ListSessions: reader<object>('ListSessionsRequest'),
  BeginTurn: reader<ByIdMessage>('BeginTurnRequest'),
  EndSession: reader<ByIdMessage>('EndSessionRequest'),
  ListApprovals: reader<object>('ListApprovalsRequest'),
  GetApproval: reader<ByIdMessage>('GetApprovalRequest'),
  DecideApproval: reader<DecisionMessage>('DecideApprovalRequest'),
};

export const encodeExecuteResponse = writer('ExecuteResponse');
export const encodeStreamEvent = writer('ExecuteStreamResponse');
export const encodeListResponse = writer('ListToolsResponse');
export const encodeConverse = writer('ConverseResponse');
export const encodeGetResponse = writer('GetToolResponse');
export const encodeSearchResponse = writer('SearchToolsResponse');
export const encodeWatchEvent = writer('WatchToolsResponse');

/** Answers of calls that run later and of their figures, of sessions and of approvals. */
export const ENCODERS = {
  StartCall: writer('StartCallResponse'),
  GetCall: writer('GetCallResponse'),
  ListCalls: writer('ListCallsResponse'),
  GetAnalytics: writer('GetAnalyticsResponse'),
  GetSuggestions: writer('GetSuggestionsResponse'),
  WatchCall: writer('WatchCallResponse'),
  CancelCall: writer('CancelCallResponse'),
  CreateSession: writer('CreateSessionResponse'),
  GetSession: writer('GetSessionResponse'),
  ListSessions: writer('ListSessionsResponse'),
  BeginTurn: writer('BeginTurnResponse'),
  EndSession: writer('EndSessionResponse'),
  ListApprovals: writer('ListApprovalsResponse'),
  GetApproval: writer('GetApprovalResponse'),
  DecideApproval: writer('DecideApprovalResponse'),
};

export const encodeStatus = writer('google.rpc.Status');
export const encodeDetail = {
  ErrorInfo: writer('google.rpc.ErrorInfo'),
  RetryInfo: writer('google.rpc.RetryInfo'),
  QuotaFailure: writer('google.rpc.QuotaFailure'),
  BadRequest: writer('google.rpc.BadRequest'),
  ResourceInfo: writer('google.rpc.ResourceInfo'),
};

function loadRoot(): protobuf.Root {
  const loaded = new protobuf.Root();
  loaded.resolvePath = (_origin, target) => PROTO_DIR + target;
  loaded.loadSync([PROTO_FILE, 'google/rpc/status.proto', 'google/rpc/error_details.proto']);
  const own = loaded.lookup(PROTO_PACKAGE);
  if (!(own instanceof protobuf.Namespace)) throw new Error(`no package ${PROTO_PACKAGE} in ${PROTO_FILE}`);
  for (const nested of own.nestedArray) {
    if (nested instanceof protobuf.Type) leaveToUs(nested);
  }
  loaded.resolveAll();
  return loaded;
}

/**
 * On the wire an embedded message is bytes behind a length, as a string is. So a Struct or Value is seen
 * here as bytes, which struct-codec.ts turns into JSON and back in one pass, bounded; and a result that
 * already is JSON text is written as the string it is.
 */
function leaveToUs(type: protobuf.Type): void {
  for (const field of type.fieldsArray) {
    if (field.type === 'google.protobuf.Struct' || field.type === 'google.protobuf.Value')
      field.type = 'bytes';
    if (field.name === 'dataJson') field.type = 'string';
  }
}

/** proto3 wants UTF-8 in strings; the library reads anything, with signs of replacement. */
function strictReader(bytes: Uint8Array): protobuf.Reader {
  const reading = protobuf.Reader.create(bytes);
  reading.string = () => {
    const text = reading.bytes();
    if (!isUtf8(text)) throw new Error('a string is not UTF-8');
    return Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('utf8');
  };
  return reading;
}

function reader<Message>(name: string): (bytes: Uint8Array) => Readable<Message> {
  const type = root.lookupType(`${PROTO_PACKAGE}.${name}`);
  return (bytes) => {
    try {
      return type.decode(strictReader(bytes)) as unknown as Message;
    } catch {
      return UNREADABLE;
    }
  };
}

function writer(name: string): (message: object) => Uint8Array {
  const type = root.lookupType(name.includes('.') ? name : `${PROTO_PACKAGE}.${name}`);
  return (message) => type.encode(message).finish();
}
