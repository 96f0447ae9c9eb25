// Definitions: what a server says its tools are, asked for again when it may have changed, once for all of its tools.
import { within } from '../../lib/timers/within.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { abortable } from '../../lib/concurrency/abortable.ts';
import { definitionHash } from '../../lib/mcp/mcp-definition.ts';
import type { Clock } from '../../ports/clock.ts';
import type { McpServer, McpTool } from '../../ports/egress/mcp-servers.ts';

/** A server that does not say how long its list holds, or says that it never does. */
const DEFAULT_TTL_MS = 60_000;
const MIN_TTL_MS = 5_000;
const MAX_TTL_MS = 300_000;
const LIST_TIMEOUT_MS = 30_000;

type Tools = ReadonlyMap<string, { readonly tool: McpTool; readonly hash: string }>;

export class Definitions {
  readonly #server: McpServer;
  readonly #clock: Clock;
  readonly #stopListening: () => void;
  #known: Tools | undefined;
  #staleAt = 0;
  #asking: Promise<Tools> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  /** How often the server said that something has changed. */
  #changes = 0;

  constructor(server: McpServer, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
    this.#stopListening = server.onToolsChanged(() => {
      this.#known = undefined;
      // What is under way may be of before the change.
      this.#asking = undefined;
      this.#changes += 1;
    });
  }

  /** Names of the tools that the server offers. */
  async names(signal: AbortSignal): Promise<readonly string[]> {
    return [...(await this.#tools(signal)).keys()];
  }

  /** Throws ToolFailure where the tool is not what `hash` stands for. */
  async check(tool: string, hash: string, signal: AbortSignal): Promise<void> {
    let found = (this.#fresh() ?? (await this.#tools(signal))).get(tool);
    // The hash may be of a newer definition than the list that is kept: it is asked for again, but not at every call.
    if (found?.hash !== hash && this.#clock.now() - this.#askedAt >= MIN_TTL_MS) {
      found = (await this.#askTogether(signal)).get(tool);
    }
    if (found?.hash === hash) return;
    const what = found === undefined ? 'does not offer this tool any more' : 'has changed what this tool is';
    throw new ToolFailure('UNAVAILABLE', `The MCP server ${what}: its operator has to agree to it anew.`, {
      reason: 'TOOL_DEFINITION_CHANGED',
      retryable: false,
      partialSideEffects: false,
      ...(found !== undefined && { details: { definition_hash: found.hash } }),
    });
  }

  close(): void {
    this.#stopListening();
  }

  #fresh(): Tools | undefined {
    return this.#clock.now() < this.#staleAt ? this.#known : undefined;
  }

  #tools(signal: AbortSignal): Promise<Tools> {
    const fresh = this.#fresh();
    return fresh === undefined ? this.#askTogether(signal) : Promise.resolve(fresh);
  }

  #askTogether(signal: AbortSignal): Promise<Tools> {
    this.#asking ??= this.#ask();
    return abortable(this.#asking, signal);
  }

  #ask(): Promise<Tools> {
    const asking = this.#list().finally(() => {
      if (this.#asking === asking) this.#asking = undefined;
    });
    return asking;
  }

  async #list(): Promise<Tools> {
    const late = toolFailure('LIST_TIMEOUT', 'The MCP server does not say which tools it has.', {
      partialSideEffects: false,
    });
    const changes = this.#changes;
    this.#askedAt = this.#clock.now();
    const list = (signal: AbortSignal) => this.#server.listTools(signal);
    const { tools, ttlMs = DEFAULT_TTL_MS } = await within(this.#clock, { ms: LIST_TIMEOUT_MS, late }, list);
    const known = new Map(tools.map((tool) => [tool.name, { tool, hash: definitionHash(tool) }]));
    if (changes === this.#changes) {
      this.#known = known;
      this.#staleAt = this.#clock.now() + Math.min(MAX_TTL_MS, Math.max(MIN_TTL_MS, ttlMs));
    }
    return known;
  }
}
