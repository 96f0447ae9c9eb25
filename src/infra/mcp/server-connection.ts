// ServerConnection: one server for all who use it: connected to by the first call, kept, and connected to again after a
// loss by the call that needs it, with growing delays and a budget of failures.
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { abortable } from '../../lib/concurrency/abortable.ts';
import { pause } from '../../lib/timers/pause.ts';
import { within } from '../../lib/timers/within.ts';
import type { McpCall, McpListing, McpResult, McpServerSettings } from '../../ports/egress/mcp-servers.ts';
import { connectionLost, draining, givenUp, isNotInstalled } from './failures.ts';
import { listTools } from './answers/list-tools.ts';
import type { ConnectionState, Transport } from './mcp-metrics.ts';
import { limitProgress } from './answers/progress-limiter.ts';
import { startedFrom } from './start/started-from.ts';
import { RestartBudget } from './start/restart-budget.ts';
import { CallsUnderWay, type AskedInput } from './answers/calls-under-way.ts';
import { withAsked } from './answers/read-asked.ts';
import { failureOf } from './sdk-failures.ts';
import { connect, type Session } from './session.ts';
import type { SessionEvents, SessionNeeds } from './session-needs.ts';

/** The SDK wants a limit of its own for each request; the caller's signal is the one that counts. */
const NO_LIMIT_MS = 2 ** 31 - 1;
/** Changes that a server tells of within this time are told on as one. */
const CHANGES_MS = 250;
/** A server that runs one call at a time may be busy for a while; it is asked once its caller has given up. */
const PROBE_MS = 5_000;
/** Since 2026-07-28 each call says whether it wants to hear of it. */
const LOG_LEVEL = { 'io.modelcontextprotocol/logLevel': 'info' };

interface OwnSession extends Session {
  readonly underWay: CallsUnderWay;
}

export class ServerConnection {
  readonly #settings: McpServerSettings;
  readonly #needs: SessionNeeds;
  readonly #budget: RestartBudget;
  readonly #listeners = new Set<() => void>();
  readonly #transport: Transport;
  #state: ConnectionState | undefined;
  #session: OwnSession | undefined;
  #connecting: Promise<OwnSession> | undefined;
  /** Being asked whether it still answers. */
  #doubted: Session | undefined;
  /** By the last list. */
  #asTasks: ReadonlySet<string> = new Set();
  #connectedBefore = false;
  #lastFailure: unknown;
  #tellLater: (() => void) | undefined;
  #closed = false;
  readonly #closing = new AbortController();

  constructor(settings: McpServerSettings, needs: SessionNeeds) {
    this.#settings = settings;
    this.#needs = needs;
    this.#transport = settings.kind;
    this.#budget = new RestartBudget(needs.clock, needs.random, settings.limits.maxFailuresPerMinute);
    this.#move('idle');
  }

