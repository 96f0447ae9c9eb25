// Makes the envelope's parts that core and extensions share: the meta as it stands now, and an answer that is known already.
import type { JsonValue } from '../json.ts';
import type { ToolCall } from './tool-call.ts';
import type { ResponseMeta, ToolSuccess } from './tool-response.ts';

export function metaOf(call: ToolCall): ResponseMeta {
  const { progress, function: fn } = call;
  return {
    callId: call.id,
    tool: fn?.name ?? '',
    toolVersion: fn?.spec.metadata.version ?? '',
    executor: fn?.spec.toolType ?? '',
    durationMs: Math.round((performance.now() - call.startedAt) * 1000) / 1000,
    attempts: progress.attempts,
    cached: progress.cached,
    replayed: progress.replayed,
    fallback: progress.fallback,
    degraded: progress.degraded,
    registryVersion: call.snapshot.version,
    traceId: progress.traceId,
    ...(call.context.dryRun === true && DRY_RUN),
    ...(progress.recorded !== undefined && { recorded: progress.recorded }),
    ...(progress.untrusted === true && UNTRUSTED),
    ...(progress.versionSource !== undefined && { versionSource: progress.versionSource }),
    ...(progress.successor !== undefined && { successor: progress.successor }),
    ...(call.request.providerCallId !== undefined && { providerCallId: call.request.providerCallId }),
  };
}

const UNTRUSTED = { untrusted: true } as const;
const DRY_RUN = { dryRun: true } as const;

/** An answer that no executor gave for this call. `dataJson` is the JSON text of `data`. It asks for no intents. */
export function cachedResponse(call: ToolCall, data: JsonValue, dataJson: string): ToolSuccess {
  return {
    ok: true,
    data,
    dataJson,
    intents: [],
    meta: metaOf(call),
    rateLimits: call.progress.rateLimits,
  };
}
