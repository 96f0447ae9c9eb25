// Real MCP servers and the adapter of the port around them, for tests: sandboxed processes, and HTTP on loopback.
import { join } from 'node:path';
import { getuid } from 'node:process';
import type { JsonObject } from '../../src/contract/json.ts';
import { UndiciHttpClient } from '../../src/infra/http/undici-http-client.ts';
import { SdkMcpServers } from '../../src/infra/mcp/sdk-mcp-servers.ts';
import { PackageStore } from '../../src/infra/packages/package-store.ts';
import { mcpConnectionSchema } from '../../src/lib/mcp/mcp-connection.ts';
import { mcpSettings } from '../../src/lib/mcp/mcp-settings.ts';
import { SANDBOX_DEFAULTS } from '../../src/lib/sandbox-settings.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { HttpClient } from '../../src/ports/egress/http-client.ts';
import type { McpCall, McpResult, McpServer } from '../../src/ports/egress/mcp-servers.ts';
import type { ChildProcess, ProcessSpawner } from '../../src/ports/egress/process-spawner.ts';
import { RecordingLog, RecordingMetrics, realClock } from './python-ports.ts';
import { SandboxBench } from './sandbox.ts';

export const FIXTURES = join(import.meta.dirname, '../fixtures/mcp');
export const NODE_MODULES = join(import.meta.dirname, '../../node_modules');
export const EVERYTHING = join(NODE_MODULES, '@modelcontextprotocol/server-everything/dist/index.js');
export const FILESYSTEM = join(NODE_MODULES, '@modelcontextprotocol/server-filesystem/dist/index.js');

export interface McpBenchOptions {
  readonly http?: HttpClient;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** Where packages are installed; a folder of its own when left out. */
  readonly packagesDir?: string;
}

export class McpBench {
  readonly sandbox = new SandboxBench();
  readonly log = new RecordingLog();
  readonly metrics = new RecordingMetrics();
  readonly http: HttpClient;
  readonly spawner: ProcessSpawner;
  readonly servers: SdkMcpServers;
  /** Every server process that was started. */
  readonly children: ChildProcess[] = [];

  constructor({
    http = new UndiciHttpClient(),
    clock = realClock,
    random = () => 0,
    packagesDir,
  }: McpBenchOptions = {}) {
    this.http = http;
    this.spawner = {
      spawn: async (request) => {
        const child = await this.sandbox.spawner.spawn(request);
        this.children.push(child);
        return child;
      },
    };
    const { spawner, log, metrics } = this;
    const packages = new PackageStore({
      root: packagesDir ?? join(this.sandbox.dir, 'packages'),
      dataDir: this.sandbox.dir,
      spawner,
      clock,
      log,
      user: getuid?.() === 0 ? { uid: SANDBOX_DEFAULTS.uid, gid: SANDBOX_DEFAULTS.gid } : undefined,
      timeoutMs: 120_000,
      maxBytes: 1 << 30,
    });
    this.servers = new SdkMcpServers({ spawner, packages, http, clock, log, metrics, random });
  }

  /** `connection` as it stands in tools.yaml, without its type. */
  open(connection: JsonObject, secrets: readonly string[] = []): McpServer {
    const settings = mcpConnectionSchema.parse({ type: 'mcp', ...connection });
    return this.servers.open(mcpSettings(settings, FIXTURES), secrets);
  }

  async close(): Promise<void> {
    await this.servers.close();
    await this.http.close();
    await this.sandbox.close();
  }
}

/** A Node program as a sandboxed server, with the packages of this repository to read. */
export function nodeServer(script: string, args: readonly string[] = [], more: JsonObject = {}): JsonObject {
  return {
    command: process.execPath,
    args: [script, ...args],
    readable: [NODE_MODULES, FIXTURES],
    memory_bytes: 1 << 30,
    ...more,
  };
}

/** The hand-written server that does as its first argument says. */
export function hostileServer(mode: string, more: JsonObject = {}): JsonObject {
  return nodeServer(join(FIXTURES, 'hostile.js'), [mode], more);
}

/** Of one tenant, so that words of a server which name no call are told also behind calls that were given up. */
export function callTool(
  server: McpServer,
  tool: string,
  args: JsonObject = {},
  extras: Partial<McpCall> = {},
): Promise<McpResult> {
  const signal = AbortSignal.timeout(20_000);
  return server.callTool({ tool, arguments: args, tenant: 'acme', signal, ...extras });
}

/** The text of the first block. */
export function textOf({ content }: McpResult): string {
  const text = content[0]?.['text'];
  if (typeof text !== 'string') throw new Error('the answer does not begin with a text');
  return text;
}
