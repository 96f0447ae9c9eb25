// Small makers of specs, functions, calls and ports for unit tests of core and extensions.
import { functionsOf, type ToolFunction } from '../../src/contract/tool/tool-function.ts';
import type { AdmittedCall } from '../../src/contract/call/admitted-call.ts';
import type { CallProgress, ToolCall, ToolRequest } from '../../src/contract/call/tool-call.ts';
import type { CompiledTool, ToolCompiler } from '../../src/contract/tool/compiled-tool.ts';
import type { ToolSet } from '../../src/contract/tool/tool-set.ts';
import type { ToolSpec } from '../../src/contract/tool/tool-spec.ts';
import type { Principal } from '../../src/contract/call/principal.ts';
import type { ToolResponse } from '../../src/contract/call/tool-response.ts';
import type { Extension, Layer, Next } from '../../src/contract/plugin.ts';
import type { ToolLayer } from '../../src/core/compile/compile-tool.ts';
import { Deadline, type TimedProgress } from '../../src/core/deadline.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { snapshotOf } from '../../src/registry/tool-spec-registry.ts';
import { refusalOf, successOf } from '../../src/core/settle.ts';
import type { Log } from '../../src/ports/telemetry/log.ts';
import type { Metrics } from '../../src/ports/telemetry/metrics.ts';

type SpecChanges = Partial<Omit<ToolSpec, 'metadata'>> & { metadata?: Partial<ToolSpec['metadata']> };

export function specOf(changes: SpecChanges = {}): ToolSpec {
  return {
    name: 'greet',
    description: 'Greets',
    toolType: 'test',
    inputSchema: { type: 'object' },
    implementationConfig: {},
    timeoutMs: 1000,
    rateLimits: [],
    extensions: {},
    baseDir: '/nowhere',
    contentHash: 'c0ffee',
    ...changes,
    metadata: {
      version: '1.0.0',
      permissions: [],
      riskLevel: 'low',
      isDangerous: false,
      requiresApproval: false,
      readOnly: false,
      idempotent: false,
      modes: ['voice', 'text'],
      tags: [],
      ...changes.metadata,
    },
  };
}

export function functionOf(changes: SpecChanges = {}): ToolFunction {
  const [fn] = functionsOf(specOf(changes));
  if (fn === undefined) throw new Error('the spec has no function');
  return fn;
}

export function principalOf(changes: Partial<Principal> = {}): Principal {
  return {
    id: 'key00001',
    tenantId: 'acme',
    agents: ['*'],
    roles: ['admin'],
    permissions: new Set(['*']),
    ...changes,
  };
}

export function requestOf(changes: Partial<ToolRequest> = {}): ToolRequest {
  return {
    tool: 'greet',
    arguments: {},
    context: {},
    credential: { kind: 'bearer', token: 'token' },
    door: 'test',
    ...changes,
  };
}

export function callOf(changes: Partial<ToolCall> = {}): ToolCall {
  const request = changes.request ?? requestOf();
  const { snapshot = snapshotOf([], []) } = changes;
  return {
    id: 'call-1',
    request,
    phase: { kind: 'run' },
    arguments: request.arguments,
    context: { tenantId: 'acme' },
    principal: principalOf(),
    function: functionOf(),
    config: {},
    sensitiveConfig: {},
    signal: new AbortController().signal,
    receivedAt: 1_000,
    startedAt: performance.now(),
    deadline: 61_000,
    snapshot,
    progress: progressOf(snapshot),
    ...changes,
  };
}

/** With the time that it has, as the core keeps it. */
export function timedCallOf(clock: Clock, timeoutMs: number, changes: Partial<ToolCall> = {}): ToolCall {
  const deadline = new Deadline(clock, changes.request ?? requestOf());
  deadline.arm(timeoutMs, timeoutMs);
  const tools = snapshotOf([], []);
  const base = callOf({ receivedAt: clock.now(), deadline: clock.now() + timeoutMs, ...changes });
  const progress: TimedProgress = { ...base.progress, tools, deadline, leftAt: 0, askedAt: 0 };
  return { ...base, signal: deadline.signal, progress };
}

