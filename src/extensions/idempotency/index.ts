// idempotency: a call with a key runs once; whoever sends the same key again gets the same outcome.
import { z } from 'zod';
import { approvedPayload } from '../../contract/call/approval/approved-payload.ts';
import type { ExtensionPlugin, Next, ToolExtension } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import { callerHash } from '../../lib/callers/caller-hash.ts';
import { canonicalHash } from '../../lib/json/canonical-json.ts';
import type { Clock } from '../../ports/clock.ts';
import type { IdempotencyStore, KeyClaim, KeyScope, KeyState } from '../../ports/idempotency-store.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Counter, Metrics } from '../../ports/telemetry/metrics.ts';
import { inFlight, malformed, missing, otherPayload, replay, unknownOutcome } from './answers.ts';
import { LEASE_MS } from './held-keys.ts';
import { KeyedRuns } from './keyed-runs.ts';
import { stateAfterWaiting } from './wait-for-end.ts';
import { whole } from '../../lib/settings/whole.ts';
import { CALLS_SERIES } from '../../ports/telemetry/series/calls.ts';

const KEY = /^[\x21-\x7e]{1,255}$/;
const EVENTS = ['begun', 'rerun', 'replayed', 'in_flight', 'other_payload', 'unknown'] as const;

const optionsSchema = z.strictObject({
  required: z.boolean().default(false).describe('Refuses calls of this tool that come without a key.'),
  keep_ms: whole(60_000, 30 * 86_400_000)
    .default(86_400_000)
    .describe('How long a key and its outcome are kept.'),
});
type IdempotencyOptions = z.infer<typeof optionsSchema>;
interface Needs {
  readonly idempotency: IdempotencyStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export const idempotency: ExtensionPlugin<IdempotencyOptions, Needs> = {
  name: 'idempotency',
  summary: 'Runs a call with an idempotency key once, and gives its outcome to whoever repeats the key.',
  optionsSchema,
  create: (needs) => createIdempotency(needs),
};

type Event = (typeof EVENTS)[number];

function createIdempotency({
  idempotency: store,
  clock,
  log,
  metrics,
}: Needs): ToolExtension<IdempotencyOptions> {
  const counted = metrics.counter(CALLS_SERIES.ute_idempotency_total);
  const counters = new Map<Event, Counter>(EVENTS.map((event) => [event, counted.with(event)]));
  const runs = new KeyedRuns(store, clock, log);
  async function keyed(call: ToolCall, next: Next, scope: KeyScope, claim: KeyClaim): Promise<ToolResponse> {
    const state = await stateAfterWaiting(call, clock, () => runs.begin(scope, claim));
    counters.get(eventOf(state))?.add();
    if (state.state === 'mine') return runs.run(call, next, { ...scope, callId: call.id });
    return answerTo(state, call);
  }
  return {
    stage: 'tool',
    onFailure: 'deny',
    phases: ['admit'],
    prepare(fn, { required, keep_ms: keepMs }) {
      const { idempotent, readOnly } = fn.spec.metadata;
      const mayRunAgain = idempotent || readOnly;
      return function runOnce(call, next) {
        const { idempotencyKey: key, dryRun } = call.context;
        if (dryRun === true) return next(call);
        if (key === undefined) {
          if (required && call.request.parent === undefined) throw missing();
          return next(call);
        }
        if (!KEY.test(key)) throw malformed();
        return keyed(call, next, scopeOf(call, fn, key), claimOf(call, mayRunAgain, keepMs));
      };
    },
    async close() {
      runs.close();
    },
  };
}

/** What somebody else has, had or left behind. */
function answerTo(state: Exclude<KeyState, { state: 'mine' }>, call: ToolCall): Promise<ToolResponse> {
  if (state.state === 'ended') return replay(call, state.outcome);
  if (state.state === 'in_flight') throw inFlight(state.callId);
  throw state.state === 'unknown' ? unknownOutcome(state.callId) : otherPayload();
}

function eventOf(state: KeyState): Event {
  if (state.state === 'mine') return state.attempt > 1 ? 'rerun' : 'begun';
  return state.state === 'ended' ? 'replayed' : state.state;
}

function claimOf(call: ToolCall, mayRunAgain: boolean, keepMs: number): KeyClaim {
  return {
    callId: call.id,
    fingerprint: canonicalHash(approvedPayload(call)),
    mayRunAgain,
    leaseMs: LEASE_MS,
    keepMs,
  };
}

function scopeOf(call: ToolCall, fn: ToolFunction, key: string): KeyScope {
  const tenantId = call.context.tenantId ?? '';
  return {
    tenantId,
    principalId: call.principal?.id ?? '',
    tool: call.progress.insteadOf ?? fn.name,
    key,
    callerHash: callerHash(call.context),
  };
}
