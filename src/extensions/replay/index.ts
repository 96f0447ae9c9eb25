// replay: answers from a recording, so that no executor runs. Everything that may refuse a call stands outside of it.
import { z } from 'zod';
import type { JsonObject } from '../../contract/json.ts';
import { metaOf } from '../../contract/call/make-response.ts';
import type { ExtensionPlugin, ToolExtension } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import { parseOwn } from '../../lib/large-json/parse-json.ts';
import { sensitiveHider } from '../../lib/secrets/sensitive-values.ts';
import type { Counter, Metrics } from '../../ports/telemetry/metrics.ts';
import type { NearestCall, RecordedCall, ReplaySource, ReplayAnswer } from '../../ports/recordings.ts';
import { RECORDS_SERIES } from '../../ports/telemetry/series/records.ts';

interface Needs {
  /** Undefined: this gateway calls its tools. */
  readonly replaySource: ReplaySource | undefined;
  readonly metrics: Metrics;
}

export const replay: ExtensionPlugin<object, Needs> = {
  name: 'replay',
  summary: 'Answers from a recording instead of running the tool, in a gateway that was started to do so.',
  optionsSchema: z.strictObject({}),
  create: ({ replaySource, metrics }) =>
    replaySource === undefined ? NOTHING_TO_REPLAY : createReplay(replaySource, metrics),
};

const NOTHING_TO_REPLAY: ToolExtension<object> = {
  stage: 'tool',
  onFailure: 'deny',
  prepare: () => undefined,
};

function createReplay(source: ReplaySource, metrics: Metrics): ToolExtension<object> {
  const counters = countersOf(metrics);
  return {
    stage: 'tool',
    onFailure: 'deny',
    prepare(fn) {
      const hide = sensitiveHider(fn.inputSchema);
      return async function answerFromRecording(call, next) {
        // A dry run runs nothing anyway.
        if (call.context.dryRun === true) return next(call);
        const tool = call.progress.insteadOf ?? fn.name;
        const { value } = await hide(call.arguments, (text) => source.seal(text));
        const found = source.ask({
          tool,
          arguments: value,
          definitionHash: fn.spec.contentHash,
          ...(call.context.cursor !== undefined && { cursor: call.context.cursor }),
        });
        note(call, found);
        if (found.found) {
          counters.answered.add();
          return recordedAnswer(call, found.call);
        }
        if (source.rules.onMiss === 'refuse') {
          counters.refused.add();
          const isOwn = source.tenantId !== undefined && source.tenantId === call.context.tenantId;
          throw notRecorded(tool, isOwn ? found : withoutNearest(found));
        }
        counters.called.add();
        return next(call);
      };
    },
  };
}

function countersOf(metrics: Metrics): { readonly [Outcome in 'answered' | 'called' | 'refused']: Counter } {
  const counted = metrics.counter(RECORDS_SERIES.ute_replayed_calls_total);
  return {
    answered: counted.with('answered'),
    called: counted.with('called'),
    refused: counted.with('refused'),
  };
}

/** The envelope and the audit record say where the answer is from. */
function note({ progress }: ToolCall, { found, definitionChanged }: ReplayAnswer): void {
  progress.recorded = found;
  progress.notes = { ...progress.notes, recorded: found };
  if (definitionChanged) progress.degraded.push('definition_changed');
}

async function recordedAnswer(call: ToolCall, { outcome }: RecordedCall): Promise<ToolResponse> {
  const { rateLimits } = call.progress;
  if (!outcome.ok) return { ok: false, error: outcome.error, meta: metaOf(call), rateLimits };
  const { dataJson, intents, truncated } = outcome;
  const meta = { ...metaOf(call), ...(truncated !== undefined && { truncated }) };
  return { ok: true, data: await parseOwn(dataJson), dataJson, intents, meta, rateLimits };
}

type Missed = ReplayAnswer & { readonly found: false };

/** Of a recording that is not the caller's tenant's alone: what others said is not for this caller. */
function withoutNearest({ found, recordedTimes, recordedOfTool, definitionChanged }: Missed): Missed {
  return { found, recordedTimes, recordedOfTool, definitionChanged };
}

function notRecorded(tool: string, answer: Missed): ToolFailure {
  const { recordedTimes, recordedOfTool, definitionChanged, nearest } = answer;
  const details: JsonObject = {
    tool,
    recorded_times: recordedTimes,
    recorded_of_tool: recordedOfTool,
    ...(definitionChanged && { definition_changed: true }),
    ...(nearest !== undefined && { nearest: wireNearest(nearest) }),
  };
  return toolFailure('NOT_RECORDED', whyNot(answer), { details });
}

function whyNot({ recordedTimes, recordedOfTool, definitionChanged, nearest }: Missed): string {
  if (recordedTimes > 0 && definitionChanged)
    return 'This call was recorded with another definition of the tool, and such answers are not given here.';
  if (recordedTimes > 0)
    return `This call was recorded ${recordedTimes === 1 ? 'once' : `${recordedTimes} times`}, and every answer was given already.`;
  if (recordedOfTool === 0) return 'This gateway replays a recording, and no call of this tool is in it.';
  const where =
    nearest === undefined ? '' : ` The nearest is call ${nearest.order}: ${differenceOf(nearest)}.`;
  return `This gateway replays a recording, and no call of this tool with these arguments is in it.${where}`;
}

function differenceOf({ changes, more }: NearestCall): string {
  const said = changes.map(({ pointer, recorded, asked }) => {
    if (recorded === undefined) return `${pointer} was not there`;
    return asked === undefined ? `${pointer} was ${recorded}` : `${pointer} was ${recorded}, not ${asked}`;
  });
  return more > 0 ? `${said.join('; ')}; and ${more} more` : said.join('; ');
}

function wireNearest({ order, changes, more }: NearestCall): JsonObject {
  const wire = changes.map(({ pointer, recorded, asked }) => ({
    pointer,
    ...(recorded !== undefined && { recorded }),
    ...(asked !== undefined && { asked }),
  }));
  return { order, changes: wire, more };
}
