// The shell executor: a tool is one command with typed places for arguments, run inside the sandbox, never by a shell.
import type { JsonObject } from '../../contract/json.ts';
import type { Executor, ExecutorPlugin, ExecutorTarget, PreparedFunction } from '../../contract/plugin.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Emit, ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import { callerHash } from '../../lib/callers/caller-hash.ts';
import { SlotQueue } from '../../lib/worker-pool/slot-queue.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Counter, Labelled, Metrics } from '../../ports/telemetry/metrics.ts';
import {
  notTried,
  type Sandbox,
  type SandboxLimits,
  type SandboxOutcome,
  type SandboxRun,
} from '../../ports/egress/sandbox.ts';
import { FileContents } from '../../lib/files/file-contents.ts';
import { compileCommand, placesOf, type CompiledCommand } from './compile-command.ts';
import { findProgram } from './find-program.ts';
import { LineEmitter } from './line-emitter.ts';
import { shellOptionsSchema, type CommandOptions, type ShellOptions } from './options-schema.ts';
import { readOutcome } from './read-outcome.ts';
import { shellSettingsSchema, type ShellSettings } from './settings.ts';
import { TOOLS_SERIES } from '../../ports/telemetry/series/tools.ts';

export interface ShellNeeds {
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly settings: ShellSettings;
}

export const shellExecutor: ExecutorPlugin<ShellOptions, ShellNeeds> = {
  name: 'shell',
  summary:
    'Runs one command in a sandbox: arguments in typed places of its argv, no shell, no network, bounded in everything.',
  optionsSchema: shellOptionsSchema,
  settingsSchema: shellSettingsSchema,
  placeholders: placeholdersOf,
  create: (needs) => new ShellExecutor(needs),
};

type CommandLimits = Omit<SandboxLimits, 'wallMs'>;

interface Prepared {
  readonly options: CommandOptions;
  readonly compiled: CompiledCommand;
  readonly program: string;
  readonly limits: CommandLimits;
}

class ShellExecutor implements Executor<ShellOptions> {
  readonly #needs: ShellNeeds;
  readonly #slots: SlotQueue<SandboxOutcome>;
  readonly #runs: Labelled<Counter>;
  readonly #contents = new FileContents();
  #looked = false;

  constructor(needs: ShellNeeds) {
    this.#needs = needs;
    const { maxParallel: slots, maxQueue } = needs.settings;
    this.#slots = new SlotQueue({ slots, maxQueue, queueFull });
    this.#runs = needs.metrics.counter(TOOLS_SERIES.ute_sandbox_runs_total);
  }

  prepare({ function: fn, options }: ExecutorTarget<ShellOptions>): PreparedFunction {
    const { settings } = this.#needs;
    const command = commandOf(options, fn);
    const compiled = compileCommand(command, fn.inputSchema);
    const program = findProgram(compiled.program, settings.readable, fn.spec.metadata.isDangerous);
    const prepared: Prepared = { options: command, compiled, program, limits: limitsOf(command, settings) };
    this.#lookAround();
    return {
      yieldsPlainJson: true,
      execute: (call, emit) => this.#execute(prepared, call, emit),
      render: (call) => this.#render(prepared, call),
      contentHash: () => this.#contents.hashOf([program, ...compiled.fixedPaths]),
    };
  }

