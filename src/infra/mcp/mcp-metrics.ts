// What operators see of MCP servers: connections by state, attempts to connect by outcome, messages nobody asked for.
import type { Counter, Gauge, Labelled, Metrics } from '../../ports/telemetry/metrics.ts';
import { TOOLS_SERIES } from '../../ports/telemetry/series/tools.ts';

export type ConnectionState = 'idle' | 'connecting' | 'ready' | 'failing';
export type Transport = 'stdio' | 'http';

export interface McpMetrics {
  /** A connection goes from one state to another; undefined: it is not there. */
  moved(transport: Transport, from: ConnectionState | undefined, to: ConnectionState | undefined): void;
  readonly connects: Labelled<Counter>;
  readonly lost: Labelled<Counter>;
  readonly violations: Labelled<Counter>;
}

export function defineMcpMetrics(metrics: Metrics): McpMetrics {
  const connections: Labelled<Gauge> = metrics.gauge(TOOLS_SERIES.ute_mcp_connections);
  return {
    moved: (transport, from, to) => {
      if (from !== undefined) connections.with(transport, from).add(-1);
      if (to !== undefined) connections.with(transport, to).add(1);
    },
    connects: metrics.counter(TOOLS_SERIES.ute_mcp_connects_total),
    lost: metrics.counter(TOOLS_SERIES.ute_mcp_connections_lost_total),
    violations: metrics.counter(TOOLS_SERIES.ute_mcp_unexpected_messages_total),
  };
}
