// What a session needs of the gateway, and what it tells of.
import type { Clock } from '../../ports/clock.ts';
import type { HttpClient } from '../../ports/egress/http-client.ts';
import type { SecretScrubber } from '../../lib/secrets/scrub-secrets.ts';
import type { McpLog } from '../../ports/egress/mcp-servers.ts';
import type { ProcessSpawner } from '../../ports/egress/process-spawner.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { AskedInput } from './answers/calls-under-way.ts';
import type { McpMetrics } from './mcp-metrics.ts';
import type { Packages } from './start/started-from.ts';

export interface SessionNeeds {
  readonly spawner: ProcessSpawner;
  readonly packages: Packages;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: McpMetrics;
  readonly random: () => number;
  /** Of the connection's secrets: for whatever is cut. */
  readonly scrubber: SecretScrubber;
}

export interface SessionEvents {
  toolsChanged(): void;
  logged(log: McpLog): void;
  /** Asked for input, which it does not get. */
  asked(input: AskedInput): void;
  /** Once, after the handshake, when the server goes. */
  lost(): void;
}
