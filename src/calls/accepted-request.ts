// AcceptedRequest: what is kept of a call to run it later. No credential, no token: who it is for is a name and permissions.
import { isJsonObject, type JsonObject } from '../contract/json.ts';
import { NO_CREDENTIAL, type Principal } from '../contract/call/principal.ts';
import type { Grant, ToolCall, ToolRequest } from '../contract/call/tool-call.ts';
import type { ToolContext } from '../contract/call/tool-context.ts';
import { isUnsafe } from '../contract/tool/tool-spec.ts';
import type { ToolFunction } from '../contract/tool/tool-function.ts';
import { canonicalHash } from '../lib/json/canonical-json.ts';
import { SENSITIVE_MARK, sealSensitive } from '../lib/secrets/sensitive-values.ts';
import type { NewCall } from '../ports/calls/call-store.ts';

export interface AcceptedRequest {
  readonly tool: string;
  readonly arguments: JsonObject;
  /** The same for views, where the schema marks some as sensitive. */
  readonly shown?: JsonObject;
  readonly context: ToolContext;
  readonly timeoutMs?: number;
  readonly toolHash: string;
  readonly approved: boolean;
  /** What runs, as it was approved. */
  readonly runs?: string;
  readonly grant: Grant;
}

export interface Acceptance {
  readonly maxWaitMs: number;
  readonly callbackUrl?: string;
}

/** The row of a call that has come as far as it can without running. */
export function newCallOf(call: ToolCall, { maxWaitMs, callbackUrl }: Acceptance): NewCall {
  const { function: fn, principal, context } = call;
  if (fn === undefined || principal === undefined)
    throw new Error('a call can be accepted for later only behind auth, for a tool that is known');
  const { metadata } = fn.spec;
  return {
    id: call.id,
    kind: 'async',
    tenantId: principal.tenantId,
    principalId: principal.id,
    agentId: context.agentId ?? '',
    userId: context.userId ?? '',
    sessionId: context.sessionId ?? '',
    door: call.request.door,
    tool: fn.name,
    toolVersion: metadata.version,
    executor: fn.spec.toolType,
    argumentsHash: canonicalHash(call.arguments),
    readOnly: metadata.readOnly,
    idempotent: metadata.idempotent,
    registryVersion: call.snapshot.version,
    traceId: call.progress.traceId,
    request: JSON.stringify(requestOf(call, fn, principal)),
    priority: fn.spec.priority ?? 'normal',
    maxWaitMs,
    ...(callbackUrl !== undefined && { callbackUrl }),
  };
}

function requestOf(call: ToolCall, fn: ToolFunction, principal: Principal): AcceptedRequest {
  const { confirmationToken, ...context } = call.context;
  const { value: shown } = sealSensitive(fn.inputSchema, call.arguments, () => SENSITIVE_MARK);
  return {
    tool: fn.name,
    arguments: call.arguments,
    ...(shown !== call.arguments && { shown }),
    context,
    ...(call.request.timeoutMs !== undefined && { timeoutMs: call.request.timeoutMs }),
    toolHash: fn.spec.contentHash,
    approved: confirmationToken !== undefined || isUnsafe(fn.spec.metadata),
    ...(call.progress.approvedFor !== undefined && { runs: call.progress.approvedFor }),
    grant: {
      principalId: principal.id,
      tenantId: principal.tenantId,
      permissions: [...principal.permissions],
    },
  };
}

/** Throws Error where the row does not hold a request. */
export function toolRequestOf(
  callId: string,
  text: string,
  door: Pick<ToolRequest, 'emit' | 'signal'>,
): ToolRequest {
  const stored: unknown = JSON.parse(text);
  if (!isJsonObject(stored)) throw new Error(`the row of call ${callId} holds no request`);
  const request = stored as unknown as AcceptedRequest;
  const { tool, arguments: args, context, timeoutMs, toolHash, approved, runs, grant } = request;
  return {
    ...door,
    tool,
    arguments: args,
    context,
    credential: NO_CREDENTIAL,
    door: 'queue',
    ...(timeoutMs !== undefined && { timeoutMs }),
    accepted: { callId, toolHash, approved, ...(runs !== undefined && { runs }) },
    onBehalfOf: grant,
  };
}
