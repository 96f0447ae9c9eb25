// McpServers on the official SDK, which is loaded when the first server is connected to, and not before.
import { canonicalHash } from '../../lib/json/canonical-json.ts';
import { nameOf } from '../../lib/mcp/mcp-package.ts';
import { mcpSecrets } from '../../lib/mcp/mcp-settings.ts';
import { secretScrubber, type SecretScrubber } from '../../lib/secrets/scrub-secrets.ts';
import type { Clock } from '../../ports/clock.ts';
import type { HttpClient } from '../../ports/egress/http-client.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { McpServer, McpServers, McpServerSettings } from '../../ports/egress/mcp-servers.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import type { ProcessSpawner } from '../../ports/egress/process-spawner.ts';
import { defineMcpMetrics } from './mcp-metrics.ts';
import { ServerConnection } from './server-connection.ts';
import type { SessionNeeds } from './session-needs.ts';
import type { Packages } from './start/started-from.ts';

export interface SdkMcpServersOptions {
  readonly spawner: ProcessSpawner;
  readonly packages: Packages;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly random?: () => number;
}

export class SdkMcpServers implements McpServers {
  readonly #needs: Omit<SessionNeeds, 'scrubber'>;
  readonly #shared = new Map<string, { readonly connection: ServerConnection; users: number }>();

  constructor({ metrics, random = Math.random, log, ...rest }: SdkMcpServersOptions) {
    this.#needs = { ...rest, log, random, metrics: defineMcpMetrics(metrics) };
  }

  open(settings: McpServerSettings, secrets: readonly string[]): McpServer {
    const key = canonicalHash([settings, secrets]);
    const log = this.#needs.log.child({ mcp_server: placeOf(settings) });
    const shared = this.#shared.get(key) ?? {
      connection: new ServerConnection(settings, {
        ...this.#needs,
        log,
        scrubber: scrubberOf(settings, secrets),
      }),
      users: 0,
    };
    this.#shared.set(key, shared);
    shared.users += 1;
    const { connection } = shared;
    const ends = new Set<() => void>();
    let held = true;
    return {
      prepare: (signal) => connection.prepare(signal),
      listTools: (signal) => connection.listTools(signal),
      callTool: (call) => connection.callTool(call),
      onToolsChanged: (listener) => {
        const end = connection.onToolsChanged(listener);
        ends.add(end);
        return () => {
          ends.delete(end);
          end();
        };
      },
      close: async () => {
        if (!held) return;
        held = false;
        for (const end of ends) end();
        shared.users -= 1;
        if (shared.users > 0) return;
        if (this.#shared.get(key) === shared) this.#shared.delete(key);
        await connection.close();
      },
    };
  }

  async close(): Promise<void> {
    const all = [...this.#shared.values()];
    this.#shared.clear();
    await Promise.allSettled(all.map(({ connection }) => connection.close()));
  }
}

function scrubberOf(settings: McpServerSettings, secrets: readonly string[]): SecretScrubber {
  return secretScrubber([...mcpSecrets(settings), ...secrets]);
}

/** For log lines: neither arguments nor path and query, which may hold secrets. */
function placeOf(settings: McpServerSettings): string {
  if (settings.kind === 'stdio')
    return settings.package?.packages.map(nameOf).join(', ') ?? settings.argv[0] ?? '';
  return new URL(settings.url).origin;
}
