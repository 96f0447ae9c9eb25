// WorkerExecutor: handlers in worker threads. Checked in one at load, run in those of the pool.
import { callLogFields } from '../../contract/call/call-log-fields.ts';
import type { PreparedFunction } from '../../contract/plugin.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Emit, ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { workerSeries } from '../../ports/telemetry/worker-series.ts';
import type { NestedCalls } from '../../ports/nested-calls.ts';
import type { ProcessSpawner } from '../../ports/egress/process-spawner.ts';
import { NOTHING_TO_SCRUB } from '../../lib/secrets/scrub-secrets.ts';
import { scrubberOf, scrubFailure, scrubResult } from './call-secrets.ts';
import { metaOf, pass } from './in-process.ts';
import { chooseExport, type HandlerFile } from './load-handler.ts';
import type { CallBody, StepReply, StepRequest } from './threads/messages.ts';
import { ModuleChecker } from './module-checker.ts';
import type { JsOptions } from './options.ts';
import type { Answer, CallListener } from './threads/pending-call.ts';
import { readReturned, type Cutter } from './read-outcome.ts';
import type { JavascriptSettings } from './settings.ts';
import { ThreadHosts } from './threads/thread-hosts.ts';
import { ThreadPool } from './threads/thread-pool.ts';
import { failureOfReport } from './thrown-report.ts';
import { argumentsTooLarge } from './threads/worker-failures.ts';

/** Of what is printed; the worker leaves more than twice as much: see SecretScrubber.cut. */
const MAX_LINE = 4_000;

export interface WorkerNeeds {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly nestedCalls: NestedCalls;
  readonly spawner: ProcessSpawner;
  readonly settings: JavascriptSettings;
}

export class WorkerExecutor {
  readonly #needs: WorkerNeeds;
  readonly #hosts: ThreadHosts;
  readonly #pool: ThreadPool;
  readonly #checker: ModuleChecker;
  /** By path: the content that was checked last. */
  readonly #newest = new Map<string, string>();
  /** By URL: how many functions use the module. */
  readonly #users = new Map<string, number>();

  constructor(needs: WorkerNeeds) {
    this.#needs = needs;
    const { settings, clock, log, metrics } = needs;
    const onStray = (level: 'info' | 'warn', text: string) =>
      log[level](
        { executor: 'javascript', output: text },
        'a JavaScript worker thread said something outside any call',
      );
    // Two of them: what a new module does when it is imported harms no call.
    this.#checker = new ModuleChecker({ settings, clock, onStray, hosts: new ThreadHosts(needs) });
    this.#hosts = new ThreadHosts(needs);
    this.#pool = new ThreadPool({
      hosts: this.#hosts,
      settings,
      clock,
      log,
      onStray,
      ...workerSeries(metrics, 'javascript'),
    });
  }

  /** Throws Error with a sentence for the operator. */
  async prepare(
    file: HandlerFile,
    fn: ToolFunction,
    options: JsOptions,
  ): Promise<Pick<PreparedFunction, 'execute' | 'close' | 'yieldsPlainJson'> & { readonly name: string }> {
    this.#hosts.warm();
    const name = chooseExport(options, fn, await this.#checker.check(options.handler, file));
    this.#take(file);
    const concurrent = options.concurrent === true;
    return {
      name,
      yieldsPlainJson: true,
      execute: (call, emit) => this.#execute({ url: file.url, name, concurrent }, fn, call, emit),
      close: async () => this.#release(file),
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.#checker.close(), this.#pool.close()]);
  }

  #take({ path, url, text, pinned }: HandlerFile): void {
    const before = this.#newest.get(path);
    this.#newest.set(path, url);
    this.#users.set(url, (this.#users.get(url) ?? 0) + 1);
    // What the file imports may have changed with it, and a thread imports nothing twice.
    if (before !== undefined && before !== url) this.#pool.renew();
    this.#pool.use({ url, text, pinned });
  }

  #release({ path, url }: HandlerFile): void {
    const left = (this.#users.get(url) ?? 1) - 1;
    this.#users.set(url, left);
    if (left > 0) return;
    this.#users.delete(url);
    this.#pool.forget(url);
    if (this.#newest.get(path) === url) this.#newest.delete(path);
  }

  async #execute(
    { url, name, concurrent }: { readonly url: string; readonly name: string; readonly concurrent: boolean },
    fn: ToolFunction,
    call: ToolCall,
    emit: Emit,
  ): Promise<ToolResult> {
    const body = bodyOf(call, fn, this.#needs.settings.maxMessageBytes);
    const listener = this.#listenerOf(fn, call, emit);
    const { signal } = call;
    const level = call.request.parent?.depth ?? 0;
    const scrubber = scrubberOf(call);
    const cutter = scrubber ?? NOTHING_TO_SCRUB;
    try {
      const request = { url, name, body };
      const tenant = call.principal?.tenantId ?? '';
      const task = { request, listener, signal, exclusive: !concurrent, level, tenant, owner: tenant };
      const result = resultOf(await this.#pool.run(task), cutter);
      return scrubber === undefined ? result : await scrubResult(result, scrubber);
    } catch (error) {
      const ours = error instanceof ToolFailure && error !== signal.reason;
      throw scrubber === undefined || !ours ? error : scrubFailure(error, scrubber);
    }
  }

  #listenerOf(fn: ToolFunction, call: ToolCall, emit: Emit): CallListener {
    const { log } = this.#needs;
    return {
      onEvent: (event) => pass(event, call, fn, emit, log),
      onPrinted: (level, line) => {
        const output = (scrubberOf(call) ?? NOTHING_TO_SCRUB).cut(line, MAX_LINE);
        log[level]({ ...callLogFields(call), tool: fn.name, output }, 'a JavaScript handler printed');
        emit({ kind: 'log', level, message: output });
      },
      onStep: (request) => this.#step(call, request),
    };
  }

  async #step(call: ToolCall, { tool, arguments: args }: StepRequest): Promise<string> {
    const response = await this.#needs.nestedCalls.run(call, tool, args);
    if (response.ok) return `{"ok":true,"data":${response.dataJson}}`;
    const { type, reason, message, retryable, retryAfterMs, details } = response.error;
    const error = { type, reason, message, retryable, retryAfterMs, details };
    return JSON.stringify({ ok: false, error } satisfies StepReply);
  }
}

/** Throws PAYLOAD_TOO_LARGE. */
function bodyOf(call: ToolCall, fn: ToolFunction, limit: number): string {
  const { arguments: args, config, sensitiveConfig: secrets } = call;
  const body = JSON.stringify({
    arguments: args,
    config,
    secrets,
    meta: metaOf(call, fn),
  } satisfies CallBody);
  if (body.length > limit) throw argumentsTooLarge(limit);
  return body;
}

/** Throws ToolFailure. */
function resultOf(answer: Answer, scrubber: Cutter): ToolResult {
  if (answer.kind === 'thrown') throw failureOfReport(answer.report, scrubber);
  return readReturned(answer.value, scrubber);
}
