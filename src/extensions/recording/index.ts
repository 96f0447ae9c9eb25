// recording: keeps calls with their outcomes for operators who asked for it. It stands outside of all that gives answers again.
import type { Reason } from '../../contract/call/reasons/reasons.ts';
import { isReason } from '../../contract/call/reasons/is-reason.ts';
import { z } from 'zod';
import { callLogFields } from '../../contract/call/call-log-fields.ts';
import type { ExtensionPlugin, Next, ToolExtension } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolError, ToolResponse } from '../../contract/call/tool-response.ts';
import { canonicalHash } from '../../lib/json/canonical-json.ts';
import { callScrubber } from '../../lib/secrets/scrub-secrets.ts';
import { sensitiveHider, type HideSensitive } from '../../lib/secrets/sensitive-values.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { RecordedCall, RecordedOutcome, Recordings, Take } from '../../ports/recordings.ts';

interface Needs {
  readonly recordings: Recordings;
  readonly clock: Clock;
  readonly log: Log;
}

export const recording: ExtensionPlugin<object, Needs> = {
  name: 'recording',
  summary:
    'Keeps calls and their outcomes in a file while an operator wants them recorded, without their secrets.',
  optionsSchema: z.strictObject({}),
  create: (needs) => createRecording(needs),
};

function createRecording({ recordings, clock, log }: Needs): ToolExtension<object> {
  return {
    stage: 'tool',
    // Nobody's call fails because it could not be written down.
    onFailure: 'continue',
    prepare(fn) {
      if (!recordings.enabled) return undefined;
      const hide = sensitiveHider(fn.inputSchema);
      async function taken(take: Take, call: ToolCall, next: Next): Promise<ToolResponse> {
        const response = await next(call);
        try {
          const at = new Date(clock.wall(call.receivedAt)).toISOString();
          await record(take, { call, fn, at }, response, hide, (text) => recordings.seal(text));
        } catch (error) {
          take.drop();
          log.warn(
            { ...callLogFields(call), err: error },
            'a call could not be written to a recording: the recording misses it',
          );
        }
        return response;
      }
      return function recordCall(call, next) {
        const take = recordings.idle ? undefined : wanted(recordings, call, fn);
        return take === undefined ? next(call) : taken(take, call, next);
      };
    },
  };
}

/** A dry run has no outcome. */
function wanted(recordings: Recordings, call: ToolCall, fn: ToolFunction): Take | undefined {
  const { id, context, request } = call;
  if (context.dryRun === true) return undefined;
  return recordings.begin({
    callId: id,
    ...(request.parent !== undefined && { parentId: request.parent.callId }),
    tool: nameOf(call, fn),
    tenantId: context.tenantId ?? '',
    sessionId: context.sessionId ?? '',
  });
}

/** Whichever version ran, the tool is the one that callers know. */
function nameOf({ progress }: ToolCall, fn: ToolFunction): string {
  return progress.insteadOf ?? fn.name;
}

async function record(
  take: Take,
  { call, fn, at }: { readonly call: ToolCall; readonly fn: ToolFunction; readonly at: string },
  response: ToolResponse,
  hide: HideSensitive,
  seal: (text: string) => string,
): Promise<void> {
  if (!isOutcome(response)) {
    take.drop();
    return;
  }
  const { value, secrets } = await hide(call.arguments, seal);
  const recorded: Omit<RecordedCall, 'order'> = {
    at,
    tool: nameOf(call, fn),
    toolVersion: fn.spec.metadata.version,
    definitionHash: fn.spec.contentHash,
    arguments: value,
    argumentsHash: canonicalHash(value),
    ...(call.context.cursor !== undefined && { cursor: call.context.cursor }),
    durationMs: response.meta.durationMs,
    outcome: await outcomeOf(response, [...secrets, ...textsOf(call.sensitiveConfig)]),
  };
  take.keep(recorded);
}

/**
 * Not what a caller made of it by going away, nor the gateway by shutting down, and not an approval: that is asked for
 * anew in a replay.
 */
function isOutcome(response: ToolResponse): boolean {
  if (response.ok) return response.meta.acceptedAt === undefined;
  const { error } = response;
  return error.type !== 'CANCELLED' && !isReason(error, 'DRAINING') && !isAboutApproval(error);
}

function isAboutApproval({ type, reason, origin }: ToolError): boolean {
  return origin !== 'tool' && (type === 'CONFIRMATION_REQUIRED' || Object.hasOwn(ABOUT_APPROVAL, reason));
}

const ABOUT_APPROVAL = {
  APPROVAL_CONFLICT: true,
  APPROVAL_EXPIRED: true,
  APPROVAL_MISMATCH: true,
  APPROVAL_NOT_FOUND: true,
  APPROVAL_PENDING: true,
  APPROVAL_REJECTED: true,
  APPROVAL_REQUIRED: true,
  APPROVAL_STALE: true,
  APPROVAL_UNKNOWN: true,
  APPROVAL_USED: true,
} satisfies Record<Extract<Reason, `APPROVAL_${string}`>, true>;

async function outcomeOf(response: ToolResponse, secrets: readonly string[]): Promise<RecordedOutcome> {
  const scrubber = await callScrubber(secrets);
  if (!response.ok) return { ok: false, error: await scrubber.jsonInSlices(response.error) };
  const { data, dataJson, intents, meta } = response;
  const clean = await scrubber.jsonInSlices(data);
  return {
    ok: true,
    dataJson: clean === data ? dataJson : JSON.stringify(clean),
    intents: await scrubber.jsonInSlices(intents),
    ...(meta.truncated !== undefined && { truncated: meta.truncated }),
  };
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
