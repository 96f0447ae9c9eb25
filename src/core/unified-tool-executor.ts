// UnifiedToolExecutor: one call for every tool of every type. Request stage, resolve, tool stage, and always an envelope.
import type { Next } from '../contract/plugin.ts';
import { shuttingDown, toolFailure } from '../contract/call/failure.ts';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import type { Admission, AdmitRequest } from '../contract/call/admission.ts';
import type { AdmittedCall } from '../contract/call/admitted-call.ts';
import { NO_CREDENTIAL } from '../contract/call/principal.ts';
import type { Explanation, ExplainRequest } from '../contract/call/explanation.ts';
import type { Phase, ToolCall, ToolRequest } from '../contract/call/tool-call.ts';
import type { CompiledTool } from '../contract/tool/compiled-tool.ts';
import type { ToolFunction } from '../contract/tool/tool-function.ts';
import { servesMode, type Quarantine, type ToolMetadata } from '../contract/tool/tool-spec.ts';
import type { ToolResponse } from '../contract/call/tool-response.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/telemetry/log.ts';
import type { SessionGate } from '../ports/sessions/session-gate.ts';
import type { SnapshotSource } from '../ports/registry/snapshot-source.ts';
import type { ToolCaller } from '../ports/tool-caller.ts';
import type { Toolsets } from '../ports/registry/toolsets.ts';
import type { RunningCall, RunningCalls } from '../ports/calls/running-calls.ts';
import type { BorrowedVersion, ToolVersions } from '../ports/registry/tool-versions.ts';
import type { AgentTools } from './agents/agent-tools.ts';
import { buildPipeline, explaining, type NamedLayer } from './pipeline/build-pipeline.ts';
import { CallExplanation } from './call-explanation.ts';
import type { AssignedVersions } from './versions/assigned-versions.ts';
import type { Canaries } from './versions/canaries.ts';
import { Deadline, deadlineOf, raceCall, toolsOf } from './deadline.ts';
import { noSuchTool } from './no-such-tool.ts';
import { OpenAdmission } from './open-admission.ts';
import { openCall } from './open-call.ts';
import { OpenCalls } from './open-calls.ts';
import { runningCallOf } from './running-call.ts';
import { pinOf, takePinned } from './versions/pinned-call.ts';
import { noteVersion } from './versions/version-noted.ts';
import type { LoadShedder } from './resilience/load-shedder.ts';
import { refusalOf } from './settle.ts';
import { searchToolOf, throughToolset } from './toolsets/through-toolset.ts';

export interface ExecutorDeps {
  readonly snapshots: SnapshotSource;
  readonly requestLayers: readonly NamedLayer[];
  /** Left out: only versions in force can be called. */
  readonly versions?: ToolVersions;
  /** Left out: no session is declared. */
  readonly sessions?: SessionGate;
  /** Left out: nobody is assigned a version. */
  readonly assigned?: AssignedVersions;
  /** Left out: there are none. */
  readonly toolsets?: Toolsets;
  /** Left out: no tool is on trial. */
  readonly canaries?: Canaries;
  /** Left out: no agent has a configuration of its own. */
  readonly agentTools?: AgentTools;
  /** No call may ask for more time than this. */
  readonly maxTimeoutMs: number;
  readonly shedder: LoadShedder;
  readonly clock: Clock;
  readonly log: Log;
}

export class UnifiedToolExecutor implements ToolCaller, RunningCalls {
  readonly #deps: ExecutorDeps;
  readonly #requestStage: Next;
  readonly #explainStage: Next;
  readonly #running = new OpenCalls();
  #idle: (() => void) | undefined;
  #draining = false;

  constructor(deps: ExecutorDeps) {
    this.#deps = deps;
    const resolve = (call: ToolCall) => this.#resolve(call);
    this.#requestStage = buildPipeline(deps.requestLayers, resolve, deps.log);
    this.#explainStage = buildPipeline(explaining(deps.requestLayers), resolve, deps.log);
  }