  async #execute(prepared: Prepared, call: ToolCall, emit: Emit): Promise<ToolResult> {
    const { sandbox } = this.#needs;
    const lines = new LineEmitter(emit);
    const run = this.#runOf(prepared, call);
    const report = await sandbox.describe();
    call.progress.notes = {
      ...call.progress.notes,
      sandbox: report.backend,
      sandbox_limits: `memory ${report.memoryLimit}, processes ${report.processLimit}`,
    };
    const start = () => sandbox.run({ ...run, onOutput: lines.take });
    const outcome = await this.#slots.run(start, call.principal?.tenantId ?? '', call.signal);
    lines.end();
    this.#runs.with(outcome.backend, outcome.ended).add();
    return readOutcome(outcome, prepared.options);
  }

  async #render(prepared: Prepared, call: ToolCall): Promise<JsonObject> {
    const { argv, workspace, files = [], collect = [], stdin, limits } = this.#runOf(prepared, call);
    const { backend } = await this.#needs.sandbox.describe();
    return {
      argv: [...argv],
      ...(stdin !== undefined && { stdin }),
      files: files.map(({ path, content }) => ({ path, bytes: content.length })),
      collect: [...collect],
      workspace: workspace.kind === 'kept' ? 'session' : 'ephemeral',
      // Names alone: values may be secrets.
      environment: Object.keys(prepared.options.env),
      sandbox: backend,
      limits: { ...limits },
    };
  }

  #runOf({ options, compiled, program, limits }: Prepared, call: ToolCall): SandboxRun {
    const { clock, settings } = this.#needs;
    const { argv, stdin, files, collect } = compiled.fill(call.arguments);
    return {
      argv: [program, ...argv.slice(1)],
      env: options.env,
      workspace:
        options.workspace === 'session'
          ? { kind: 'kept', owner: call.principal?.tenantId ?? '', key: sessionKey(call) }
          : { kind: 'ephemeral' },
      readable: settings.readable,
      files,
      collect,
      ...(stdin !== undefined && { stdin }),
      limits: { ...limits, wallMs: Math.max(1, Math.min(call.deadline - clock.now(), MAX_WALL_MS)) },
      signal: call.signal,
    };
  }

  /** Once, with the first tool, and without keeping the load waiting: what there is goes to the log. */
  #lookAround(): void {
    if (this.#looked) return;
    this.#looked = true;
    const { sandbox, log } = this.#needs;
    sandbox.describe().then(
      ({ backend, refused, ...report }) => {
        const fields = { executor: 'shell', backend, refused, ...report };
        if (report.shortage !== undefined) log.error(fields, notTried(report.shortage));
        else if (backend === 'none')
          log.error(fields, 'there is no sandbox here: shell tools refuse every call');
        else log.info(fields, 'shell tools run in the sandbox');
      },
      (error: unknown) =>
        log.error(
          { executor: 'shell', err: error },
          'whether there is a sandbox could not be found out: tools that need one refuse their calls',
        ),
    );
  }
}

/** A timer cannot be set further away. */
const MAX_WALL_MS = 2 ** 31 - 1;

function placeholdersOf({ actions, command, ...rest }: ShellOptions) {
  if (command !== undefined) return placesOf({ ...rest, command });
  return Object.entries(actions ?? {}).flatMap(([action, options]) =>
    placesOf(options).map(({ name, path }) => ({ name, path: ['actions', action, ...path] })),
  );
}

function commandOf({ actions, command, ...rest }: ShellOptions, { action }: ToolFunction): CommandOptions {
  if (action === undefined) {
    if (command !== undefined) return { ...rest, command };
    throw new Error('implementation_config.actions is given, but the tool declares no actions.');
  }
  const own = actions !== undefined && Object.hasOwn(actions, action.name) ? actions[action.name] : undefined;
  if (own !== undefined) return own;
  throw new Error(`implementation_config.actions has no command for the action "${action.name}".`);
}

function limitsOf({ limits }: CommandOptions, { limits: most }: ShellSettings): CommandLimits {
  for (const [name, value] of Object.entries(limits)) {
    const allowed = most[name as keyof typeof most];
    if (value > allowed)
      throw new Error(`limits.${name}: ${value} is more than the gateway allows (${allowed}).`);
  }
  const all = { ...most, ...limits };
  return {
    cpuSeconds: all.cpu_seconds,
    memoryBytes: all.memory_bytes,
    maxProcesses: all.max_processes,
    outputBytes: all.output_bytes,
    fileBytes: all.file_bytes,
    workspaceBytes: all.workspace_bytes,
    collectBytes: all.collect_bytes,
  };
}

function queueFull(): ToolFailure {
  return new ToolFailure('CONCURRENCY_LIMIT', 'Too many commands wait to be run.', {
    reason: 'QUEUE_FULL',
    retryAfterMs: 1000,
    partialSideEffects: false,
  });
}

/** The tenant is the credential's, and the session its agent's and its user's: naming another's session leads nowhere. */
function sessionKey({ principal, context }: ToolCall): string {
  const { sessionId } = context;
  if (sessionId !== undefined && sessionId !== '')
    return JSON.stringify([principal?.tenantId ?? '', callerHash(context)]);
  throw toolFailure(
    'SESSION_REQUIRED',
    'context.session_id is missing: the workspace of this tool belongs to a session.',
    { partialSideEffects: false, details: { field: 'session_id' } },
  );
}
