// cache: a read-only tool's answer is given again for a time; of equal calls that run at once, only one runs the tool.
import type { ExtensionPlugin, Layer, ToolExtension } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { ForeignSchemas } from '../../lib/json-schema/foreign/foreign-schemas.ts';
import { schemaCheck, type SchemaCheck } from '../../lib/json-schema/foreign/schema-check.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import type { ResultCache } from '../../ports/result-cache.ts';
import { cacheKeyOf } from './cache-key.ts';
import { countersOf, type Counts } from './counts.ts';
import { readData } from './entry.ts';
import { mayWait } from './find-answer.ts';
import { Generations } from './generations.ts';
import { given, Leading } from './leading.ts';
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
      const { drops } = options;
      if (drops !== undefined && fn.spec.extensions['cache'] !== undefined)
        return dropping(generations, drops);
      if (!isCached(fn, options)) return undefined;
      const counts = countsOf(fn.name);
      const output = fn.outputSchema === undefined ? undefined : schemaCheck(threads, fn.outputSchema);
      return givingAgain(fn, { options, counts, output, singleFlight, leading, generations });
    },
    close: () => threads.close(),
  };
}

interface CachedTool {
  readonly options: CacheOptions;
  readonly counts: Counts;
  readonly output: SchemaCheck | undefined;
  readonly singleFlight: SingleFlight;
  readonly leading: Leading;
  readonly generations: Generations;
}

function givingAgain(fn: ToolFunction, tool: CachedTool): Layer {
  const { options, counts, output, singleFlight, leading } = tool;
  /** Known once it has done so: the declaration of a handler does not say it. */
  let callsOthers = false;
  return async function giveAgain(call, next) {
    const generation = isPlain(call) ? await generationOf(call, tool) : undefined;
    const isCallers = callsOthers;
    const key =
      generation === undefined ? undefined : cacheKeyOf(call, fn, options, { generation, isCallers });
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
      const led = await leading.run({ call, next, key, isCallers, options, counts, output });
      callsOthers ||= call.progress.calledOthers === true;
      outcome = led.outcome;
      return led.response;
    } finally {
      singleFlight.settle(key, outcome);
    }
  };
}

/** Undefined: the store is in trouble. */
function generationOf(
  call: ToolCall,
  { options: { group, scope }, generations, leading, counts }: CachedTool,
): string | Promise<string | undefined> {
  if (group === undefined) return '';
  return generations.current(call, group, scope).catch((error: unknown) => {
    leading.inTrouble(call, counts, error);
    return undefined;
  });
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
