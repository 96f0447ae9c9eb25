// An mcp-server loader over a server that lists what a test says, its pins, and a registry that takes what it brings.
import type { JsonObject } from '../../src/contract/json.ts';
import type { LoadedTools } from '../../src/contract/tool/loaded-tools.ts';
import type { ToolSpec } from '../../src/contract/tool/tool-spec.ts';
import { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import { mcpExecutor } from '../../src/executors/mcp/index.ts';
import { MemoryTrustedDefinitions } from '../../src/infra/definitions/memory-trusted-definitions.ts';
import { mcpServerLoader } from '../../src/loaders/mcp-server/index.ts';
import { optionsSchema } from '../../src/loaders/mcp-server/options.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { TrustedDefinitions, DefinitionState } from '../../src/ports/registry/trusted-definitions.ts';
import type { McpListing, McpServer, McpServers, McpTool } from '../../src/ports/egress/mcp-servers.ts';
import type { SpecRules } from '../../src/registry/spec-rules.ts';
import { validateLoaded } from '../../src/registry/checks/spec-validation.ts';
import { SourceLoader } from './loaded-source.ts';
import { RecordingLog, RecordingMetrics, realClock } from './python-ports.ts';

export function toolOf(name: string, changes: Partial<McpTool> = {}): McpTool {
  return { name, description: `Does ${name}.`, inputSchema: { type: 'object' }, ...changes };
}

export class FakeMcpServer implements McpServer, McpServers {
  tools: readonly McpTool[];
  away: ToolFailure | undefined;
  listed = 0;
  closed = 0;
  readonly listeners = new Set<() => void>();

  constructor(...tools: McpTool[]) {
    this.tools = tools;
  }

  goAway(): void {
    this.away = new ToolFailure('UNAVAILABLE', 'The MCP server does not answer.', {
      reason: 'CONNECT_FAILED',
    });
  }

  open(): McpServer {
    return this;
  }

  async prepare(): Promise<void> {}

  async listTools(): Promise<McpListing> {
    this.listed += 1;
    if (this.away !== undefined) throw this.away;
    return { server: { name: 'fake', version: '1' }, protocolVersion: '2025-11-25', tools: this.tools };
  }

  callTool(): never {
    throw new Error('nothing is called here');
  }

  onToolsChanged(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.closed += 1;
  }
}

const RULES: SpecRules = {
  executors: new Map([[mcpExecutor.name, mcpExecutor as never]]),
  extensions: new Map(),
};

export class LoaderBench {
  readonly log = new RecordingLog();
  readonly metrics = new RecordingMetrics();
  readonly trusted: TrustedDefinitions;
  readonly clock: Clock;
  readonly #loaders: SourceLoader[] = [];

  constructor(clock: Clock = realClock, trusted?: TrustedDefinitions) {
    this.clock = clock;
    this.trusted = trusted ?? new MemoryTrustedDefinitions({ clock, log: this.log, metrics: this.metrics });
  }

  loader(server: McpServers, options: JsonObject = {}): SourceLoader {
    const needs = {
      clock: this.clock,
      log: this.log,
      metrics: this.metrics,
      mcpServers: server,
      trustedDefinitions: this.trusted,
      configDir: '/nowhere',
    };
    const isStarted = ['command', 'package'].some((field) => options[field] !== undefined);
    const place = isStarted ? {} : { url: 'https://mcp.example/' };
    const said = { name: 'files', ...place, ...options };
    const loader = mcpServerLoader.create(needs)(optionsSchema.parse(said));
    const source = new SourceLoader('mcp-server', loader, needs);
    this.#loaders.push(source);
    return source;
  }

  /** Ends the threads that looked at schemas. */
  async close(): Promise<void> {
    await Promise.all(this.#loaders.map((loader) => loader.close()));
  }

  async states(): Promise<{ readonly [tool: string]: DefinitionState }> {
    return Object.fromEntries((await this.trusted.list()).map(({ tool, state }) => [tool, state]));
  }

  /** Why tools were left out, by the name that was logged. */
  leftOut(): ReadonlyMap<string, string> {
    const lines = this.log.lines.filter(({ message }) => message === 'a tool of an MCP server was left out');
    return new Map(lines.map(({ fields }) => [String(fields['tool']), String(fields['reason'])]));
  }
}

/** What the registry makes of it; a problem is an error. */
export function specsOf(...loaded: readonly LoadedTools[]): ReadonlyMap<string, ToolSpec> {
  const { tools, problems } = validateLoaded(loaded, RULES);
  if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join('\n'));
  return new Map(tools.map(({ spec }) => [spec.name, spec]));
}

export function problemsOf(...loaded: readonly LoadedTools[]): readonly string[] {
  return validateLoaded(loaded, RULES).problems.map(({ message }) => message);
}
