// Series of the MCP door. Its calls count among all others as well.
import { named } from './series-definition.ts';

export const MCP_DOOR_SERIES = named({
  ute_mcp_door_requests_total: {
    type: 'counter',
    help: 'Messages of MCP clients, by method and outcome: ok, tool_error (a result with isError), error (of JSON-RPC), cancelled (nobody waited for the answer), refused (before it was known what it asks for).',
    labels: ['method', 'outcome'],
  },
  ute_mcp_door_request_duration_seconds: {
    type: 'histogram',
    help: 'Time of requests of MCP clients, waiting for humans and for tasks included.',
    labels: ['method'],
    buckets: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300],
  },
  ute_mcp_door_open_streams: {
    type: 'gauge',
    help: 'Streams that tell MCP clients of changes, open at this replica.',
  },
  ute_mcp_door_readers_sent_away_total: {
    type: 'counter',
    help: 'Streams of events to MCP clients that were closed since they were not read, by reason: stuck (nothing was taken for 30 s), too_slow (partial results came faster than they were read).',
    labels: ['reason'],
  },
  ute_mcp_door_sessions_total: {
    type: 'counter',
    help: 'Sessions that clients of 2025-11-25 and before have begun.',
  },
  ute_mcp_door_tasks_total: { type: 'counter', help: 'Calls that became tasks.' },
});
