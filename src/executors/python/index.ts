// python: calls a function of a Python module, each call in a process forked for it from one that has it imported.
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { callLogFields } from '../../contract/call/call-log-fields.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import type { Executor, ExecutorPlugin, ExecutorTarget, PreparedFunction } from '../../contract/plugin.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Emit, ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { NOTHING_TO_SCRUB } from '../../lib/secrets/scrub-secrets.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import type { ProcessSpawner } from '../../ports/egress/process-spawner.ts';
import type { Sandbox } from '../../ports/egress/sandbox.ts';
import type { ResultCache } from '../../ports/result-cache.ts';
import { CodeState } from './code-state.ts';
import { failureOf } from './worker/answer.ts';
import { contextMember, userOf } from './call-context.ts';
import { checkCodeArguments, checkCodeTool, Printed } from './code-tool.ts';
import { FunctionLease, type Leased } from './pool/function-lease.ts';
import type { Accept } from './pool/leased-function.ts';
import { functionName, isListed, optionsSchema, type PythonOptions } from './options.ts';
import type { CallListener } from './worker/pending-call.ts';
import { PoolLeases } from './pool/pool-leases.ts';
import { shownEvent, shownLine } from './shown-words.ts';
import { checkSourceTool, sourceCall, sourceResult } from './source-tool.ts';
import { SandboxChoice } from './sandbox-choice.ts';
import { pythonSettingsSchema, type PythonSettings } from './settings.ts';
import { checkSignature, readChecked, type Signature } from './signature.ts';
import type { WorkerKind } from './pool/worker-kind.ts';
import { WorkerKinds } from './pool/worker-kinds.ts';

export interface PythonNeeds {
  readonly spawner: ProcessSpawner;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly sandbox: Pick<Sandbox, 'describe'>;
  readonly resultCache: ResultCache;
  readonly settings: PythonSettings;
}

export const pythonExecutor: ExecutorPlugin<PythonOptions, PythonNeeds> = {
  name: 'python',
  summary: 'Calls a function of a Python module in a warm, sandboxed worker: a fresh process for every call.',
  optionsSchema,
  settingsSchema: pythonSettingsSchema,
  create: (needs) => new PythonExecutor(needs),
};

/** The same place seen from src and from dist. */
const WORKER_FILE = fileURLToPath(new URL('../../../python/unified_tools/worker.py', import.meta.url));

/** One request to the worker, but for the arguments. */
interface Route extends Leased {
  readonly head: string;
  readonly exclusive: boolean;
  /** Users of one tenant are kept apart too: what runs is what they wrote. */
  readonly perUser: boolean;
}

class PythonExecutor implements Executor<PythonOptions> {
  readonly #log: Log;
  readonly #settings: PythonSettings;
  readonly #sandbox: SandboxChoice;
  readonly #leases: PoolLeases;
  readonly #kinds: WorkerKinds;
  readonly #state: CodeState;

  constructor(needs: PythonNeeds) {
    this.#log = needs.log;
    this.#settings = needs.settings;
    this.#kinds = new WorkerKinds(needs.settings);
    this.#state = new CodeState(needs.resultCache, needs.settings.maxFrameBytes);
    const isRoot = process.getuid?.() === 0;
    this.#sandbox = new SandboxChoice(needs.settings.sandbox, { ...needs, isRoot });
    this.#leases = new PoolLeases({ ...needs, sandbox: this.#sandbox }, WORKER_FILE);
  }

  prepare({ function: fn, options }: ExecutorTarget<PythonOptions>): Promise<PreparedFunction> {
    if (options.source !== undefined) return this.#prepareSource(fn, options, options.source);
    return options.code === true ? this.#prepareCode(fn, options) : this.#prepareFunction(fn, options);
  }

  status(): JsonObject {
    return this.#sandbox.status;
  }

  close(): Promise<void> {
    return this.#leases.close();
  }

