// What tests of the python executor need around it: real time, a log and metrics that remember, calls, targets.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pythonExecutor } from '../../src/executors/python/index.ts';
import type { PythonOptions } from '../../src/executors/python/options.ts';
import { PYTHON_DEFAULTS, type PythonSettings } from '../../src/executors/python/settings.ts';
import { MemoryResultCache } from '../../src/infra/cache/memory-result-cache.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import type { JsonObject } from '../../src/contract/json.ts';
import type { Executor, ExecutorTarget, PreparedFunction } from '../../src/contract/plugin.ts';
import type { CallEvent, ToolCall } from '../../src/contract/call/tool-call.ts';
import type { ToolAction, ToolSpec } from '../../src/contract/tool/tool-spec.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Log, LogFields } from '../../src/ports/telemetry/log.ts';
import type { Labelled, Metrics } from '../../src/ports/telemetry/metrics.ts';
import type { ProcessSpawner } from '../../src/ports/egress/process-spawner.ts';
import type { Sandbox } from '../../src/ports/egress/sandbox.ts';

export const FIXTURES = join(import.meta.dirname, '../fixtures/python');

export const realClock: Clock = new SystemClock();

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: LogFields;
  readonly message: string;
}

export class RecordingLog implements Log {
  readonly lines: LogLine[] = [];
  debug = (fields: LogFields, message: string) => void this.lines.push({ level: 'debug', fields, message });
  info = (fields: LogFields, message: string) => void this.lines.push({ level: 'info', fields, message });
  warn = (fields: LogFields, message: string) => void this.lines.push({ level: 'warn', fields, message });
  error = (fields: LogFields, message: string) => void this.lines.push({ level: 'error', fields, message });
  child = () => this;
}

/** Adds up counters and gauges by name and label values: `name{a,b}`. */
export class RecordingMetrics implements Metrics {
  readonly values = new Map<string, number>();
  counter = ({ name }: { readonly name: string }) => this.#labelled(name);
  gauge = ({ name }: { readonly name: string }) => this.#labelled(name);
  histogram = () => ({ with: () => ({ observe: () => undefined }) });

  value(series: string): number {
    return this.values.get(series) ?? 0;
  }

  #labelled(name: string): Labelled<{ add(amount?: number): void; set(value: number): void }> {
    return {
      with: (...labels) => {
        const series = `${name}{${labels.join(',')}}`;
        return {
          add: (amount = 1) => void this.values.set(series, this.value(series) + amount),
          set: (value) => void this.values.set(series, value),
        };
      },
    };
  }
}

/** A machine that has none. */
export const NO_SANDBOX: Pick<Sandbox, 'describe'> = {
  describe: async () => ({
    backend: 'none',
    memoryLimit: 'rlimit',
    processLimit: 'rlimit',
    refused: [],
    warnings: [],
  }),
};

/** The executor with everything around it, and short cuts to call functions of the fixtures. */
export class PythonBench {
  readonly log = new RecordingLog();
  readonly metrics = new RecordingMetrics();
  readonly executor: Executor<PythonOptions>;

  readonly #options: Partial<PythonOptions>;

  /** `options` go to every tool made by `callable`. */
  constructor(
    spawner: ProcessSpawner & { readonly sandbox?: Pick<Sandbox, 'describe'> },
    settings: Partial<PythonSettings> = {},
    clock: Clock = realClock,
    options: Partial<PythonOptions> = {},
  ) {
    const { log, metrics } = this;
    this.#options = options;
    // A developer's own Python may lie where the sandbox's user has no business.
    const own =
      settings.sandbox === undefined || settings.sandbox === 'off' ? process.env['PATH'] : undefined;
    const path = own ?? PYTHON_DEFAULTS.path;
    const common = { path, modulePaths: [FIXTURES], startTimeoutMs: 30_000, sandbox: 'off' } as const;
    const all = { ...PYTHON_DEFAULTS, ...common, ...settings };
    const { sandbox = NO_SANDBOX } = spawner;
    const resultCache = new MemoryResultCache(clock, { maxEntries: 100, maxBytes: 16 << 20 });
    const needs = { spawner, sandbox, log, metrics, clock, resultCache };
    this.executor = pythonExecutor.create({ ...needs, settings: all });
  }

