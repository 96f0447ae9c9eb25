// mcp-server: the tools of an MCP server, each as it was agreed to. What the server says now is compared, and never just taken.
import { hash } from 'node:crypto';
import type { JsonObject } from '../../contract/json.ts';
import type { LoadedTools, Problem, RawDeclaration } from '../../contract/tool/loaded-tools.ts';
import type { Loader, LoaderPlugin } from '../../contract/plugin.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { Slices } from '../../lib/concurrency/in-slices.ts';
import { parseDuration } from '../../lib/text/duration.ts';
import { ForeignSchemas } from '../../lib/json-schema/foreign/foreign-schemas.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DefinitionPins, DefinitionRecord } from '../../ports/registry/definition-pins.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { McpListing, McpServers } from '../../ports/egress/mcp-servers.ts';
import { optionsSchema, type McpServerOptions } from './options.ts';
import { OwnConnection, type OpenedConnection } from './own-connection.ts';
import { readListing } from './read-listing.ts';
import { Reporter } from './reporter.ts';
import { Screening } from './screening.ts';
import { declarationOf } from './tool-declaration.ts';
import { watchServer } from './watch-server.ts';

interface Needs {
  readonly clock: Clock;
  readonly log: Log;
  readonly mcpServers: McpServers;
  readonly definitionPins: DefinitionPins;
  readonly configDir: string;
}

export const mcpServerLoader: LoaderPlugin<McpServerOptions, Needs> = {
  name: 'mcp-server',
  summary: 'Makes a tool of each tool of an MCP server, pinned to the definition that was agreed to.',
  optionsSchema,
  create: (needs) => (options: McpServerOptions) => new McpServerLoader(options, needs),
  needsNetwork: () => true,
};

const AWAY_MS = 15_000;
const LIST_TIMEOUT_MS = 60_000;

class McpServerLoader implements Loader {
  readonly #options: McpServerOptions;
  readonly #needs: Needs;
  readonly #connection: OwnConnection;
  readonly #screening: Screening;
  readonly #reporter: Reporter;
  #loaded: string | undefined;

  constructor(options: McpServerOptions, needs: Needs) {
    const { clock, log, mcpServers, configDir } = needs;
    this.#options = options;
    this.#needs = needs;
    this.#connection = new OwnConnection(options.name, options.connection, {
      baseDir: configDir,
      servers: mcpServers,
      learned: (secrets) => log.hide?.(secrets),
    });
    const schemas = new ForeignSchemas((ms, task) => clock.after(ms, task));
    this.#screening = new Screening(schemas, () => clock.now());
    this.#reporter = new Reporter(log.child({ loader: 'mcp-server', server: options.name }));
  }

  async load(signal: AbortSignal): Promise<LoadedTools> {
    const opened = await this.#connection.open();
    if ('problems' in opened) return { tools: [], connections: [], problems: opened.problems };
    const listing = await this.#list(opened, signal);
    if ('why' in listing) {
      this.#loaded = undefined;
      this.#reporter.away(listing.why, listing.cause);
      return this.#withoutServer(opened, listing.why);
    }
    this.#loaded = fingerprintOf(listing);
    const loaded = await this.#withListing(opened, listing).catch((error: unknown) => {
      // What is in force stays, and the list is asked for again as if the server had been away.
      this.#loaded = undefined;
      throw error;
    });
    if (this.#screening.isIncomplete) this.#loaded = undefined;
    return loaded;
  }

  async watch(changed: () => void, signal: AbortSignal): Promise<void> {
    const everyMs = parseDuration(this.#options.refresh_interval) ?? 0;
    const watch = {
      clock: this.#needs.clock,
      everyMs,
      awayMs: Math.min(everyMs, AWAY_MS),
      random: Math.random,
      server: () => this.#connection.server,
      loaded: () => this.#loaded,
      current: (stop: AbortSignal) => this.#fingerprint(stop),
    };
    await watchServer(watch, changed, signal);
    await Promise.allSettled([this.#connection.close(), this.#screening.close()]);
  }

  async #withListing(opened: OpenedConnection, listing: McpListing): Promise<LoadedTools> {
    const { name, pin } = this.#options;
    this.#screening.begin();
    const screen = (id: string, definition: JsonObject) => this.#screening.screen(id, definition);
    const { definitions, leftOut } = await readListing(listing.tools, this.#options, screen);
    const { definitionPins } = this.#needs;
    const records = await definitionPins.record({
      server: name,
      definitions,
      pinFirst: pin === 'on_first_use',
    });
    this.#reporter.listing(leftOut, records);
    return this.#toolsOf(opened, records, []);
  }

  /** What was agreed to stays in force: nobody gains anything by keeping a server from being asked. */
  async #withoutServer(opened: OpenedConnection, why: string): Promise<LoadedTools> {
    const { name, required } = this.#options;
    const kept = await this.#needs.definitionPins.of(name);
    const what =
      kept === undefined
        ? 'and no definitions of its tools are kept'
        : 'the definitions kept of its tools stay in force';
    const problem: Problem = {
      file: `mcp-server:${name}`,
      message: `the server cannot be asked for its tools (${why}), ${what}`,
    };
    if (kept === undefined && required) return { tools: [], connections: [], problems: [problem] };
    this.#screening.begin();
    return this.#toolsOf(opened, kept ?? [], [problem]);
  }

  async #toolsOf(
    { raw }: OpenedConnection,
    records: readonly DefinitionRecord[],
    warnings: readonly Problem[],
  ): Promise<LoadedTools> {
    const tools: RawDeclaration[] = [];
    const slices = new Slices();
    for (const record of records) {
      await slices.next();
      const { pinned, state } = record;
      if (pinned === undefined || state === 'gone') continue;
      const screened = await this.#screening.screen(pinned.hash, pinned.definition);
      this.#reporter.screened(record, screened);
      if ('refused' in screened) continue;
      tools.push(declarationOf(record, pinned, screened, this.#options, this.#needs.configDir));
    }
    this.#screening.end();
    return { tools, connections: [raw], problems: [], warnings };
  }

  /** Rejects only when the signal aborts. */
  async #list({ server, maxTools }: OpenedConnection, signal: AbortSignal): Promise<McpListing | Unlisted> {
    const late = new AbortController();
    const disarm = this.#needs.clock.after(LIST_TIMEOUT_MS, () => late.abort());
    try {
      const listing = await server.listTools(AbortSignal.any([signal, late.signal]));
      if (listing.tools.length <= maxTools) return listing;
      return { why: `it lists more tools than max_tools (${maxTools})` };
    } catch (error) {
      signal.throwIfAborted();
      if (late.signal.aborted) return { why: `no list within ${LIST_TIMEOUT_MS} ms` };
      if (!(error instanceof ToolFailure)) throw error;
      return { why: `${error.reason}: ${error.message}`, cause: error.cause };
    } finally {
      disarm();
    }
  }

  async #fingerprint(signal: AbortSignal): Promise<string | undefined> {
    const opened = await this.#connection.open();
    if ('problems' in opened) return undefined;
    const listing = await this.#list(opened, signal).catch(() => undefined);
    return listing === undefined || 'why' in listing ? undefined : fingerprintOf(listing);
  }
}

/** A server that cannot be asked, or gives what is no list. */
interface Unlisted {
  readonly why: string;
  readonly cause?: unknown;
}

/** Changes with every word of a list. */
function fingerprintOf({ tools }: McpListing): string {
  try {
    return hash('sha256', JSON.stringify(tools));
  } catch {
    return 'too deep to be compared';
  }
}
