// The call of a schedule: what is kept of it when the schedule is made, and the row that each of its moments becomes.
import type { Admitted } from '../contract/call/admission.ts';
import type { AdmittedCall } from '../contract/call/admitted-call.ts';
import type { ToolContext } from '../contract/call/tool-context.ts';
import { isAssigned } from '../contract/call/version-source.ts';
import { toolFailure } from '../contract/call/failure.ts';
import { uuidv7 } from '../lib/ids.ts';
import type { NewCall } from '../ports/calls/call-store.ts';
import type { Schedule, ScheduledCall } from '../ports/calls/schedule-store.ts';
import type { ToolCatalog } from '../ports/registry/tool-catalog.ts';
import { newCallOf } from '../calls/accepted-request.ts';

/** Of one schedule: it is read again at each of its moments. */
const MAX_REQUEST_BYTES = 64 * 1024;

/** Throws ToolFailure PAYLOAD_TOO_LARGE. */
export function scheduledCallOf(admitted: Admitted, callbackUrl?: string): ScheduledCall {
  const call = eachTime(admitted.call);
  const kept = newCallOf({ ...admitted, call }, { maxWaitMs: 0 });
  const { tool, principalId, agentId, userId, sessionId, argumentsHash, request } = kept;
  const bytes = Buffer.byteLength(request);
  if (bytes > MAX_REQUEST_BYTES) {
    const message = `A schedule keeps at most ${MAX_REQUEST_BYTES} bytes of arguments and context, these are ${bytes}.`;
    throw toolFailure('SCHEDULE_TOO_LARGE', message);
  }
  const told = callbackUrl === undefined ? {} : { callbackUrl };
  return { tool, principalId, agentId, userId, sessionId, argumentsHash, request, ...told };
}

/** What is assigned is asked for at each run. What the caller or its session named holds for all of them. */
function eachTime({ keepsVersion: _kept, versionSource, ...call }: AdmittedCall): AdmittedCall {
  const context = lasting(call.context);
  if (!isAssigned(versionSource))
    return { ...call, ...(versionSource !== undefined && { versionSource }), context };
  return { ...call, context: { ...context, toolVersion: undefined } };
}

/** What holds for every run; the rest was for this one moment. */
function lasting(context: ToolContext): ToolContext {
  return { ...context, ...OF_ONE_MOMENT };
}

const OF_ONE_MOMENT = {
  idempotencyKey: undefined,
  turnId: undefined,
  traceparent: undefined,
  tracestate: undefined,
  cursor: undefined,
} satisfies ToolContext;

export interface RunTerms {
  readonly catalog: ToolCatalog;
  readonly maxWaitMs: number;
}

/** What the tool is like is asked now: the schedule may be older than the tool. */
export function runOf(
  schedule: Schedule,
  fireTime: number,
  now: number,
  { catalog, maxWaitMs }: RunTerms,
): NewCall {
  const { id, tenantId, call } = schedule;
  const { tool, request, ...who } = call;
  const snapshot = catalog.snapshot();
  const spec = snapshot.find(tool)?.function.spec;
  return {
    ...who,
    id: uuidv7(now),
    kind: 'scheduled',
    tenantId,
    door: 'schedule',
    tool,
    toolVersion: spec?.metadata.version ?? '',
    executor: spec?.toolType ?? '',
    // Of a tool that is not there nothing is known; its run will say so.
    readOnly: spec?.metadata.readOnly ?? false,
    idempotent: spec?.metadata.idempotent ?? false,
    registryVersion: snapshot.version,
    traceId: '',
    request,
    priority: spec?.priority ?? 'normal',
    maxWaitMs,
    schedule: { id, fireTime },
  };
}