  async prepare(module: string, functionName: string, extra: TargetExtras = {}): Promise<PreparedFunction> {
    const { options } = extra;
    return this.executor.prepare(targetOf({ module, function_name: functionName, ...options }, extra));
  }

  /** Prepares `module.function` and returns a function that calls it. */
  async callable(
    qualifiedName: string,
    target: TargetExtras = {},
  ): Promise<(args?: JsonObject, extra?: CallExtras) => Promise<unknown>> {
    const [module = '', functionName = ''] = qualifiedName.split('.');
    const options = { ...this.#options, ...target.options };
    const prepared = await this.prepare(module, functionName, { ...target, options });
    return async (args = {}, extra = {}) => {
      const emit = extra.emit ?? (() => undefined);
      return (await prepared.execute(callOf(args, extra), emit)).data;
    };
  }

  async call(qualifiedName: string, args: JsonObject = {}, extra: CallExtras = {}): Promise<unknown> {
    return (await this.callable(qualifiedName))(args, extra);
  }
}

export interface TargetExtras {
  readonly options?: Partial<PythonOptions>;
  readonly isDangerous?: boolean;
  readonly inputSchema?: JsonObject;
  readonly action?: ToolAction;
  readonly baseDir?: string;
}

export function targetOf(options: PythonOptions, extra: TargetExtras = {}): ExecutorTarget<PythonOptions> {
  const { inputSchema = {}, action, baseDir = FIXTURES, isDangerous = false } = extra;
  const name = `${options.module}.${options.function_name ?? action?.name ?? ''}`;
  const spec: ToolSpec = {
    name,
    description: 'A tool under test',
    toolType: 'python',
    inputSchema,
    implementationConfig: {},
    metadata: {
      version: '1.0.0',
      permissions: [],
      riskLevel: 'low',
      isDangerous,
      requiresApproval: false,
      readOnly: false,
      idempotent: false,
      modes: ['voice', 'text'],
      tags: [],
    },
    timeoutMs: 30_000,
    rateLimits: [],
    extensions: {},
    baseDir,
    contentHash: '0'.repeat(64),
  };
  return {
    function: {
      name,
      description: spec.description,
      inputSchema,
      spec,
      configDefaults: {},
      ...(action && { action }),
    },
    options,
  };
}

export interface CallExtras {
  readonly signal?: AbortSignal;
  readonly emit?: (event: CallEvent) => void;
  readonly call?: Partial<ToolCall>;
}

export function callOf(args: JsonObject, extra: CallExtras = {}): ToolCall {
  const { signal = new AbortController().signal } = extra;
  const request = {
    tool: 'tool',
    arguments: args,
    context: {},
    credential: { kind: 'none' },
    door: 'test',
  } as const;
  return {
    id: 'call-1',
    request,
    phase: { kind: 'run' },
    arguments: args,
    context: {},
    config: {},
    sensitiveConfig: {},
    signal,
    receivedAt: 0,
    startedAt: 0,
    deadline: Number.POSITIVE_INFINITY,
    snapshot: {
      version: '1.0.00000000',
      contentHash: '',
      specs: [],
      functions: [],
      find: () => undefined,
      providerName: (name) => name,
    },
    progress: {
      attempts: 0,
      executorEntered: true,
      executorMs: 0,
      cached: false,
      replayed: false,
      fallback: false,
      degraded: [],
      rateLimits: [],
      traceId: '',
    },
    ...extra.call,
  };
}

/** True while the process exists; one that has ended and only waits to be reaped does not count. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z';
  } catch (error) {
    // Where there is no /proc, the signal alone tells.
    return (
      error instanceof Error && 'syscall' in error && error.syscall === 'open' && !existsSync('/proc/self')
    );
  }
}
