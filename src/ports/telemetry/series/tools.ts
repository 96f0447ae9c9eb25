// Series of the tools in force: reloads, replicas, sources, MCP servers, workers.
import { named } from './series-definition.ts';

export const TOOLS_SERIES = named({
  ute_plans_total: {
    type: 'counter',
    help: 'Plans of agents by event: kept as a tool, withdrawn, refused before or after a human was asked.',
    labels: ['event'],
  },
  ute_sandbox_runs_total: {
    type: 'counter',
    help: 'Commands run in the sandbox, by back end and how they ended.',
    labels: ['backend', 'ended'],
  },
  ute_tool_definitions: {
    type: 'gauge',
    help: 'Definitions of tools on MCP servers by how they stand to what was agreed to.',
    labels: ['state'],
  },
  ute_grpc_upstream_calls_total: {
    type: 'counter',
    help: 'Calls of gRPC upstreams by the status that they ended in; NOT_CONNECTED for those that had no connection.',
    labels: ['status'],
  },
  ute_embedding_requests_total: {
    type: 'counter',
    help: 'Texts that were to be embedded, by outcome: ok, failed, refused for what the text is, or left_out while the service is not asked after failures.',
    labels: ['outcome'],
  },
  ute_smtp_messages_total: {
    type: 'counter',
    help: 'Messages by how handing them to a mail server ended (accepted, partly_accepted, deferred, refused, not_sent, unknown, abandoned, failed).',
    labels: ['outcome'],
  },
  ute_smtp_connects_total: {
    type: 'counter',
    help: 'Attempts to connect to a mail server, by outcome (ok, failed).',
    labels: ['outcome'],
  },
  ute_mcp_connections: {
    type: 'gauge',
    help: 'MCP servers that tools or loaders hold, by transport and by the state of the connection.',
    labels: ['transport', 'state'],
  },
  ute_mcp_connects_total: {
    type: 'counter',
    help: 'Attempts to start or reach an MCP server, by outcome (ok, failed).',
    labels: ['transport', 'outcome'],
  },
  ute_mcp_connections_lost_total: {
    type: 'counter',
    help: 'Connections to MCP servers that ended although the gateway did not end them.',
    labels: ['transport'],
  },
  ute_mcp_unexpected_messages_total: {
    type: 'counter',
    help: 'Messages of MCP servers that nobody asked for, by kind.',
    labels: ['kind'],
  },
  ute_loader_fetches_total: {
    type: 'counter',
    help: 'Looks of loaders at remote sources, by outcome.',
    labels: ['loader', 'source', 'outcome'],
  },
  ute_web_pages_total: {
    type: 'counter',
    help: 'Pages that tools asked for, by outcome: read, or what kept them from it.',
    labels: ['outcome'],
  },
  ute_executor_workers: {
    type: 'gauge',
    help: 'Worker processes that are ready, by executor.',
    labels: ['executor'],
  },
  ute_executor_worker_restarts_total: {
    type: 'counter',
    help: 'Worker processes that ended and were replaced, by executor and reason.',
    labels: ['executor', 'reason'],
  },
  ute_config_last_reload_successful: {
    type: 'gauge',
    help: '1 if the last load of the tools was taken, 0 if it was refused.',
  },
  ute_config_last_reload_success_timestamp_seconds: {
    type: 'gauge',
    help: 'When a load was last taken, Unix time.',
  },
  ute_tool_search_duration_seconds: {
    type: 'histogram',
    help: 'Searches for tools, without the time that a set takes to be read first.',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1],
  },
  ute_toolset_tools: { type: 'gauge', help: 'Tools of a toolset.', labels: ['toolset'] },
  ute_registry_tools: { type: 'gauge', help: 'Tools in force.' },
  ute_config_reloads_total: { type: 'counter', help: 'Loads of the tools by outcome.', labels: ['outcome'] },
  ute_loader_source_stale: {
    type: 'gauge',
    help: '1 while a source of tools cannot be used and what is kept of it stays in force.',
    labels: ['loader', 'source'],
  },
  ute_replicas: { type: 'gauge', help: 'Replicas that live, this one included.' },
  ute_registry_disagreement: {
    type: 'gauge',
    help: '1 while another replica holds other tools than this one.',
  },
  ute_registry_generation: {
    type: 'gauge',
    help: 'Which set of tools is in force: 1 for the first that this process took, one more with each change.',
  },
});
