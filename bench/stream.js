// Voice calls over streams: 200 sessions of the pack receptionist, each with a turn of two calls every five seconds, on 100,000 bookings behind
// row-level security. An open loop: turns begin when it is their time, whether the turns before have ended or not. For the last turns the database
// of the tools is cut.
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { createApiKey } from '../dist/lib/secrets/api-key.js';
import { startPostgres } from '../test/helpers/postgres.ts';
import { startGateway } from './children.js';
import { number, report } from './measure.js';
import { databaseCpuMs } from './processor-time.js';
import { toolsFile } from './tools-file.js';
import { countCut, cut, nothingHeard, tellCut } from './voice-cut.js';
import { turnsOf } from './voice-script.js';

const SESSIONS = 200;
const TENANTS = 10;
const TURN_MS = 5_000;
const TURNS = 27;
/** Behind those, after a pause of one turn in which nothing is under way. */
const CUT_TURNS = 3;
/** Connections are opened and statements prepared in the first of them. */
const WARM_UP_TURNS = 2;
const BOOKINGS = 100_000;
const MOST_MS = 200;

const SCHEMA = `
  CREATE ROLE agent LOGIN NOSUPERUSER NOBYPASSRLS;
  ${readFileSync(join(import.meta.dirname, '../packs/receptionist/schema.sql'), 'utf8')}
  INSERT INTO businesses (id, name, services, working_hours, seats)
    SELECT 'tenant-' || t, 'Salon of tenant-' || t, '[{"name": "Haircut", "duration_minutes": 30, "price": "45.00"}]',
      (SELECT jsonb_object_agg(day, '[["00:00", "24:00"]]'::jsonb) FROM unnest(
        ARRAY['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']) AS day), 4
    FROM generate_series(0, ${TENANTS - 1}) t;
  INSERT INTO bookings (business_id, customer_phone, customer_name, service, booking_datetime, duration_minutes, ends_at, seat)
    SELECT 'tenant-' || (n % ${TENANTS}), '+614' || lpad((n / ${TENANTS} % 2000)::text, 8, '0'), 'Customer of tenant-' || (n % ${TENANTS}),
      'Haircut', at, 30, at + interval '30 minutes', 1
    FROM generate_series(0, ${BOOKINGS - 1}) n, LATERAL (SELECT date_trunc('day', now()) - interval '300 days' + n / ${TENANTS} * interval '1 hour' AS at) times;
  INSERT INTO policies (business_id, topic, content)
    SELECT 'tenant-' || t, 'topic ' || n, 'Policy ' || n || ' of tenant-' || t FROM generate_series(0, ${TENANTS - 1}) t, generate_series(1, 20) n;
  INSERT INTO faqs (business_id, topic, question, answer, tags)
    SELECT 'tenant-' || t, 'question ' || n, 'Question ' || n || '?', 'Answer ' || n || ' of tenant-' || t, ARRAY['tag ' || n]
    FROM generate_series(0, ${TENANTS - 1}) t, generate_series(1, 20) n;
  ANALYZE;`;

export async function stream() {
  const postgres = await startPostgres(SCHEMA, '128MB');
  // Both have a table of calls.
  await postgres.sql('CREATE DATABASE gateway');
  const connections = { bookings: { type: 'postgres', url: postgres.url('agent'), pool_size: 10 } };
  const file = toolsFile({ connections });
  const keys = Array.from({ length: TENANTS }, (_, index) => ({
    tenant: `tenant-${index}`,
    ...createApiKey(),
  }));
  const gateway = await startGateway({
    tools: file.path,
    settings: {
      auth: {
        keys: keys.map(({ id, secretHash, tenant }) => ({
          id,
          secret_sha256: secretHash.toString('hex'),
          tenant,
          roles: ['agent'],
        })),
      },
      loaders: [
        { type: 'yaml-file', paths: [file.path] },
        { type: 'pack', name: 'receptionist', connections: { receptionist: 'bookings' } },
      ],
      modes: {},
      database: { url: postgres.url().replace(/postgres$/, 'gateway') },
    },
  });
  const seen = {
    times: new Map(),
    failed: new Map(),
    foreign: 0,
    cached: 0,
    refusedStarts: 0,
    answered: 0,
    cut: nothingHeard(),
  };
  const begunAt = performance.now();
  const spent = processorTime(gateway, postgres, seen);
  const sessions = Array.from({ length: SESSIONS }, (_, index) =>
    voiceCall(gateway, keys[index % TENANTS], index, seen),
  );
  await pause((TURNS + 1.5) * TURN_MS - (performance.now() - begunAt));
  await cut(postgres);
  await Promise.all(sessions);
  const perCall = await spent;
  await gateway.stop();
  await postgres.stop();
  file.gone();
  tell(seen, perCall);
  tellCut(seen.cut, SESSIONS * CUT_TURNS * 2);
}

