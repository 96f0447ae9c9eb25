// Canaries: a tool on trial stands in for another one, for a share of the callers that is the same everywhere and always.
import { hash } from 'node:crypto';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { CompiledTool } from '../../contract/tool/compiled-tool.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import type { Canary } from '../../contract/tool/tool-spec.ts';
import { mayCall } from '../../lib/callers/may-call.ts';
import type { Counter, Labelled, Metrics } from '../../ports/telemetry/metrics.ts';
import { toolsOf } from '../deadline.ts';
import { CALLS_SERIES } from '../../ports/telemetry/series/calls.ts';

export class Canaries {
  readonly #counted: Labelled<Counter>;
  /** Calls of tools that have one on trial: which of both they got. */
  readonly #chosen = new WeakMap<
    ToolCall['progress'],
    { readonly tool: string; readonly version: 'stable' | 'canary' }
  >();

  constructor(metrics: Metrics) {
    this.#counted = metrics.counter(CALLS_SERIES.ute_canary_calls_total);
  }

  /**
   * The tool to call instead, of the call's own set of tools. Undefined: the one that was asked for, as always where
   * the call names a version, the caller is not known by what the share goes by, or the tool on trial is switched off.
   */
  choose(
    call: ToolCall,
    { name, spec }: ToolFunction,
    isDisabled: (tool: string) => boolean,
  ): CompiledTool | undefined {
    const { canary } = spec;
    if (canary === undefined || call.context.toolVersion !== undefined) return undefined;
    const trial = toolsOf(call).find(canary.tool + name.slice(spec.name.length));
    const fits = trial !== undefined && mayCall(spec, trial.function.spec, [canary.tool]);
    const chosen = fits && !isDisabled(canary.tool) && isInShare(call, spec.name, canary);
    this.#chosen.set(call.progress, { tool: spec.name, version: chosen ? 'canary' : 'stable' });
    if (!chosen) return undefined;
    call.progress.insteadOf = name;
    call.progress.versionSource = 'canary';
    call.progress.notes = { ...call.progress.notes, canary_of: name };
    return trial;
  }

  count({ progress }: ToolCall, { ok }: ToolResponse): void {
    const chosen = this.#chosen.get(progress);
    if (chosen !== undefined) this.#counted.with(chosen.tool, chosen.version, ok ? 'ok' : 'error').add();
  }
}

/** A greater share holds all that were in the smaller one. */
function isInShare({ context }: ToolCall, tool: string, { percent, by }: Canary): boolean {
  const { tenantId = '', agentId } = context;
  const caller = by === 'tenant' ? tenantId : agentId;
  if (caller === undefined || caller === '') return false;
  // Agents of two tenants may have one name.
  const digest = hash(
    'sha256',
    JSON.stringify(by === 'tenant' ? [tool, tenantId] : [tool, tenantId, caller]),
  );
  return (Number.parseInt(digest.slice(0, 8), 16) / 2 ** 32) * 100 < percent;
}
