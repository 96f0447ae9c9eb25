// What is kept of an admitted call: its row, and in it the text that it is read back from when it runs.
import { isJsonObject, type JsonObject } from '../contract/json.ts';
import type { Admitted } from '../contract/call/admission.ts';
import type { AdmittedCall } from '../contract/call/admitted-call.ts';
import { canonicalHash } from '../lib/json/canonical-json.ts';
import { SENSITIVE_MARK, sealSensitive } from '../lib/secrets/sensitive-values.ts';
import type { NewCall } from '../ports/calls/call-store.ts';

export interface AcceptedRequest extends Omit<AdmittedCall, 'callId'> {
  /** The arguments for views, where the schema marks some as sensitive. */
  readonly shown?: JsonObject;
}

export interface Acceptance {
  readonly maxWaitMs: number;
  readonly callbackUrl?: string;
}

/** The row of a call that has come as far as it can without running. */
export function newCallOf(admitted: Admitted, { maxWaitMs, callbackUrl }: Acceptance): NewCall {
  const { call, function: fn, door, registryVersion, traceId } = admitted;
  const { context, grant } = call;
  const { metadata } = fn.spec;
  return {
    id: call.callId,
    kind: 'async',
    tenantId: grant.tenantId,
    principalId: grant.principalId,
    agentId: context.agentId ?? '',
    userId: context.userId ?? '',
    sessionId: context.sessionId ?? '',
    door,
    tool: call.tool,
    toolVersion: metadata.version,
    executor: fn.spec.toolType,
    argumentsHash: canonicalHash(call.arguments),
    readOnly: metadata.readOnly,
    idempotent: metadata.idempotent,
    registryVersion,
    traceId,
    request: JSON.stringify(requestOf(admitted)),
    priority: fn.spec.priority ?? 'normal',
    maxWaitMs,
    ...(callbackUrl !== undefined && { callbackUrl }),
  };
}

function requestOf({ call, function: fn }: Admitted): AcceptedRequest {
  const { callId: _row, ...kept } = call;
  const { value: shown } = sealSensitive(fn.inputSchema, call.arguments, () => SENSITIVE_MARK);
  return shown === call.arguments ? kept : { ...kept, shown };
}

/** Throws Error where the row does not hold a request. */
export function admittedCallOf(callId: string, text: string): AdmittedCall {
  const stored: unknown = JSON.parse(text);
  if (!isJsonObject(stored)) throw new Error(`the row of call ${callId} holds no request`);
  const { shown: _shown, ...kept } = stored as unknown as AcceptedRequest;
  return { callId, ...kept };
}
