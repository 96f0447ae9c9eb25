// mcp-server: the tools of an MCP server, each as it was agreed to. What the server says now is compared, and never just taken.
import { hash } from 'node:crypto';
import type { JsonObject } from '../../contract/json.ts';
import type { LoadedTools, RawDeclaration } from '../../contract/tool/loaded-tools.ts';
import type { Loader, LoaderPlugin } from '../../contract/plugin.ts';
import { SourceAway, type KeptTools } from '../../contract/tool/source-away.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { Slices } from '../../lib/concurrency/in-slices.ts';
import { AWAY } from '../../lib/files/poll-content.ts';
import { overrideFor } from '../../lib/overrides/tool-overrides.ts';
import { parseDuration } from '../../lib/text/duration.ts';
import { ForeignSchemas } from '../../lib/json-schema/foreign/foreign-schemas.ts';
import { LateError, within } from '../../lib/timers/within.ts';
import type { Clock } from '../../ports/clock.ts';
import type { TrustedDefinitions, DefinitionRecord } from '../../ports/registry/trusted-definitions.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { McpListing, McpServers } from '../../ports/egress/mcp-servers.ts';
import { optionsSchema, type McpServerOptions } from './options.ts';
import { OwnConnection, type OpenedConnection } from './own-connection.ts';
import { readListing } from './read-listing.ts';
import { Reporter } from './reporter.ts';
import { Screening, type ScreeningRound } from './screening.ts';
import { declarationOf } from './tool-declaration.ts';
import { watchServer } from './watch-server.ts';

interface Needs {
  readonly clock: Clock;
  readonly log: Log;
  readonly mcpServers: McpServers;
  readonly trustedDefinitions: TrustedDefinitions;
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
  readonly source: string;
  readonly required: boolean;
  readonly #options: McpServerOptions;
  readonly #needs: Needs;
  readonly #connection: OwnConnection;
  readonly #screening: Screening;
  readonly #reporter: Reporter;
  #loaded = AWAY;
  /** A look has just found the server away: the load that this causes does not ask once more. */
  #foundAway: SourceAway | undefined;

  constructor(options: McpServerOptions, needs: Needs) {
    const { clock, log, mcpServers, configDir } = needs;
    this.source = `mcp-server:${options.name}`;
    this.required = options.required;
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
    try {
      return await this.#fromServer(opened, signal);
    } catch (error) {
      this.#loaded = AWAY;
      throw error;
    }
  }

  /** What was agreed to stays in force: nobody gains anything by keeping a server from being asked. */
  async kept(): Promise<KeptTools | undefined> {
    const opened = await this.#connection.open();
    const records = await this.#needs.trustedDefinitions.of(this.#options.name);
    if ('problems' in opened || (records === undefined && this.required)) return undefined;
    const loaded = await this.#toolsOf(opened, records ?? [], this.#screening.begin());
    const says =
      records === undefined
        ? 'no definitions of its tools are kept'
        : 'the definitions kept of its tools stay in force';
    return { loaded, says };
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
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#connection.close(), this.#screening.close()]);
  }

  async #fromServer(opened: OpenedConnection, signal: AbortSignal): Promise<LoadedTools> {
    const found = this.#foundAway;
    this.#foundAway = undefined;
    if (found !== undefined) throw found;
    const listing = await this.#list(opened, signal);
    this.#foundAway = undefined;
    this.#loaded = fingerprintOf(listing);
    const round = this.#screening.begin();
    const loaded = await this.#withListing(opened, listing, round);
    // It is asked for again, as if the server had been away.
    if (round.isIncomplete) this.#loaded = AWAY;
    return loaded;
  }

  async #withListing(
    opened: OpenedConnection,
    listing: McpListing,
    round: ScreeningRound,
  ): Promise<LoadedTools> {
    const { name, pin } = this.#options;
    const screen = (id: string, definition: JsonObject) => round.screen(id, definition);
    const { definitions, leftOut, unused } = await readListing(listing.tools, this.#options, screen);
    const { trustedDefinitions } = this.#needs;
    const records = await trustedDefinitions.record({
      server: name,
      definitions,
      pinFirst: pin === 'on_first_use',
    });
    this.#reporter.listing(leftOut, records, unused);
    return this.#toolsOf(opened, records, round);
  }

  async #toolsOf(
    { raw }: OpenedConnection,
    records: readonly DefinitionRecord[],
    round: ScreeningRound,
  ): Promise<LoadedTools> {
    const tools: RawDeclaration[] = [];
    const slices = new Slices();
    for (const record of records) {
      await slices.next();
      const { pinned, state } = record;
      if (pinned === undefined || state === 'gone') continue;
      if (overrideFor(this.#options.overrides, [record.remoteName]).off === true) continue;
      const screened = await round.screen(pinned.hash, pinned.definition);
      this.#reporter.screened(record, screened);
      if ('refused' in screened) continue;
      tools.push(declarationOf(record, pinned, screened, this.#options, this.#needs.configDir));
    }
    this.#screening.end(round);
    return { tools, connections: [raw], problems: [] };
  }

  /** Throws SourceAway, or the signal's reason. */
  async #list({ server, maxTools }: OpenedConnection, signal: AbortSignal): Promise<McpListing> {
    let listing: McpListing;
    try {
      // It has its own time: registries are slower than servers.
      await server.prepare(signal);
      const limit = { ms: LIST_TIMEOUT_MS, signal };
      listing = await within(this.#needs.clock, limit, (either) => server.listTools(either));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof LateError) throw away(`no list within ${LIST_TIMEOUT_MS} ms`);
      if (!(error instanceof ToolFailure)) throw error;
      throw away(`${error.reason}: ${error.message}`, error.cause);
    }
    if (listing.tools.length > maxTools) throw away(`it lists more tools than max_tools (${maxTools})`);
    return listing;
  }

  async #fingerprint(signal: AbortSignal): Promise<string> {
    const opened = await this.#connection.open();
    if ('problems' in opened) return AWAY;
    try {
      return fingerprintOf(await this.#list(opened, signal));
    } catch (error) {
      if (error instanceof SourceAway && this.#loaded !== AWAY) this.#foundAway = error;
      return AWAY;
    }
  }
}

/** A server that cannot be asked, or gives what is no list. */
function away(why: string, cause?: unknown): SourceAway {
  return new SourceAway(`the server cannot be asked for its tools (${why})`, { cause });
}

/** Changes with every word of a list. */
function fingerprintOf({ tools }: McpListing): string {
  try {
    return hash('sha256', JSON.stringify(tools));
  } catch {
    return 'too deep to be compared';
  }
}
