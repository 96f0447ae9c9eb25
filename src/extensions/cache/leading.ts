// Leading: the one of equal calls that asks the store, and runs the tool where the store has nothing.
import { callLogFields } from '../../contract/call/call-log-fields.ts';
import type { ErrorType } from '../../contract/call/error-types.ts';
import { cachedResponse } from '../../contract/call/make-response.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolRefusal, ToolResponse, ToolSuccess } from '../../contract/call/tool-response.ts';
import type { Next } from '../../contract/plugin.ts';
import type { SchemaCheck } from '../../lib/json-schema/foreign/schema-check.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ResultCache } from '../../ports/result-cache.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Counts } from './counts.ts';
import { entryOf, type KnownData } from './entry.ts';
import { findAnswer, type Found } from './find-answer.ts';
import type { CacheOptions } from './options.ts';
import type { Outcome } from './single-flight.ts';

export function given(call: ToolCall, { data, dataJson }: KnownData, count: { add(): void }): ToolSuccess {
  count.add();
  call.progress.cached = true;
  return cachedResponse(call, data, dataJson);
}

export interface Lead {
  readonly call: ToolCall;
  readonly next: Next;
  readonly key: string;
  /** The key is of this caller alone. */
  readonly isCallers: boolean;
  readonly options: CacheOptions;
  readonly counts: Counts;
  /** Undefined: the tool declares no output schema. */
  readonly output: SchemaCheck | undefined;
}

interface Led {
  readonly response: ToolResponse;
  readonly outcome: Outcome;
}

/** Failures that an older answer may stand in for. */
const UNWELL: ReadonlySet<ErrorType> = new Set(['TIMEOUT', 'TRANSIENT', 'UNAVAILABLE']);

export interface LeadingNeeds {
  readonly resultCache: ResultCache;
  readonly clock: Clock;
  readonly log: Log;
}

export class Leading {
  readonly #store: ResultCache;
  readonly #clock: Clock;
  readonly #log: Log;

  constructor({ resultCache, clock, log }: LeadingNeeds) {
    this.#store = resultCache;
    this.#clock = clock;
    this.#log = log;
  }

  async run(lead: Lead): Promise<Led> {
    const { call, next, counts } = lead;
    const found = await this.#find(lead);
    if (found?.kind === 'fresh') {
      const { known, waited } = found;
      return answered(given(call, known, waited ? counts.shared : counts.hit), known.dataJson);
    }
    const response = await next(call);
    if (response.ok) return await this.#answer(lead, response, found);
    if (found?.leads === true) this.#inBackground(lead, this.#store.release(lead.key, call.id));
    if (found?.stale !== undefined && mayStandIn(response)) {
      call.progress.degraded.push('stale');
      call.progress.notes = { ...call.progress.notes, stale_for: response.error.type };
      return answered(given(call, found.stale, counts.stale), found.stale.dataJson);
    }
    return { response, outcome: { kind: call.signal.aborted ? 'gave_up' : 'failed' } };
  }

  /** Undefined: the store is in trouble, and the call goes on without it. */
  async #find({ call, key, options, counts }: Lead): Promise<(Found & object) | undefined> {
    try {
      const found = await findAnswer({ store: this.#store, clock: this.#clock }, key, call, options);
      if (found.kind === 'none') counts.miss.add();
      return found;
    } catch (error) {
      this.inTrouble(call, counts, error);
      return undefined;
    }
  }

  /** The store could not be asked: the call goes on without it. */
  inTrouble(call: ToolCall, counts: Counts, error: unknown): void {
    counts.error.add();
    call.progress.degraded.push('cache');
    this.#log.debug({ ...callLogFields(call), err: error }, 'the cache could not be asked');
  }

  async #answer(
    lead: Lead,
    response: ToolSuccess,
    found: (Found & { kind: 'none' }) | undefined,
  ): Promise<Led> {
    const { call, key, isCallers, options, output } = lead;
    const { dataJson } = response;
    const isForKey = isCallers || call.progress.calledOthers !== true;
    const shared = isForKey && isForAll(response) && (await fitsOutput(output, response, call.signal));
    const kept = shared && Buffer.byteLength(dataJson) <= options.max_result_bytes;
    if (found !== undefined && kept) {
      const lifeMs = (options.ttl_ms ?? 0) + options.stale_if_error_ms;
      const keeping = this.#store.keep(key, entryOf(dataJson), { token: call.id, lifeMs });
      this.#inBackground(lead, keeping);
    } else if (found?.leads === true) this.#inBackground(lead, this.#store.release(key, call.id));
    return shared ? answered(response, dataJson) : { response, outcome: { kind: 'unshared' } };
  }

  /** The answer is there already: nobody waits for it to be kept. */
  #inBackground({ call, counts }: Lead, work: Promise<void>): void {
    work.catch((error: unknown) => {
      counts.error.add();
      this.#log.debug({ ...callLogFields(call), err: error }, 'an answer could not be kept in the cache');
    });
  }
}

/** Validation stands outside of the cache: what it is going to refuse must not be given again. */
function fitsOutput(
  output: SchemaCheck | undefined,
  { data, dataJson }: ToolSuccess,
  signal: AbortSignal,
): boolean | Promise<boolean> {
  if (output === undefined) return true;
  const { here, inThread } = output;
  // What takes long to check is not kept: validation checks it in a thread.
  if (here !== undefined)
    return here.validateHere(here.changesValue ? structuredClone(data) : data)?.length === 0;
  return inThread.validate(dataJson, signal).then(
    ({ violations }) => violations.length === 0,
    () => false,
  );
}

function answered(response: ToolResponse, dataJson: string): Led {
  return { response, outcome: { kind: 'answer', dataJson } };
}

/** An intent is asked for once, by the call that caused it; a cut list has a cursor of its own; neither is given again. */
function isForAll({ intents, meta }: ToolSuccess): boolean {
  return intents.length === 0 && meta.truncated === undefined && !meta.fallback;
}

function mayStandIn({ error }: ToolRefusal): boolean {
  return UNWELL.has(error.type) && !error.partialSideEffects;
}
