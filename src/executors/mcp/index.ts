// The mcp executor: a tool is a tool of an MCP server, which is not trusted: bounded answers, pinned definitions.
import { within } from '../../lib/timers/within.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Executor, ExecutorPlugin, ExecutorTarget, PreparedFunction } from '../../contract/plugin.ts';
import type { Emit, ToolCall } from '../../contract/call/tool-call.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import { didYouMean } from '../../lib/text/did-you-mean.ts';
import { mcpConnectionSchema } from '../../lib/mcp/mcp-connection.ts';
import { nameOf } from '../../lib/mcp/mcp-package.ts';
import { mcpSettingsSchema, type McpExecutorSettings } from '../../lib/mcp/package-settings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { McpLog, McpProgress, McpServers, McpStdioSettings } from '../../ports/egress/mcp-servers.ts';
import { cleanFailure } from './clean-failure.ts';
import { mcpOptionsSchema, type McpOptions } from './options-schema.ts';
import { readResult, type ResultKind } from './read-result.ts';
import { SharedServers, type ServerLease } from './shared-servers.ts';
import { traceHeaders } from '../../lib/trace/trace-context.ts';

export interface McpNeeds {
  readonly settings?: McpExecutorSettings;
  readonly mcpServers: McpServers;
  readonly clock: Clock;
  readonly log: Log;
}

/** For a look at the server at load; it may still have to be started. */
const LOAD_TIMEOUT_MS = 30_000;

export const mcpExecutor: ExecutorPlugin<McpOptions, McpNeeds> = {
  name: 'mcp',
  summary:
    'Calls a tool of an MCP server, over stdio in a sandbox or over HTTP: pinned definitions, bounded answers, nothing inherited.',
  optionsSchema: mcpOptionsSchema,
  settingsSchema: () => mcpSettingsSchema,
  connectionTypes: { mcp: mcpConnectionSchema },
  create: (needs) => new McpExecutor(needs),
};

class McpExecutor implements Executor<McpOptions> {
  readonly #needs: McpNeeds;
  readonly #servers: SharedServers;

  constructor(needs: McpNeeds) {
    this.#needs = needs;
    this.#servers = new SharedServers(needs.mcpServers, needs.clock);
  }

  async prepare(target: ExecutorTarget<McpOptions>): Promise<PreparedFunction> {
    const { function: fn, options, connection } = target;
    if (connection === undefined) throw new Error(`There is no connection "${options.connection}".`);
    if (fn.action !== undefined)
      throw new Error('A tool of type mcp has no actions: declare a tool for each.');
    const lease = this.#servers.lease(connection, fn.spec.baseDir);
    try {
      await this.#checkAtLoad(lease, options, fn.name);
    } catch (error) {
      await lease.release();
      throw error;
    }
    const kind = options.result ?? (fn.outputSchema === undefined ? 'content' : 'structured');
    return {
      execute: (call, emit) => execute(lease, options, kind, call, emit),
      render: (call) => render(lease, options, call),
      upstream: `mcp:${connection.name}`,
      yieldsPlainJson: true,
      close: () => lease.release(),
    };
  }

  /**
   * A server that is down is no fault of the tool, and neither is one that has changed since its definition was agreed to:
   * those are said again at each call. A name that was never agreed to and is not there is a mistake.
   */
  async #checkAtLoad({ definitions, server }: ServerLease, options: McpOptions, tool: string): Promise<void> {
    const { connection, tool: name, definition_hash: hash } = options;
    const { log, clock } = this.#needs;
    const late = toolFailure('LIST_TIMEOUT', 'The MCP server does not answer.');
    const check = async (signal: AbortSignal) => {
      if (hash !== undefined) await definitions.check(name, hash, signal);
      else assertOffered(name, await definitions.names(signal));
    };
    try {
      // It has its own time: registries are slower than servers.
      await server.prepare(new AbortController().signal);
      await within(clock, { ms: LOAD_TIMEOUT_MS, late }, check);
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      const { reason, cause } = error;
      log.warn({ tool, connection, reason, err: cause }, `not ready: ${error.message}`);
    }
  }
}

async function execute(
  { server, definitions, scrubber }: ServerLease,
  { tool, definition_hash: hash }: McpOptions,
  kind: ResultKind,
  call: ToolCall,
  emit: Emit,
): Promise<ToolResult> {
  const { signal } = call;
  try {
    if (hash !== undefined) await definitions.check(tool, hash, signal);
    const meta = traceHeaders(call.context);
    const { tenantId: tenant } = call.context;
    const result = await server.callTool({
      tool,
      arguments: call.arguments,
      signal,
      ...(tenant !== undefined && { tenant }),
      ...(meta !== undefined && { meta }),
      // A server that nobody listens to is not asked for progress.
      ...(call.request.emit !== undefined && {
        onProgress: (progress: McpProgress) => emitProgress(progress, emit, scrubber.text),
        onLog: ({ level, message }: McpLog) => emit({ kind: 'log', level, message: scrubber.text(message) }),
      }),
    });
    return await scrubber.jsonInSlices(readResult(result, kind, scrubber));
  } catch (error) {
    throw cleanFailure(error, scrubber);
  }
}

function emitProgress(
  { progress, total, message }: McpProgress,
  emit: Emit,
  clean: (text: string) => string,
): void {
  emit({
    kind: 'progress',
    ...(total !== undefined && total > 0 && { fraction: Math.min(1, Math.max(0, progress / total)) }),
    ...(message !== undefined && { message: clean(message) }),
  });
}

function render({ settings, scrubber }: ServerLease, options: McpOptions, call: ToolCall): JsonObject {
  const place: JsonObject =
    settings.kind === 'stdio'
      ? { transport: 'stdio', ...programOf(settings), sandbox: settings.sandbox }
      : { transport: 'http', url: withoutQuery(settings.url) };
  return scrubber.json({
    server: { connection: options.connection, ...place },
    tool: options.tool,
    arguments: call.arguments,
  });
}

function programOf({ package: asked, argv }: McpStdioSettings): JsonObject {
  if (asked === undefined) return { command: argv[0] ?? '' };
  const [first = '', ...more] = asked.packages.map(nameOf);
  return { package: more.length === 0 ? first : [first, ...more] };
}

function withoutQuery(text: string): string {
  const { origin, pathname } = new URL(text);
  return origin + pathname;
}

function assertOffered(name: string, names: readonly string[]): void {
  if (names.includes(name)) return;
  const near = didYouMean(name, names);
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  throw new Error(`tool: the MCP server offers no tool ${JSON.stringify(name)}.${hint}`);
}
