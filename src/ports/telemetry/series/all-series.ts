// Every series that the gateway exports, those of the Node process apart. Pages, dashboards and alerts are made from it.
import { ACCESS_SERIES } from './access.ts';
import { CALLS_SERIES } from './calls.ts';
import { DEFERRED_SERIES } from './deferred.ts';
import { LIMITS_SERIES } from './limits.ts';
import { MCP_DOOR_SERIES } from './mcp-door.ts';
import { PROCESS_SERIES } from './process.ts';
import { RECORDS_SERIES } from './records.ts';
import { STREAM_SERIES } from './streams.ts';
import type { SeriesDefinition } from './series-definition.ts';
import { TOOLS_SERIES } from './tools.ts';

/** By area, in the order of the reference page. */
export const SERIES_BY_AREA = {
  Calls: CALLS_SERIES,
  'Limits and load': LIMITS_SERIES,
  'Calls that run later': DEFERRED_SERIES,
  Streams: STREAM_SERIES,
  'Approvals, rules and access': ACCESS_SERIES,
  'The MCP door': MCP_DOOR_SERIES,
  'Audit and retention': RECORDS_SERIES,
  'Tools and their sources': TOOLS_SERIES,
  'The process': PROCESS_SERIES,
} as const satisfies Record<string, Readonly<Record<string, SeriesDefinition>>>;

export const ALL_SERIES: Readonly<Record<string, SeriesDefinition>> = Object.assign(
  {},
  ...Object.values(SERIES_BY_AREA),
);