/** While all sessions talk: what a call costs the gateway and each database, cached answers among them, and how busy the machine is. */
async function processorTime(gateway, postgres, seen) {
  const reading = async () => ({
    calls: seen.answered,
    gateway: gateway.cpuMs(),
    databases: await databaseCpuMs(postgres),
  });
  await pause((WARM_UP_TURNS + 1) * TURN_MS);
  const before = await reading();
  await pause((TURNS - WARM_UP_TURNS - 1) * TURN_MS);
  const after = await reading();
  const calls = after.calls - before.calls;
  return {
    gateway: (after.gateway - before.gateway) / calls,
    ofTools: (after.databases.postgres - before.databases.postgres) / calls,
    ofGateway: (after.databases.gateway - before.databases.gateway) / calls,
    load: loadavg()[0],
  };
}

function tell({ times, failed, foreign, cached, refusedStarts }, { gateway, ofTools, ofGateway, load }) {
  const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  const tools = [...times].map(([tool, taken]) => [tool, taken.toSorted((a, b) => a - b)]);
  const slowest = Math.max(...tools.map(([, taken]) => at(taken, 0.99)));
  const count = tools.reduce((sum, [, taken]) => sum + taken.length, 0);
  const each = tools
    .map(([tool, taken]) => `${tool} ${number(at(taken, 0.99))} (${number(at(taken, 0.5))})`)
    .join(', ');
  const failures = [...failed].map(([reason, many]) => `${many} ${reason}`).join(', ') || 'none';
  report(
    `streams, ${SESSIONS} voice calls of the receptionist on ${BOOKINGS.toLocaleString('en')} bookings, a tool as it is heard`,
    `slowest tool ${number(slowest)} ms p99, of ${count} calls that ran and ${cached} from the cache; p99 (median) of each: ${each}; processor time of a call: gateway ${number(gateway)} ms, database of the tools ${number(ofTools)} ms, of the gateway ${number(ofGateway)} ms; load average ${number(load)}`,
    '–',
    `failed: ${failures}; answers of another tenant: ${foreign}; starts refused at first: ${refusedStarts}`,
    `< ${MOST_MS} ms each, none, 0, 0`,
    slowest < MOST_MS && failed.size === 0 && foreign === 0 && refusedStarts === 0,
  );
}

/** @param {any} data */
const read = (data) => JSON.parse(data.toString('utf8'));

async function voiceCall(gateway, { text: key, tenant }, index, seen) {
  // Spread over the time of a turn.
  const beginsAt = performance.now() + (index / SESSIONS) * TURN_MS;
  await pause(Math.max(0, beginsAt - performance.now()));
  const terms = { user_id: `caller-${index}`, mode: 'live_call' };
  const socket = await begun(gateway, key, terms, seen);
  const waiting = new Map();
  const ended = new Promise((resolve) => socket.once('close', resolve));
  socket.on('message', (data) => {
    const message = read(data);
    if (message.type === 'tool_result') waiting.get(message.id)?.(message);
  });
  const say = (message) => socket.send(JSON.stringify(message));
  const script = turnsOf({ index, place: Math.floor(index / TENANTS), tenant });
  for (let turn = 0; turn < TURNS + CUT_TURNS; turn += 1) {
    const isCut = turn >= TURNS;
    await pause(Math.max(0, beginsAt + (turn + (isCut ? 2 : 1)) * TURN_MS - performance.now()));
    say({ type: 'turn_start' });
    say({ type: 'text_delta', text: 'One moment. ' });
    for (const { tool, args, heard } of script(turn)) {
      const id = `${turn}-${tool}`;
      const at = performance.now();
      waiting.set(id, (message) => {
        waiting.delete(id);
        seen.answered += 1;
        heard?.(message.result);
        if (isCut) countCut(seen.cut, tool, message, isForeign(message.result, tenant));
        else if (turn >= WARM_UP_TURNS) count(seen, tool, tenant, performance.now() - at, message);
      });
      say({ type: 'tool_call', id, tool_name: tool, arguments: args });
    }
    say({ type: 'text_delta', text: 'That is what I found.' });
  }
  say({ type: 'end' });
  await ended;
}

function count(seen, tool, tenant, ms, { ok, result, error, meta }) {
  if (meta?.cached) seen.cached += 1;
  else seen.times.set(tool, [...(seen.times.get(tool) ?? []), ms]);
  const failure = ok ? meta.fallback && 'FALLBACK' : error.reason;
  if (failure) seen.failed.set(`${tool} ${failure}`, (seen.failed.get(`${tool} ${failure}`) ?? 0) + 1);
  if (isForeign(result, tenant)) seen.foreign += 1;
}

function isForeign(result, tenant) {
  const named = JSON.stringify(result ?? null).match(/tenant-\d+/g) ?? [];
  return named.some((each) => each !== tenant);
}

/** A stream, as a client has it that comes again when it is told to. */
async function begun(gateway, key, terms, seen, tries = 20) {
  const headers = { authorization: `Bearer ${key}` };
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/stream`, 'ute.v1', { headers });
  const first = await new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('open', () => socket.send(JSON.stringify({ type: 'start', ...terms })));
    socket.once('message', (data) => resolve(read(data)));
  });
  if (first.type === 'started') return socket;
  if (tries === 0 || !first.error.retryable) throw new Error(first.error.message);
  seen.refusedStarts += 1;
  await pause(500);
  return begun(gateway, key, terms, seen, tries - 1);
}