  execute(request: ToolRequest): Promise<ToolResponse> {
    return this.#carry(request, RUN);
  }

  admit({ terms, awaitsApproval, ...request }: AdmitRequest): Promise<Admission> {
    const admission = new OpenAdmission({ terms, awaitsApproval });
    return admission.outcome(this.#carry(request, admission));
  }

  resume(
    admitted: AdmittedCall,
    watched: Pick<ToolRequest, 'emit' | 'signal' | 'refusal'> = {},
  ): Promise<ToolResponse> {
    const { tool, arguments: args, context, timeoutMs, providerCallId } = admitted;
    const asked = {
      tool,
      arguments: args,
      context,
      timeoutMs,
      ...(providerCallId !== undefined && { providerCallId }),
    };
    const request = { ...watched, ...asked, credential: NO_CREDENTIAL };
    return this.#carry({ ...request, door: 'queue' }, { kind: 'resume', admitted });
  }

  explain({ as, ...request }: ExplainRequest): Promise<Explanation> {
    const explanation = new CallExplanation(as);
    return explanation.outcome(this.#carry(request, explanation));
  }

  /** No async function, which is one more step to take up when a call's record is synced. A pipeline neither throws nor rejects. */
  #carry(asked: ToolRequest, phase: Phase): Promise<ToolResponse> {
    const { snapshots, toolsets, clock, maxTimeoutMs } = this.#deps;
    const request = throughToolset(asked, toolsets);
    const snapshot = snapshots.enter(request.parent?.snapshot);
    const deadline = new Deadline(clock, request);
    const call = openCall(request, phase, { tools: snapshot, deadline }, clock.now(), maxTimeoutMs);
    const slot = this.#running.enter(call);
    const answer = phase.kind === 'explain' ? this.#explainStage(call) : this.#requestStage(call);
    // The tool, and with it its own limit, is mostly known by now. If not, something waits before that.
    if (!deadline.isArmed) deadline.arm(call.deadline - clock.now(), call.deadline - call.receivedAt);
    return answer.then((response) => {
      deadline.clear();
      this.#running.leave(slot);
      snapshots.leave(snapshot);
      if (this.#running.size === 0) this.#idle?.();
      return response;
    });
  }

  get inFlight(): number {
    return this.#running.size;
  }

  running(): readonly RunningCall[] {
    return this.#running.list().map((call) => runningCallOf(call, this.#deps.clock));
  }

  /** From now on new calls are refused; those in flight go on. */
  drain(): void {
    this.#draining = true;
  }

  /** Resolves when no call runs. */
  async whenIdle(): Promise<void> {
    if (this.#running.size > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
  }

  /** The end of the drain: every call still running is given up with UNAVAILABLE. */
  abortAll(): void {
    for (const call of this.#running.list()) deadlineOf(call).abort(shuttingDown());
  }

  /** Between the stages: which tool, is it in service, and how long may it take. Never throws. */
  async #resolve(call: ToolCall): Promise<ToolResponse> {
    let resolved = call;
    let pinned: BorrowedVersion | undefined;
    try {
      if (this.#draining && call.request.parent === undefined) throw shuttingDown();
      let tool = this.#findTool(call);
      const fn = tool.function;
      const deadline = Math.min(call.deadline, call.receivedAt + fn.spec.timeoutMs);
      resolved = { ...call, function: fn, deadline, config: fn.configDefaults };
      if (isNew(call)) this.#deps.shedder.check(this.#running.size, fn.spec.priority);
      if (call.request.refusal !== undefined) throw call.request.refusal;
      const entered = this.#deps.sessions?.enter(resolved, fn) ?? resolved;
      resolved = entered instanceof Promise ? await raceCall(call, entered) : entered;
      this.#checkInService(resolved, fn);
      const limitMs = deadline - call.receivedAt;
      const remainingMs = deadline - this.#deps.clock.now();
      deadlineOf(call).arm(remainingMs, limitMs, () => call.progress.stalled?.());
      resolved = this.#deps.assigned?.hold(resolved, fn) ?? resolved;
      const pin = pinOf(resolved, fn);
      if (pin !== undefined) {
        noteVersion(resolved, fn.spec, pin);
        pinned = await takePinned(resolved, fn, pin, this.#deps.versions);
        tool = pinned.tool;
        call.progress.pinned = tool.function;
        resolved = this.#instead(resolved, tool);
      }
      const trial = this.#deps.canaries?.choose(resolved, tool.function, (name) =>
        this.#deps.snapshots.isDisabled(name),
      );
      if (trial !== undefined) {
        tool = trial;
        resolved = this.#instead(resolved, tool);
      }
      noteVersion(resolved, tool.function.spec);
      // What searches a toolset is configured for nobody.
      const agentTools = call.request.through?.runs === undefined ? this.#deps.agentTools : undefined;
      const bound = agentTools?.bind(resolved, fn, tool.function);
      if (bound !== undefined) resolved = bound instanceof Promise ? await raceCall(call, bound) : bound;
      const response = await tool[call.phase.kind](resolved);
      if (call.progress.whenSucceeded !== undefined && response.ok && !response.meta.fallback)
        await call.progress.whenSucceeded();
      if (call.phase.kind !== 'explain') this.#deps.canaries?.count(call, response);
      return response;
    } catch (error) {
      return refusalOf(resolved, error);
    } finally {
      pinned?.release();
    }
  }

  /** The call as one of another version of its tool, or of the tool on trial in its place. */
  #instead(call: ToolCall, { function: fn }: CompiledTool): ToolCall {
    const instead = { ...call, function: fn, config: fn.configDefaults };
    this.#checkInService(instead, fn);
    return instead;
  }

  #findTool(call: ToolCall): CompiledTool {
    const { request } = call;
    const tool = searchToolOf(call) ?? toolsOf(call).find(request.tool);
    if (tool !== undefined && isThereFor(call, tool.function.spec.metadata)) return tool;
    if (request.refusal !== undefined) throw request.refusal;
    throw this.#deps.agentTools?.missing(call) ?? noSuchTool(call);
  }

  #checkInService(call: ToolCall, fn: ToolFunction): void {
    if (this.#deps.snapshots.isDisabled(fn.spec.name)) {
      throw toolFailure('TOOL_DISABLED', 'An operator has switched this tool off.', { retryable: false });
    }
    const quarantine = fn.spec.foreign?.quarantine;
    if (quarantine !== undefined) throw quarantined(quarantine);
    const { mode } = call.context;
    const { modes } = fn.spec.metadata;
    if (mode !== undefined && !servesMode(fn.spec.metadata, mode)) {
      const message = `This tool may not be called in ${mode} mode; it serves ${modes.join(' and ')}.`;
      throw new ToolFailure('MODE_RESTRICTED', message, { details: { mode, modes: [...modes] } });
    }
  }
}

/** What other tools alone call is not there for a call from outside; what is of other tenants is for none of this one's. */
function isThereFor(call: ToolCall, { internal, tenants }: ToolMetadata): boolean {
  if (internal === true && isFromOutside(call)) return false;
  return tenants === undefined || tenants.includes(call.principal?.tenantId ?? '');
}

/** Neither a step, nor admitted before: that was a step then, where its tool is one that tools alone call. */
function isFromOutside({ phase, request }: ToolCall): boolean {
  return request.parent === undefined && phase.kind !== 'resume' && request.isKept !== true;
}

/** A step of a call, or a call that was admitted before, is carried through. */
function isNew({ phase, request }: ToolCall): boolean {
  return request.parent === undefined && phase.kind !== 'resume' && phase.kind !== 'explain';
}

function quarantined({ reason, message }: Quarantine): ToolFailure {
  return new ToolFailure('UNAVAILABLE', message, { reason, retryable: false });
}

const RUN: Phase = Object.freeze({ kind: 'run' });
