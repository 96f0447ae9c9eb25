// Voice calls over streams: 200 sessions, each with a turn of two calls every five seconds, on 100,000 bookings behind row-level security.
// An open loop: turns begin when it is their time, whether the turns before have ended or not.
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { createApiKey } from '../dist/lib/secrets/api-key.js';
import { startPostgres } from '../test/helpers/postgres.ts';
import { startGateway } from './children.js';
import { number, report } from './measure.js';
import { READ_ONLY, toolsFile } from './tools-file.js';

const SESSIONS = 200;
const TENANTS = 10;
const TURN_MS = 5_000;
const TURNS = 8;
/** Connections are opened and statements prepared in the first of them. */
const WARM_UP_TURNS = 2;
const BOOKINGS = 100_000;
const MOST_MS = 200;

const policy = (table) => `
  ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
  ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
  CREATE POLICY own_rows ON ${table} USING (business_id = NULLIF(current_setting('app.tenant_id', true), ''));
  GRANT SELECT ON ${table} TO agent;`;

const SCHEMA = `
  CREATE ROLE agent LOGIN;
  CREATE TABLE bookings (
    id bigint PRIMARY KEY, business_id text NOT NULL, customer_phone text NOT NULL, customer_name text NOT NULL,
    service text NOT NULL, booking_datetime timestamptz NOT NULL, status text NOT NULL);
  INSERT INTO bookings
    SELECT n, 'tenant-' || (n % ${TENANTS}), '+614' || lpad((n / ${TENANTS} % 2000)::text, 8, '0'), 'Customer ' || n, 'Haircut',
      timestamptz '2026-01-01' + n * interval '1 minute', 'confirmed'
    FROM generate_series(1, ${BOOKINGS}) n;
  CREATE INDEX ON bookings (business_id, customer_phone, booking_datetime DESC);
  CREATE TABLE policies (business_id text NOT NULL, topic text NOT NULL, content text NOT NULL, PRIMARY KEY (business_id, topic));
  INSERT INTO policies SELECT 'tenant-' || t, 'topic ' || n, 'Policy ' || n || ' of tenant-' || t
    FROM generate_series(0, ${TENANTS - 1}) t, generate_series(1, 20) n;
  ${policy('bookings')}
  ${policy('policies')}
  ANALYZE;`;

const retrieval = (name, properties, statement) => ({
  name,
  description: name,
  tool_type: 'sql',
  input_schema: {
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  },
  implementation_config: { connection: 'salon', statement },
  metadata: { ...READ_ONLY, category: 'retrieval', modes: ['live_call'] },
});

const tools = (url) => ({
  connections: { salon: { type: 'postgres', url, pool_size: 10 } },
  tools: [
    retrieval(
      'get_latest_booking',
      { customer_phone: { type: 'string', maxLength: 20 } },
      'SELECT id, business_id, customer_name, service, booking_datetime, status FROM bookings WHERE customer_phone = {customer_phone} ORDER BY booking_datetime DESC LIMIT 1',
    ),
    retrieval(
      'get_policies',
      { topic: { type: 'string', maxLength: 60 } },
      'SELECT business_id, topic, content FROM policies WHERE topic = {topic}',
    ),
  ],
});

export async function stream() {
  const postgres = await startPostgres(SCHEMA);
  const file = toolsFile(tools(postgres.url('agent')));
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
      modes: {},
      database: { url: postgres.url() },
    },
  });
  const times = [];
  const calls = { failed: new Map(), foreign: 0 };
  const sessions = Array.from({ length: SESSIONS }, (_, index) =>
    voiceCall(gateway, keys[index % TENANTS], index, { times, calls }),
  );
  await Promise.all(sessions);
  await gateway.stop();
  await postgres.stop();
  file.gone();
  times.sort((a, b) => a - b);
  const failed = [...calls.failed].map(([reason, count]) => `${count} ${reason}`).join(', ') || 'none';
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
  report(
    `streams, ${SESSIONS} voice calls on ${BOOKINGS.toLocaleString('en')} bookings, a tool as it is heard`,
    `${number(at(0.99))} ms p99 (${number(at(0.5))} median, ${number(at(1))} most) of ${times.length} calls`,
    '–',
    `failed: ${failed}; answers of another tenant: ${calls.foreign}`,
    `< ${MOST_MS} ms, none, 0`,
    at(0.99) < MOST_MS && calls.failed.size === 0 && calls.foreign === 0,
  );
}

/** @param {any} data */
const read = (data) => JSON.parse(data.toString('utf8'));

async function voiceCall(gateway, { text: key, tenant }, index, { times, calls }) {
  // Spread over the time of a turn.
  const beginsAt = performance.now() + (index / SESSIONS) * TURN_MS;
  await pause(Math.max(0, beginsAt - performance.now()));
  const socket = await begun(gateway, key, { user_id: `caller-${index}`, mode: 'live_call' });
  const waiting = new Map();
  const ended = new Promise((resolve) => socket.once('close', resolve));
  socket.on('message', (data) => {
    const message = read(data);
    if (message.type === 'tool_result') waiting.get(message.id)?.(message);
  });
  const say = (message) => socket.send(JSON.stringify(message));
  for (let turn = 0; turn < TURNS; turn += 1) {
    await pause(Math.max(0, beginsAt + (turn + 1) * TURN_MS - performance.now()));
    say({ type: 'turn_start' });
    say({ type: 'text_delta', text: 'One moment. ' });
    for (const { tool_name, arguments: args } of turnOf(index, turn)) {
      const id = `${turn}-${tool_name}`;
      const at = performance.now();
      waiting.set(id, ({ ok, result, error }) => {
        waiting.delete(id);
        if (turn < WARM_UP_TURNS) return;
        times.push(performance.now() - at);
        if (!ok) calls.failed.set(error.reason, (calls.failed.get(error.reason) ?? 0) + 1);
        else if (!JSON.stringify(result).includes(`"${tenant}"`)) calls.foreign += 1;
      });
      say({ type: 'tool_call', id, tool_name, arguments: args });
    }
    say({ type: 'text_delta', text: 'That is what I found.' });
  }
  say({ type: 'end' });
  await ended;
}

/** A stream, as a client has it that comes again when it is told to. */
async function begun(gateway, key, terms, tries = 20) {
  const headers = { authorization: `Bearer ${key}` };
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/stream`, 'ute.v1', { headers });
  const first = await new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('open', () => socket.send(JSON.stringify({ type: 'start', ...terms })));
    socket.once('message', (data) => resolve(read(data)));
  });
  if (first.type === 'started') return socket;
  if (tries === 0 || !first.error.retryable) throw new Error(first.error.message);
  await pause(500);
  return begun(gateway, key, terms, tries - 1);
}

const turnOf = (index, turn) => [
  {
    tool_name: 'get_latest_booking',
    arguments: { customer_phone: `+614${String((index * 37 + turn) % 2000).padStart(8, '0')}` },
  },
  { tool_name: 'get_policies', arguments: { topic: `topic ${((index + turn) % 20) + 1}` } },
];
