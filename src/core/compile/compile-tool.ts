// Compiles a tool at load: the layers of its extensions, its executor at the heart, one chain for each phase of a call.
import type { LaterPhase, Next, PreparedFunction } from '../../contract/plugin.ts';
import type { AdmittedCall } from '../../contract/call/admitted-call.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import type { CompiledTool } from '../../contract/tool/compiled-tool.ts';
import { whatCallRuns, type ShownTo, type ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolResponse, ToolResult, ToolSuccess } from '../../contract/call/tool-response.ts';
import { isUnsafe } from '../../contract/tool/tool-spec.ts';
import { SENSITIVE_MARK, sealSensitive } from '../../lib/secrets/sensitive-values.ts';
import { inSlices } from '../../lib/concurrency/in-slices.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Gauge } from '../../ports/telemetry/metrics.ts';
import { configRulesOf } from '../agents/config-rules.ts';
import { withSecrets } from '../agents/with-secrets.ts';
import { buildPipeline, explaining, type NamedLayer } from '../pipeline/build-pipeline.ts';
import { raceCall, stampLeft } from '../deadline.ts';
import { admissionOf } from '../open-admission.ts';
import { runAttempts, type AttemptDeps } from '../resilience/run-attempts.ts';
import { cutToBudget, startOf, type WithinBudget } from './result-budget.ts';
import { acceptedOf, foreignSuccessOf, plainSuccessOf, refusalOf, shortened, successOf } from '../settle.ts';

export interface CompileDeps {
  readonly attempts: AttemptDeps;
  readonly inflight: Gauge;
  readonly log: Log;
  readonly maxResultBytes: number;
  readonly isShownTo?: ShownTo | undefined;
}

/** A layer of the tool stage. */
export interface ToolLayer extends NamedLayer {
  readonly phases: readonly LaterPhase[];
}

/** Once per function and content. What the chains give never rejects. */
export function compileTool(
  fn: ToolFunction,
  prepared: PreparedFunction,
  layers: readonly ToolLayer[],
  deps: CompileDeps,
): CompiledTool {
  const { log, isShownTo } = deps;
  const takesSecrets = (configRulesOf(fn.spec)?.secretFields.length ?? 0) > 0 || fn.spec.auth !== undefined;
  const execute = executorOf(fn, takesSecrets ? withSecrets(prepared) : prepared, deps);
  const ofPhase = (phase: LaterPhase) => layers.filter(({ phases }) => phases.includes(phase));
  const rest = buildPipeline(ofPhase('run'), execute, log);
  return {
    function: fn,
    run: buildPipeline(layers, execute, log),
    admit: buildPipeline(ofPhase('admit'), (call) => admit(call, fn), log),
    resume: (call) => resume(call, fn, rest),
    // Made when it is asked for: few ever are.
    explain: (call) => buildPipeline(explaining(layers), explained, log)(call),
    ...(isShownTo !== undefined && { isShownTo }),
  };
}

/** The innermost of a chain that explains: nobody has refused. */
async function explained(call: ToolCall): Promise<ToolResponse> {
  return successOf(call, { data: null }, Number.POSITIVE_INFINITY);
}

/** The innermost of a chain: the executor, with what stands between it and the envelope. */
function executorOf(fn: ToolFunction, prepared: PreparedFunction, deps: CompileDeps): Next {
  const { attempts, inflight, maxResultBytes } = deps;
  const settle = prepared.yieldsPlainJson === true ? plainSuccessOf : foreignSuccessOf;
  const { resultBudget } = fn.spec;
  return async function execute(call) {
    inflight.add(1);
    try {
      if (call.context.dryRun === true)
        return await foreignSuccessOf(call, await runDry(call, fn, prepared), maxResultBytes);
      if (resultBudget !== undefined || call.context.cursor !== undefined) startOf(fn, call);
      const announcing = announced(call);
      if (announcing !== undefined) await announcing;
      const result = await runAttempts(call, fn, prepared, attempts);
      const settled = settle(call, result, maxResultBytes);
      const whole = settled instanceof Promise ? await settled : settled;
      if (resultBudget === undefined) return whole;
      return cutSuccess(whole, await inSlices(cutToBudget(whole.data, resultBudget, fn, call)));
    } catch (error) {
      return refusalOf(call, error);
    } finally {
      inflight.add(-1);
      stampLeft(call, performance.now());
    }
  };
}

/** It has come as far as it can without running: the answer tells where it is kept. */
async function admit(call: ToolCall, fn: ToolFunction): Promise<ToolResponse> {
  try {
    return acceptedOf(call, await admissionOf(call).reached(call, fn));
  } catch (error) {
    return refusalOf(call, error);
  } finally {
    stampLeft(call, performance.now());
  }
}

/** It runs with the definition in force; what a human approved, or would have to, only with the one it was admitted with. */
async function resume(call: ToolCall, fn: ToolFunction, rest: Next): Promise<ToolResponse> {
  try {
    if (call.phase.kind !== 'resume') throw new Error('a call that was not admitted cannot be resumed');
    if (await isAsAgreed(call.phase.admitted, call, fn)) return rest(call);
  } catch (error) {
    return refusalOf(call, error);
  }
  const message =
    'The tool, or what it runs, was changed since this call was accepted, and it is not one to run without approval.';
  return refusalOf(call, toolFailure('TOOL_DEFINITION_CHANGED', message));
}

async function isAsAgreed(admitted: AdmittedCall, call: ToolCall, fn: ToolFunction): Promise<boolean> {
  const { toolHash, approved, runs } = admitted;
  if (runs !== undefined) return (await whatCallRuns(call, fn)) === runs;
  return toolHash === fn.spec.contentHash || (!approved && !isUnsafe(fn.spec.metadata));
}

function cutSuccess(whole: ToolSuccess, { data, truncated, dataJson }: WithinBudget): ToolSuccess {
  return truncated === undefined ? whole : shortened(whole, data, truncated, dataJson);
}

/** The last moment before the executor: what must be known of the call first is known, or it does not run. */
function announced(call: ToolCall): Promise<void> | undefined {
  const announcing = call.progress.beforeExecution?.(call);
  return announcing && raceCall(call, announcing);
}

/** What the call would do, from the executor that would do it. A mark stands for what the schema calls sensitive: answers are kept. */
async function runDry(call: ToolCall, fn: ToolFunction, prepared: PreparedFunction): Promise<ToolResult> {
  if (prepared.render === undefined) {
    const message = 'This kind of tool cannot say what it would do: it has no dry run.';
    throw toolFailure('NO_DRY_RUN', message, { details: { field: 'dry_run' } });
  }
  const masked = sealSensitive(fn.inputSchema, call.arguments, () => SENSITIVE_MARK).value;
  return { data: { dry_run: true, would: await prepared.render({ ...call, arguments: masked }) } };
}
