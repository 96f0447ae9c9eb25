// One gateway on the wire: how it stands, and the calls that are in it now.
import { z } from 'zod';
import { RUNNING_STATES } from '../../../ports/calls/running-calls.ts';
import { Part } from '../../health/schema.ts';
import { json, route } from '../route/route.ts';
import { count, flag, list, named, number, object, oneOf, text, time } from '../route/shapes.ts';

const TAG = 'admin';

const Status = named('Status', () =>
  z.object({
    version: text('Of the gateway.'),
    node: text('Version of Node.js.'),
    platform: text().meta({ examples: ['linux x64'] }),
    replica: text('Of this process, made when it starts.'),
    started_at: time(),
    uptime_s: number(),
    metrics_url: text(
      'Where its numbers are for Prometheus, as it listens: 0.0.0.0 stands for each address of its machine.',
    ).optional(),
    status: oneOf(['ok', 'degraded', 'unavailable']),
    reason: text('Why it takes no calls.').optional(),
    parts: z.record(z.string(), Part()),
    degraded: object('What it does without now, as in /readyz.'),
    notes: object('What the settings do without, as in /readyz.'),
    sandbox: object('What confines commands on this machine.').optional(),
    executors: object('What executors tell of themselves, by name.'),
    registry: z.object({ version: text(), tools: count(), reload_ok: flag(), loaded_at: text() }),
    replicas: z.object({ count: count('Those that share its Redis, itself included.'), agree: flag() }),
    calls: z.object({ running: count() }),
    memory: z.object({ rss_bytes: count(), heap_used_bytes: count(), external_bytes: count() }),
    cpu: z.object({ user_s: number(), system_s: number() }).describe('Processor time since the start.'),
    event_loop_lag_ms: number().describe('99th percentile of the last seconds.'),
  }),
);

export const RunningCall = named('RunningCall', () =>
  z.object({
    call_id: text(),
    tool: text('As the caller wrote it.'),
    door: text('`step`: asked for by another call.'),
    tenant: text('Empty until the credential was checked, as the four that follow.'),
    principal: text(),
    agent: text(),
    user: text(),
    session: text(),
    state: oneOf(RUNNING_STATES).describe('`waiting`: for capacity under a limit.'),
    attempts: count(),
    since: time(),
    age_ms: number(),
    remaining_ms: number().describe('Until it is given up.'),
    trace_id: text(),
  }),
);

const RunningCallList = named('RunningCallList', () =>
  z.object({
    replica: text('Which replica holds them: each tells of its own.'),
    running: count('All of them, also those that the list has no room for.'),
    calls: list(RunningCall()),
  }),
);

export const getStatus = route({
  operationId: 'getStatus',
  method: 'get',
  path: '/v1/admin/status',
  tag: TAG,
  summary: 'How this replica stands: its parts, its memory, what it does without',
  answers: { 200: json('The status.', Status) },
  problems: [],
});

export const listRunningCalls = route({
  operationId: 'listRunningCalls',
  method: 'get',
  path: '/v1/admin/running-calls',
  tag: TAG,
  summary: 'The calls that are in this replica now, those that have run longest first',
  answers: { 200: json('At most 1,000 of them, without their arguments.', RunningCallList) },
  problems: [],
});