  async prepare(signal: AbortSignal): Promise<void> {
    await startedFrom(this.#settings, this.#needs.packages, AbortSignal.any([signal, this.#closing.signal]));
  }

  async listTools(signal: AbortSignal): Promise<McpListing> {
    return this.#use(signal, async ({ client, server, protocolVersion, caller }) => {
      const { limits } = this.#settings;
      const { asTasks, tools, ...more } = await listTools(client, limits, signal, NO_LIMIT_MS);
      this.#asTasks = asTasks;
      const usable = tools.filter(({ name }) => caller.runTask !== undefined || !asTasks.has(name));
      if (usable.length < tools.length) {
        this.#needs.log.warn(
          { tools: [...asTasks].slice(0, 20) },
          'tools of an MCP server run as tasks alone, which it does not have: left out',
        );
      }
      return { server, protocolVersion, tools: usable, ...more };
    });
  }

  async callTool({ tool, arguments: args, signal, meta, onProgress, ...whose }: McpCall): Promise<McpResult> {
    const { clock, scrubber } = this.#needs;
    return this.#use(signal, async (session) => {
      const onprogress = onProgress && limitProgress(clock, scrubber, onProgress);
      const options = { signal, timeout: NO_LIMIT_MS, ...(onprogress && { onprogress }) };
      const wanted =
        whose.onLog !== undefined && session.client.getProtocolEra() === 'modern' ? LOG_LEVEL : {};
      const said = { ...wanted, ...meta };
      const params = { name: tool, arguments: args, ...(Object.keys(said).length > 0 && { _meta: said }) };
      const { call, runTask } = session.caller;
      const asked: AskedInput[] = [];
      const isTask = this.#asTasks.has(tool) && runTask !== undefined;
      const run = isTask ? runTask : call;
      const own = { ...whose, signal, isTask, asked };
      return withAsked(await session.underWay.run(own, () => run(params, options)), asked);
    });
  }

  onToolsChanged(listener: () => void): () => void {
    // A wrapper: the same function may be given twice.
    const own = () => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#closing.abort(draining());
    this.#tellLater?.();
    this.#listeners.clear();
    const session = this.#session ?? (await this.#connecting?.catch(() => undefined));
    this.#session = undefined;
    await session?.close();
    this.#move(undefined);
  }

  async #use<Result>(signal: AbortSignal, work: (session: OwnSession) => Promise<Result>): Promise<Result> {
    signal.throwIfAborted();
    let used: OwnSession | undefined;
    const once = async () => {
      used = this.#open() ?? (await abortable(this.#ready(), signal));
      const result = await work(used);
      this.#budget.worked();
      return result;
    };
    try {
      return await once();
    } catch (error) {
      if (signal.aborted) this.#doubt();
      signal.throwIfAborted();
      if ((await used?.hasForgotten(error, signal)) !== true)
        throw failureOf(error, false, this.#needs.scrubber);
    }
    signal.throwIfAborted();
    // The server has forgotten the session, and so did nothing: once more, in a new one.
    if (used !== undefined) this.#lose(used);
    try {
      return await once();
    } catch (error) {
      signal.throwIfAborted();
      throw failureOf(error, false, this.#needs.scrubber);
    }
  }

  #open(): OwnSession | undefined {
    return !this.#closed && this.#session?.isOpen() === true ? this.#session : undefined;
  }

  #ready(): Promise<OwnSession> {
    if (this.#closed) return Promise.reject(draining());
    const open = this.#open();
    if (open !== undefined) return Promise.resolve(open);
    this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  async #connect(): Promise<OwnSession> {
    const { metrics, log } = this.#needs;
    const retryAfterMs = this.#budget.spentForMs();
    if (retryAfterMs > 0) throw givenUp(retryAfterMs, this.#lastFailure);
    await this.#pause(this.#budget.delayMs());
    this.#move('connecting');
    try {
      const underWay = new CallsUnderWay();
      const events: SessionEvents = {
        toolsChanged: () => this.#tellChange(),
        logged: (log) => underWay.logged(log),
        asked: (input) => underWay.wasAsked(input),
        lost: () => this.#lose(session),
      };
      const settings = await startedFrom(this.#settings, this.#needs.packages, this.#closing.signal);
      const connected = await connect(settings, this.#needs, events, this.#closing.signal);
      const session: OwnSession = { ...connected, underWay };
      if (this.#closed) {
        await session.close();
        throw draining();
      }
      this.#session = session;
      metrics.connects.with(this.#transport, 'ok').add();
      this.#move('ready');
      log.info(
        { server: this.#needs.scrubber.cut(session.server.name, 100), protocol: session.protocolVersion },
        'connected to an MCP server',
      );
      if (this.#connectedBefore) this.#tellChange();
      this.#connectedBefore = true;
      return session;
    } catch (error) {
      // Nobody waits for it any more: it has not failed.
      if (this.#closed) throw draining();
      this.#move('failing');
      metrics.connects.with(this.#transport, 'failed').add();
      this.#failed(error);
      throw error;
    }
  }

  #lose(session: Session): void {
    if (this.#session !== session) return;
    this.#session = undefined;
    this.#needs.metrics.lost.with(this.#transport).add();
    this.#move('failing');
    this.#failed(connectionLost());
    void session.close();
  }

  /** A call was given up: is only that call slow, or does the server do nothing any more? Then the next call gets another one. */
  #doubt(): void {
    const session = this.#session;
    // Over HTTP nothing can be started anew from here, and each request has a connection of its own.
    if (this.#transport !== 'stdio' || session === undefined || this.#doubted === session) return;
    this.#doubted = session;
    void within(this.#needs.clock, { ms: PROBE_MS }, (late) => session.isAlive(late)).then((isAlive) => {
      if (this.#doubted === session) this.#doubted = undefined;
      if (isAlive || this.#closed || this.#session !== session) return;
      this.#needs.log.warn(
        {},
        'an MCP server does not answer any more: it is disconnected, and the next call connects again',
      );
      this.#lose(session);
    });
  }

  #failed(error: unknown): void {
    if (this.#closed) return;
    if (!isNotInstalled(error)) this.#budget.failed();
    this.#lastFailure = error;
    const reason = error instanceof ToolFailure ? error.reason : 'CONNECT_FAILED';
    const cause = error instanceof Error ? error.cause : undefined;
    this.#needs.log.warn({ reason, err: cause }, 'an MCP server failed; the next call connects again');
  }

  #tellChange(): void {
    this.#tellLater ??= this.#needs.clock.after(CHANGES_MS, () => {
      this.#tellLater = undefined;
      for (const listener of this.#listeners) listener();
    });
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#closing;
    if (ms > 0) await pause(this.#needs.clock, ms, signal);
    if (signal.aborted) throw draining();
  }

  #move(to: ConnectionState | undefined): void {
    if (this.#closed && to !== undefined) return;
    this.#needs.metrics.moved(this.#transport, this.#state, to);
    this.#state = to;
  }
}
