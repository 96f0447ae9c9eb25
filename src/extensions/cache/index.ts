// cache: a read-only tool's answer is given again for a time; of equal calls that run at once, only one runs the tool.
import { callLogFields } from '../../contract/call/call-log-fields.ts';
import type { ExtensionPlugin, Layer, Next, ToolExtension } from '../../contract/plugin.ts';
import { cachedResponse } from '../../contract/call/make-response.ts';
import type { ErrorType } from '../../contract/call/error-types.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolRefusal, ToolResponse, ToolSuccess } from '../../contract/call/tool-response.ts';
import { ForeignSchemas } from '../../lib/json-schema/foreign/foreign-schemas.ts';
import { schemaCheck, type SchemaCheck } from '../../lib/json-schema/foreign/schema-check.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import type { ResultCache } from '../../ports/result-cache.ts';
import { cacheKeyOf } from './cache-key.ts';
import { countersOf, type Counts } from './counts.ts';
import { entryOf, readData, type KnownData } from './entry.ts';
import { findAnswer, mayWait, type Found } from './find-answer.ts';
import { Generations } from './generations.ts';
import { SingleFlight, type Outcome } from './single-flight.ts';
import { cacheOptionsSchema, faultsOfCache, isCached, type CacheOptions } from './options.ts';

interface Needs {
  readonly resultCache: ResultCache;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export const cache: ExtensionPlugin<CacheOptions, Needs> = {
  name: 'cache',
  summary:
    'Gives the answer of a read-only tool again for a time, and runs equal calls that come at once as one.',
  optionsSchema: cacheOptionsSchema,
  check: faultsOfCache,
  create: (needs) => createCache(needs),
};

function createCache(needs: Needs): ToolExtension<CacheOptions> {
  const threads = new ForeignSchemas((ms, task) => needs.clock.after(ms, task));
  const singleFlight = new SingleFlight();
  const leading = new Leading(needs);
  const generations = new Generations(needs);
  const countsOf = countersOf(needs.metrics);
  return {
    stage: 'tool',
    onFailure: 'continue',
    prepare(fn, options) {
      const { drops, group } = options;
      if (drops !== undefined && fn.spec.extensions['cache'] !== undefined)
        return dropping(generations, drops);
      if (!isCached(fn, options)) return undefined;
      const counts = countsOf(fn.name);
      const output = fn.outputSchema === undefined ? undefined : schemaCheck(threads, fn.outputSchema);
      /** Undefined: the store is in trouble. */
      const generationOf = (call: ToolCall): string | Promise<string | undefined> =>
        group === undefined
          ? ''
          : generations.current(call, group, options.scope).catch((error: unknown) => {
              leading.inTrouble(call, counts, error);
              return undefined;
            });
      return async function giveAgain(call, next) {
        const generation = isPlain(call) ? await generationOf(call) : undefined;
        const key = generation === undefined ? undefined : cacheKeyOf(call, fn, options, generation);
        const role = key === undefined ? ALONE : await singleFlight.enter(key, call.signal, mayWait(call));
        if (role.kind === 'answer') {
          const known = readData(role.dataJson);
          if (known !== undefined) return given(call, known, counts.shared);
        }
        if (key === undefined || role.kind !== 'lead') {
          counts.bypass.add();
          return next(call);
        }
        let outcome: Outcome = { kind: 'failed' };
        try {
          const led = await leading.run({ call, next, key, options, counts, output });
          outcome = led.outcome;
          return led.response;
        } finally {
          singleFlight.settle(key, outcome);
        }
      };
    },
    close: () => threads.close(),
  };
}

function dropping(generations: Generations, groups: readonly string[]): Layer {
  return async function dropAnswers(call, next) {
    const response = await next(call);
    await generations.dropAfter(call, response, groups);
    return response;
  };
}

const ALONE = { kind: 'alone' } as const;

/** A dry run, a part of a list, and a call that was approved or has to be are each for the one who asks. */
function isPlain({ context, progress }: ToolCall): boolean {
  if (progress.needsApproval === true) return false;
  return context.dryRun !== true && context.cursor === undefined && context.confirmationToken === undefined;
}

function given(call: ToolCall, { data, dataJson }: KnownData, count: { add(): void }): ToolSuccess {
  count.add();
  call.progress.cached = true;
  return cachedResponse(call, data, dataJson);
}

interface Lead {
  readonly call: ToolCall;
  readonly next: Next;
  readonly key: string;
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

/** The one of equal calls that asks the store, and runs the tool where the store has nothing. */
class Leading {
  readonly #store: ResultCache;
  readonly #clock: Clock;
  readonly #log: Log;

  constructor({ resultCache, clock, log }: Needs) {
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
    const { call, key, options, output } = lead;
    const { dataJson } = response;
    const shared = isForAll(response) && (await fitsOutput(output, response, call.signal));
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