/** With the set of tools that the core keeps there. */
function progressOf(tools: ToolSet): CallProgress & { readonly tools: ToolSet } {
  return {
    tools,
    attempts: 0,
    executorEntered: false,
    executorMs: 0,
    cached: false,
    replayed: false,
    fallback: false,
    degraded: [],
    rateLimits: [],
    traceId: '',
  };
}

/** Nothing runs in it: for sets of tools that are looked at. */
export function compiledOf(fn: ToolFunction): CompiledTool {
  const uncalled = () => Promise.reject(new Error(`${fn.name} is not called here`));
  return { function: fn, run: uncalled, admit: uncalled, resume: uncalled, explain: uncalled };
}

/** The same for those who compile what they load. */
export const looksOnly: ToolCompiler = { compile: compiledOf, compileLegacy: compiledOf };

/** A call that was accepted before and runs now. */
export function admittedOf(changes: Partial<AdmittedCall> = {}): AdmittedCall {
  const { id: principalId, tenantId } = principalOf();
  const grant = { principalId, tenantId, permissions: ['*'] };
  const said = { callId: 'call-1', tool: 'greet', arguments: {}, context: {}, grant };
  return { ...said, toolHash: functionOf().spec.contentHash, approved: false, ...changes };
}

/** An innermost `next` that records the calls it got and answers with their arguments. */
export function echoNext() {
  const calls: ToolCall[] = [];
  async function next(call: ToolCall): Promise<ToolResponse> {
    calls.push(call);
    return successOf(call, { data: call.arguments }, 1 << 20);
  }
  return { calls, next };
}

/** The layer that the extension prepares for this function; undefined: it leaves itself out of the function's chain. */
export function layerFor<Options>(
  extension: Extension<Options>,
  fn: ToolFunction,
  options: Options,
): ((call: ToolCall, next: Next) => Promise<ToolResponse>) | undefined {
  const layer = extension.stage === 'request' ? extension.prepare(options) : extension.prepare(fn, options);
  return layer && ((call, next) => answerOf(layer(call, next)));
}

/** The call's way through one extension, prepared for the call's function. */
export async function through<Options>(
  extension: Extension<Options>,
  call: ToolCall,
  next: Next,
  options: Options,
): Promise<ToolResponse> {
  const layer = layerFor(extension, call.function ?? functionOf(), options);
  return layer === undefined ? next(call) : layer(call, next);
}

/** As a chain does it, but for what telling throws. */
function answerOf(given: ReturnType<Layer>): Promise<ToolResponse> {
  if (given instanceof Promise) return given;
  return given.answer.then((response) => {
    given.tell(response);
    return response;
  });
}

/** A layer of a chain, of the tool stage if it matters. */
export function namedLayer(
  name: string,
  around: Layer = (call, next) => next(call),
  changes: Partial<ToolLayer> = {},
): ToolLayer {
  const seconds = recordingMetrics().histogram({ name, help: name, buckets: [] }).with();
  return { name, onFailure: 'deny', phases: ['run'], layer: around, seconds, ...changes };
}

/** What a chain makes of an extension that throws. */
export async function outcomeOf(promise: () => Promise<ToolResponse>, call: ToolCall): Promise<ToolResponse> {
  try {
    return await promise();
  } catch (error) {
    return refusalOf(call, error);
  }
}

export interface RecordedLine {
  readonly level: string;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

export function recordingLog(): Log & { readonly lines: RecordedLine[] } {
  const lines: RecordedLine[] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, fields: { ...fields }, message });
  const log = {
    lines,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => log,
  };
  return log;
}

/** Keeps every value by `name{labels}`. */
export function recordingMetrics(): Metrics & { readonly values: Map<string, number> } {
  const values = new Map<string, number>();
  const handle = (name: string) => ({
    with: (...labels: string[]) => {
      const key = labels.length === 0 ? name : `${name}{${labels.join(',')}}`;
      const add = (amount = 1) => void values.set(key, (values.get(key) ?? 0) + amount);
      return { add, set: (value: number) => void values.set(key, value), observe: () => add(1) };
    },
  });
  const define = ({ name }: { name: string }) => handle(name);
  return { values, counter: define, gauge: define, histogram: define };
}