  async #prepareFunction(fn: ToolFunction, options: PythonOptions): Promise<PreparedFunction> {
    const { module = '' } = options;
    if (!isListed(module, this.#settings.modules)) {
      throw new Error(`the Python module \`${module}\` is not on the list executors.python.modules.`);
    }
    const name = functionName(fn, options);
    const names = `"module":${JSON.stringify(module)},"function":${JSON.stringify(name)}`;
    const mode = options.pure === true ? 'reuse' : 'fork';
    let signature: Signature | undefined;
    const kind = await this.#kinds.ofModule(options, module, fn.spec.baseDir);
    const lease = await this.#open(kind, `"op":"check",${names}`, (data) => {
      const checked = readChecked(data);
      checkSignature(fn, checked.signature);
      signature = checked.signature;
      return checked.files;
    });
    const bodyOf = (call: ToolCall) => {
      const body = `{"arguments":${JSON.stringify(call.arguments)}${contextMember(signature, call)}}`;
      return this.#fitting(body);
    };
    return {
      yieldsPlainJson: true,
      runsOwnCode: true,
      upstream: upstreamOf(options, kind),
      execute: async (call, emit) => {
        const got = lease.get();
        const found = got instanceof Promise ? await got : got;
        const exclusive = mode === 'reuse' && signature?.is_async !== true;
        const route = { ...found, head: `"op":"call",${names}`, exclusive, perUser: false };
        return { data: await this.#run(route, fn, bodyOf(call), call, emit) };
      },
      render: (call) => {
        bodyOf(call);
        return { module, function: name, arguments: call.arguments };
      },
      contentHash: () => lease.contentHash(),
      close: () => lease.release(),
    };
  }

  async #prepareCode(fn: ToolFunction, options: PythonOptions): Promise<PreparedFunction> {
    checkCodeTool(fn, options, this.#settings.sandbox);
    const kind = this.#kinds.ofCode(options);
    const lease = await this.#open(kind, '"op":"health"', () => []);
    const bodyOf = (call: ToolCall, state?: string | null) => {
      checkCodeArguments(call.arguments);
      const kept = state === undefined ? '' : `,"state":${JSON.stringify(state)}`;
      return this.#fitting(`{"arguments":${JSON.stringify(call.arguments)}${kept}}`);
    };
    return {
      yieldsPlainJson: true,
      runsOwnCode: true,
      upstream: upstreamOf(options, kind),
      execute: async (call, emit) => {
        const printed = new Printed();
        const state = await this.#state.open(call, fn.name);
        const body = bodyOf(call, state?.text);
        const got = lease.get();
        const found = got instanceof Promise ? await got : got;
        const route = { ...found, head: '"op":"code"', exclusive: false, perUser: true };
        const run = this.#run(route, fn, body, call, emit, printed.add);
        const said = await this.#state.held(state, run, call);
        const data = printed.resultOf(said);
        if (state === undefined || !isJsonObject(said)) return { data };
        return { data: { ...data, state: await this.#state.keep(state.key, said, call) } };
      },
      render: (call): JsonObject => {
        bodyOf(call);
        return { sandbox: true, arguments: call.arguments };
      },
      close: () => lease.release(),
    };
  }

  /** The operator's own code, and yet in workers for code of callers: these see no folder, and never do without the sandbox. */
  async #prepareSource(fn: ToolFunction, options: PythonOptions, source: string): Promise<PreparedFunction> {
    checkSourceTool(fn, this.#settings.sandbox);
    const kind = this.#kinds.ofCode(options);
    const lease = await this.#open(kind, '"op":"health"', () => []);
    return {
      yieldsPlainJson: true,
      runsOwnCode: true,
      upstream: upstreamOf(options, kind),
      execute: async (call, emit) => {
        const code = JSON.stringify(sourceCall(source, call.arguments));
        const route = { ...(await lease.get()), head: '"op":"code"', exclusive: false, perUser: false };
        const said = await this.#run(route, fn, this.#fitting(`{"arguments":{"code":${code}}}`), call, emit);
        return { data: sourceResult(said) };
      },
      render: (call): JsonObject => ({ sandbox: true, arguments: call.arguments }),
      close: () => lease.release(),
    };
  }

  #open(kind: WorkerKind, check: string, accept: Accept): Promise<FunctionLease> {
    return FunctionLease.open(async () => {
      const walls = await this.#sandbox.walls(kind.needsSandbox);
      return { lease: await this.#leases.take(kind, check, accept), walls };
    });
  }

  async #run(
    { lease, walls, head, exclusive, perUser }: Route,
    fn: ToolFunction,
    body: string,
    call: ToolCall,
    emit: Emit,
    onOutput?: CallListener['onOutput'],
  ): Promise<JsonValue> {
    const scrubber = call.scrubber ?? NOTHING_TO_SCRUB;
    const listener: CallListener = {
      onLine: (level, line, isCut) => {
        const output = shownLine(line, isCut, scrubber);
        this.#log[level]({ ...callLogFields(call), tool: fn.name, output }, 'a Python tool printed');
        if (running) emit({ kind: 'log', level, message: output });
      },
      onEvent: (event) => emit(shownEvent(event, scrubber)),
      ...(onOutput && { onOutput }),
    };
    const { signal, deadline } = call;
    const tenant = call.principal?.tenantId ?? '';
    const owner = perUser ? userOf(call) : tenant;
    let running = true;
    call.progress.notes = { ...call.progress.notes, sandbox: walls };
    try {
      const answer = await lease.run({
        request: { head, body },
        listener,
        signal,
        deadline,
        exclusive,
        level: 0,
        tenant,
        owner,
      });
      if (!answer.ok) throw failureOf(answer.error, scrubber);
      return answer.data;
    } finally {
      running = false;
    }
  }

  /** Throws PAYLOAD_TOO_LARGE. */
  #fitting(body: string): string {
    const { maxFrameBytes } = this.#settings;
    // A UTF-16 unit is at most three bytes of UTF-8: small requests need no counting.
    if (body.length * 3 <= maxFrameBytes || Buffer.byteLength(body) <= maxFrameBytes) return body;
    const message = `The arguments are larger than the limit of ${maxFrameBytes} bytes.`;
    throw new ToolFailure('PAYLOAD_TOO_LARGE', message, { partialSideEffects: false });
  }
}

/** The pool that runs it: one whose workers do not start says nothing about those of another kind. */
function upstreamOf({ interpreter = 'default' }: PythonOptions, kind: WorkerKind): string {
  const id = createHash('sha256').update(JSON.stringify(kind)).digest('hex').slice(0, 8);
  return `python:${interpreter}:${id}`;
}
