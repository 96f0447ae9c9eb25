// What an audit record says of a call: who, what, with which arguments (as a hash), and how it ended.
import type { Intent } from '../../contract/call/intent.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import { canonicalHash } from '../../lib/json/canonical-json.ts';
import { leftAfter } from '../../lib/large-json/write-json.ts';
import { uuidv7 } from '../../lib/ids.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AuditRecord } from '../../ports/audit-sink.ts';

const MAX_NAME = 200;
/** Characters, and as how many of them a value counts. */
const QUICK = 2_048;
const VALUE = 32;

/** Just before the executor: what is going to run. */
export function intentOf(call: ToolCall, clock: Clock): AuditRecord {
  const { context, function: fn, principal } = call;
  const metadata = fn?.spec.metadata;
  return {
    ...whatWasAsked(call, clock, context, principal?.id),
    eventId: uuidv7(clock.wall()),
    kind: 'intent',
    callKind: call.phase.kind === 'run' ? 'sync' : '',
    readOnly: metadata?.readOnly ?? true,
    idempotent: metadata?.idempotent ?? true,
    intended: false,
    tool: fn?.name ?? '',
    toolVersion: metadata?.version ?? '',
    executor: fn?.spec.toolType ?? '',
    outcome: '',
    reason: '',
    attempts: 0,
    durationMs: 0,
    remainingMs: Math.max(0, call.deadline - clock.now()),
    partialSideEffects: false,
    registryVersion: call.snapshot.version,
    traceId: call.progress.traceId,
    // Whoever dies with the slot leaves no outcome: who held it stands here.
    notes: notesOf(call, NO_INTENTS, call.progress.fencingToken),
  };
}

/** `fn` as far as it was resolved. */
export function outcomeOf(
  call: ToolCall,
  fn: ToolFunction | undefined,
  response: ToolResponse,
  clock: Clock,
): AuditRecord {
  const { meta } = response;
  const { caller, isIntended = false } = call.progress;
  const error = response.ok ? undefined : response.error;
  const accepted = response.ok && call.phase.kind === 'admit';
  const effects = meta.tool === '' ? undefined : fn?.spec.metadata;
  return {
    ...whatWasAsked(call, clock, caller?.context ?? NOBODY, caller?.principal.id),
    eventId: uuidv7(clock.wall()),
    kind: accepted ? 'accepted' : 'outcome',
    callKind: rowOf(call, accepted),
    readOnly: effects?.readOnly ?? true,
    idempotent: effects?.idempotent ?? true,
    intended: isIntended,
    tool: meta.tool,
    toolVersion: meta.toolVersion,
    executor: meta.executor,
    outcome: error?.type ?? 'ok',
    reason: error?.reason ?? '',
    attempts: meta.attempts,
    durationMs: meta.durationMs,
    remainingMs: 0,
    partialSideEffects: error?.partialSideEffects ?? false,
    registryVersion: meta.registryVersion,
    traceId: traceOf(call, response),
    notes: notesOf(call, response.ok ? response.intents : NO_INTENTS),
  };
}

/**
 * Empty where it leads nowhere: the trace began here, nobody keeps it, and nothing in it failed, which would be kept after all, neither
 * the call nor one that it made or that comes later. It would be a tenth of the record. The log line has it all the same.
 */
function traceOf({ progress, request, phase }: ToolCall, { ok, meta }: ToolResponse): string {
  const mayFailYet = phase.kind !== 'run' || progress.calledOthers === true;
  const isNamed = request.context.traceparent !== undefined;
  const leadsNowhere = progress.traceKept === false && ok && !mayFailYet && !isNamed;
  return leadsNowhere ? '' : meta.traceId;
}

/** A call that was accepted for later has a row already, made and ended by those who run it. */
function rowOf({ phase }: ToolCall, accepted: boolean): AuditRecord['callKind'] {
  if (accepted || phase.kind === 'resume') return '';
  return phase.kind === 'run' ? 'sync' : 'async';
}

const NOBODY: ToolCall['context'] = Object.freeze({});

/** Spread first, and nothing after it: only so does V8 copy it at once. */
function whatWasAsked(call: ToolCall, clock: Clock, context: ToolCall['context'], principal = '') {
  return {
    at: isoOf(clock.wall(call.receivedAt)),
    callId: call.id,
    door: call.request.door,
    principal,
    tenant: context.tenantId ?? '',
    agent: context.agentId ?? '',
    user: context.userId ?? '',
    session: context.sessionId ?? '',
    requestedTool: (call.request.through?.tool ?? call.request.tool).slice(0, MAX_NAME),
    argumentsHash: hashOf(call),
  };
}

const NO_INTENTS: readonly Intent[] = [];
const MOST_INTENTS = 16;
const LONGEST_INTENT = 64;

function notesOf(
  { context, progress, request }: ToolCall,
  intents = NO_INTENTS,
  fencingToken?: string,
): AuditRecord['notes'] {
  const { parent, through } = request;
  const hasNothing =
    progress.notes === undefined && parent === undefined && through === undefined && intents.length === 0;
  if (hasNothing && fencingToken === undefined && context.dryRun !== true) return undefined;
  return {
    ...progress.notes,
    ...(fencingToken !== undefined && { fencing_token: fencingToken }),
    ...(context.dryRun === true && { dry_run: true }),
    ...(parent !== undefined && { parent_call_id: parent.callId }),
    ...(through !== undefined && { toolset: through.toolsetName.slice(0, MAX_NAME) }),
    ...(intents.length > 0 && { intents: namesOf(intents) }),
  };
}

/** A tool may ask for anything. */
function namesOf(intents: readonly Intent[]): string[] {
  return intents.slice(0, MOST_INTENTS).map(({ type }) => type.slice(0, LONGEST_INTENT));
}

let lastMs = Number.NaN;
let lastIso = '';

/** Many calls share a millisecond. */
function isoOf(ms: number): string {
  if (ms !== lastMs) {
    lastMs = ms;
    lastIso = new Date(ms).toISOString();
  }
  return lastIso;
}

/** Whether the arguments' hash takes some 60 µs at most: 64 values in one another are the slowest. */
export function hashesQuickly({ arguments: args }: ToolCall['request']): boolean {
  return leftAfter(args, QUICK, VALUE) >= 0;
}

/** Of the arguments as they were sent. Empty where they could not be read at all. */
function hashOf(call: ToolCall): string {
  return call.request.refusal === undefined ? canonicalHash(call.request.arguments) : '';
}
