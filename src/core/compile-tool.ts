// Compiles a tool at load: its extensions bound to their options, its executor at the heart, one function to call.
import type { Next, PreparedFunction } from '../contract/plugin.ts';
import type { ToolFunction } from '../contract/tool-function.ts';
import type { Log } from '../ports/log.ts';
import type { Gauge } from '../ports/metrics.ts';
import { buildPipeline, type Layer } from './build-pipeline.ts';
import { runAttempts, type AttemptDeps } from './resilience/run-attempts.ts';
import { refusalOf, successOf } from './settle.ts';

export interface CompileDeps {
  readonly attempts: AttemptDeps;
  readonly inflight: Gauge;
  readonly log: Log;
  readonly maxResultBytes: number;
}

/** The chain of one function: what UnifiedToolExecutor runs once the tool is known. Never throws. */
export function compileTool(
  fn: ToolFunction,
  prepared: PreparedFunction,
  layers: readonly Layer[],
  deps: CompileDeps,
): Next {
  const { attempts, inflight, log, maxResultBytes } = deps;
  const plain = prepared.yieldsPlainJson ?? false;
  const runExecutor: Next = async (call) => {
    inflight.add(1);
    try {
      const result = await runAttempts(call, fn, prepared, attempts);
      return successOf(call, result, maxResultBytes, plain);
    } catch (error) {
      return refusalOf(call, error);
    } finally {
      inflight.add(-1);
    }
  };
  const applying = layers.filter(({ extension, options }) => extension.appliesTo?.(fn, options) ?? true);
  return buildPipeline(applying, runExecutor, log);
}
