// python: calls a function of a Python module, in worker processes that stay warm between calls.
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Executor, ExecutorPlugin, ExecutorTarget, PreparedFunction } from '../../contract/plugin.ts';
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { Emit, ToolCall } from '../../contract/tool-call.ts';
import type { ToolFunction } from '../../contract/tool-function.ts';
import type { ToolResult } from '../../contract/tool-response.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { ProcessSpawner } from '../../ports/process-spawner.ts';
import { failureOf } from './answer.ts';
import { PoolLeases, type PoolLease } from './pool-leases.ts';
import { pythonSettingsSchema, type PythonSettings } from './settings.ts';
import { checkSignature, type Signature } from './signature.ts';
import type { LineListener } from './worker-output.ts';

/** No name starts with an underscore: what a module keeps to itself is no tool. */
const MODULE = /^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)*$/;
const FUNCTION = /^[A-Za-z][A-Za-z0-9_]*$/;

const optionsSchema = z.strictObject({
  module: z
    .string()
    .regex(MODULE, 'must be a Python module such as math_tools or billing.invoices; no part starts with _')
    .describe('Python module, looked for in the module folders and beside the file that declares the tool.'),
  function_name: z
    .string()
    .regex(FUNCTION, 'must be the name of a Python function; it does not start with _')
    .optional()
    .describe(
      'Function in the module. Left out for a tool with actions: each action calls the function of its name.',
    ),
});

export type PythonOptions = z.infer<typeof optionsSchema>;

export interface PythonNeeds {
  readonly spawner: ProcessSpawner;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly settings: PythonSettings;
}

export const pythonExecutor: ExecutorPlugin<PythonOptions, PythonNeeds> = {
  name: 'python',
  summary: 'Calls a function of a Python module in a warm worker process, synchronous or asynchronous.',
  optionsSchema,
  settingsSchema: pythonSettingsSchema,
  create: (needs) => new PythonExecutor(needs),
};

/** The same place seen from src and from dist. */
const WORKER_FILE = fileURLToPath(new URL('../../../python/unified_tools/worker.py', import.meta.url));

class PythonExecutor implements Executor<PythonOptions> {
  readonly #log: Log;
  readonly #settings: PythonSettings;
  readonly #leases: PoolLeases;

  constructor(needs: PythonNeeds) {
    this.#log = needs.log;
    this.#settings = needs.settings;
    this.#leases = new PoolLeases(needs, WORKER_FILE);
  }

  async prepare({ function: fn, options }: ExecutorTarget<PythonOptions>): Promise<PreparedFunction> {
    const names = `"module":${JSON.stringify(options.module)},"function":${JSON.stringify(functionName(fn, options))}`;
    const lease = await this.#leases.take(
      [...this.#settings.modulePaths, fn.spec.baseDir],
      `"op":"check",${names}`,
    );
    try {
      checkSignature(fn, lease.signature);
    } catch (error) {
      await lease.release();
      throw error;
    }
    const request = `"op":"call",${names},"arguments":`;
    return {
      yieldsPlainJson: true,
      execute: (call, emit) => this.#call(lease, fn, request, call, emit),
      close: () => lease.release(),
    };
  }

  close(): Promise<void> {
    return this.#leases.close();
  }

  async #call(
    lease: PoolLease,
    fn: ToolFunction,
    request: string,
    call: ToolCall,
    emit: Emit,
  ): Promise<ToolResult> {
    const members = request + JSON.stringify(call.arguments) + contextMember(lease.signature, call);
    refuseOversize(members, this.#settings.maxFrameBytes);
    let running = true;
    const onLine: LineListener = (level, output) => {
      this.#log[level]({ callId: call.id, tool: fn.name, output }, 'a Python tool printed');
      if (running) emit({ kind: 'log', level, message: output });
    };
    try {
      const answer = await lease.run({ members, signal: call.signal, onLine });
      if (!answer.ok) throw failureOf(answer.error);
      return { data: answer.data };
    } finally {
      running = false;
    }
  }
}

function functionName({ spec, action }: ToolFunction, { function_name }: PythonOptions): string {
  if (action === undefined) {
    if (function_name !== undefined) return function_name;
    throw new Error(
      'function_name is missing: a tool without actions must say which function of the module it calls.',
    );
  }
  if (function_name !== undefined) {
    throw new Error(
      `function_name must be left out of a tool with actions: ${spec.name} calls the function named like each action.`,
    );
  }
  if (FUNCTION.test(action.name)) return action.name;
  throw new Error(
    `the action ${action.name} cannot be a Python function's name: it must be letters, digits and _, and not start with _.`,
  );
}

/** Only functions that ask for it by a parameter named `context` are told who is calling. */
function contextMember(signature: Signature, call: ToolCall): string {
  if (!signature.takes_context) return '';
  const { sessionId, agentId, userId, tenantId, mode } = call.context;
  const context = {
    call_id: call.id,
    session_id: sessionId ?? null,
    agent_id: agentId ?? null,
    user_id: userId ?? null,
    tenant_id: call.principal?.tenantId ?? tenantId ?? null,
    mode: mode ?? null,
    config: call.config,
    sensitive_config: call.sensitiveConfig,
  };
  return `,"context":${JSON.stringify(context)}`;
}

function refuseOversize(members: string, maxBytes: number): void {
  // A UTF-16 unit is at most three bytes of UTF-8: small requests need no counting.
  if (members.length * 3 <= maxBytes || Buffer.byteLength(members) <= maxBytes) return;
  throw new ToolFailure(
    'PAYLOAD_TOO_LARGE',
    `The arguments are larger than the limit of ${maxBytes} bytes.`,
    {
      partialSideEffects: false,
    },
  );
}
