// What operators see of MCP servers: connections by state, attempts to connect by outcome, messages nobody asked for.
import type { Counter, Gauge, Labelled, Metrics } from '../../ports/telemetry/metrics.ts';

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
  const connections: Labelled<Gauge> = metrics.gauge({
    name: 'ute_mcp_connections',
    help: 'MCP servers that tools or loaders hold, by transport and by the state of the connection.',
    labels: ['transport', 'state'],
  });
  return {
    moved: (transport, from, to) => {
      if (from !== undefined) connections.with(transport, from).add(-1);
      if (to !== undefined) connections.with(transport, to).add(1);
    },
    connects: metrics.counter({
      name: 'ute_mcp_connects_total',
      help: 'Attempts to start or reach an MCP server, by outcome (ok, failed).',
      labels: ['transport', 'outcome'],
    }),
    lost: metrics.counter({
      name: 'ute_mcp_connections_lost_total',
      help: 'Connections to MCP servers that ended although the gateway did not end them.',
      labels: ['transport'],
    }),
    violations: metrics.counter({
      name: 'ute_mcp_unexpected_messages_total',
      help: 'Messages of MCP servers that nobody asked for, by kind.',
      labels: ['kind'],
    }),
  };
}
