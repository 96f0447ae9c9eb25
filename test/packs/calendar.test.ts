// The pack `calendar` (C5) against a server that speaks Calendar v3: the seed's parameters, bounds and arithmetic, and Google's errors.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { GoogleCalendar } from '../helpers/google-calendar.ts';
import { request, sendTo, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const TOKEN = 'ya29.the-token-of-the-desk';

let dir: string;
let google: GoogleCalendar;
let gateway: RunningGateway;
let caller: RestTarget;

beforeAll(async () => {
  google = await new GoogleCalendar().start();
  dir = tempDir();
  const api = {
    type: 'http',
    base_url: google.url,
    allow_private: ['127.0.0.0/8'],
    allow_ports: ['1-65535'],
  };
  writeFileSync(join(dir, 'tools.yaml'), stringify({ connections: { stand_in: api } }));
  gateway = await startGateway({
    tools: [],
    settings: {
      loaders: [
        { type: 'yaml-file', paths: [join(dir, 'tools.yaml')] },
        { type: 'pack', name: 'calendar', connections: { google_calendar: 'stand_in' } },
      ],
    },
    more: {
      boss: { tenant: 'acme', roles: ['admin'] },
      caller: { tenant: 'acme', roles: ['agent'], agents: ['desk', 'short', 'nobody'] },
    },
  });
  caller = gateway.key('caller');
  const boss = gateway.key('boss');
  for (const [name, config] of [
    ['desk', { calendar_id: 'desk@example.com' }],
    ['short', { calendar_id: 'desk@example.com', default_event_duration: 15 }],
  ] as const) {
    await request(boss, 'POST', '/v1/agents', { name });
    const account = { sensitive_config: { access_token: TOKEN } };
    for (const [tool, said] of [
      ['google_calendar', { config }],
      ['google_calendar_api', account],
    ] as const)
      await setUp(boss, `/v1/agents/${name}/tools/${tool}`, said);
  }
  await request(boss, 'POST', '/v1/agents', { name: 'nobody' });
});

afterAll(async () => {
  await gateway?.stop();
  removeDir(dir);
  await google?.close();
});

beforeEach(() => {
  google.events.clear();
  google.events.set('desk@example.com', []);
  google.tokens.clear();
  google.tokens.add(TOKEN);
  google.asked.length = 0;
  google.next = undefined;
  google.page = 250;
});

async function setUp(boss: RestTarget, path: string, said: object): Promise<void> {
  const { status } = await request(boss, 'PUT', path, said);
  if (status !== 200) throw new Error(`${path}: ${status}`);
}

const ask = async (action: string, said: Record<string, unknown>, agent = 'desk', more: object = {}) =>
  (
    await request<{ ok: boolean; data: Record<string, unknown>; error?: Record<string, unknown> }>(
      caller,
      'POST',
      `/v1/tools/google_calendar.${action}/execute`,
      { arguments: said, context: { agent_id: agent, ...more } },
    )
  ).body;

const at = (id: string, start: string, end: string, more: object = {}) => ({
  id,
  summary: id,
  start: { dateTime: start },
  end: { dateTime: end },
  ...more,
});

function has(...events: ReturnType<typeof at>[]): void {
  google.events.set('desk@example.com', events);
}

describe('list_events', () => {
  it('gives what lies in the range, soonest first, ten where nothing is said', async () => {
    const day = (index: number) => `2026-12-${String(12 - index).padStart(2, '0')}`;
    has(
      ...Array.from({ length: 12 }, (_, i) => at(`e${11 - i}`, `${day(i)}T09:00:00Z`, `${day(i)}T10:00:00Z`)),
    );
    const { data } = await ask('list_events', { time_min: '2026-12-01T08:00:00Z' });
    expect((data['events'] as { id: string }[]).map(({ id }) => id)).toEqual(
      Array.from({ length: 10 }, (_, index) => `e${index}`),
    );
    expect(data['more']).toBe(true);
    expect(google.asked[0]?.query).toMatchObject({
      maxResults: '10',
      singleEvents: 'true',
      orderBy: 'startTime',
    });
  });

  it('follows the pages until there are as many as are asked for', async () => {
    google.page = 3;
    has(
      ...Array.from({ length: 8 }, (_, day) =>
        at(`e${day}`, `2026-12-0${day + 1}T09:00:00Z`, `2026-12-0${day + 1}T10:00:00Z`),
      ),
    );
    const { data } = await ask('list_events', { time_min: '2026-12-01T00:00:00Z', max_results: 7 });
    expect(data['events']).toHaveLength(7);
    expect(data['more']).toBe(true);
    expect(google.asked).toHaveLength(3);
  });

  it('tells whole days and recurring events as such', async () => {
    google.events.set('desk@example.com', [
      { id: 'fair', summary: 'Fair', start: { date: '2026-12-01' }, end: { date: '2026-12-03' } },
      at('standup_1', '2026-12-01T09:00:00+01:00', '2026-12-01T09:15:00+01:00', {
        recurringEventId: 'standup',
      }),
    ]);
    const { data } = await ask('list_events', {
      time_min: '2026-12-01T00:00:00Z',
      time_max: '2026-12-02T00:00:00Z',
    });
    expect(data['events']).toMatchObject([
      { title: 'Fair', all_day: true, start: '2026-12-01', end: '2026-12-03' },
      { all_day: false, start: '2026-12-01T09:00:00+01:00', recurring_event_id: 'standup' },
    ]);
  });

  it.each([
    [{}, 'VALIDATION'],
    [{ time_min: 'tomorrow' }, 'VALIDATION'],
    [{ time_min: '2026-12-01T00:00:00Z', max_results: 101 }, 'VALIDATION'],
    [{ time_min: '2026-12-01T00:00:00Z', max_results: 0 }, 'VALIDATION'],
    [{ time_min: '2026-12-02T00:00:00Z', time_max: '2026-12-01T00:00:00Z' }, 'VALIDATION'],
  ])('refuses %j', async (said, type) => {
    expect(await ask('list_events', said)).toMatchObject({ ok: false, error: { type } });
    expect(google.asked).toEqual([]);
  });
});

describe('create_event', () => {
  it.each([
    ['desk', undefined, '2025-12-30T14:30:00.000Z'],
    ['short', undefined, '2025-12-30T14:15:00.000Z'],
    ['short', 480, '2025-12-30T22:00:00.000Z'],
  ])('the agent %s: start and %s minutes end at %s', async (agent, duration, end) => {
    const said = {
      title: 'Review',
      start_time: '2025-12-30T14:00:00Z',
      ...(duration && { duration_minutes: duration }),
    };
    expect(await ask('create_event', said, agent)).toMatchObject({
      ok: true,
      data: { title: 'Review', start: '2025-12-30T14:00:00.000Z', end, all_day: false },
    });
  });

  it('the end is so many minutes of real time later, while the clocks change too', async () => {
    // In Berlin 02:00 becomes 03:00 on this night.
    const said = {
      title: 'Night',
      start_time: '2026-03-29T01:30:00+01:00',
      duration_minutes: 60,
      time_zone: 'Europe/Berlin',
    };
    expect(await ask('create_event', said)).toMatchObject({
      data: { start: '2026-03-29T00:30:00.000Z', end: '2026-03-29T01:30:00.000Z' },
    });
  });

  it('invites attendees, and tells them', async () => {
    const said = { title: 'Review', start_time: '2025-12-30T14:00:00Z', attendees: ['ada@example.com'] };
    expect(await ask('create_event', said)).toMatchObject({
      data: { attendees: [{ email: 'ada@example.com', response: 'needsAction' }] },
    });
    expect(google.asked[0]).toMatchObject({ method: 'POST', query: { sendUpdates: 'all' } });
  });

  it.each([
    ['2028-02-29T10:00:00Z', 1440 / 3, '2028-02-29', '2028-03-01'],
    ['2026-12-31T23:30:00+01:00', 30, '2026-12-31', '2027-01-01'],
  ])('a whole day from %s is that day', async (start, minutes, first, last) => {
    const said = { title: 'Fair', start_time: start, duration_minutes: minutes, all_day: true };
    expect(await ask('create_event', said)).toMatchObject({
      data: { all_day: true, start: first, end: last },
    });
  });

  it('a recurring event keeps its hour in its zone', async () => {
    const said = {
      title: 'Stand-up',
      start_time: '2026-03-02T09:00:00+01:00',
      time_zone: 'Europe/Berlin',
      recurrence: 'RRULE:FREQ=WEEKLY;COUNT=10',
    };
    expect(await ask('create_event', said)).toMatchObject({ ok: true });
    expect(google.events.get('desk@example.com')).toMatchObject([
      { recurrence: ['RRULE:FREQ=WEEKLY;COUNT=10'], start: { timeZone: 'Europe/Berlin' } },
    ]);
    for (const wrong of [
      { time_zone: undefined },
      { recurrence: 'RRULE:FREQ=WEEKLY\nEXDATE:x' },
      { time_zone: 'Mars/Base' },
    ])
      expect(await ask('create_event', { ...said, ...wrong })).toMatchObject({
        ok: false,
        error: { type: 'VALIDATION' },
      });
  });

  it('an event whose answer was lost is found again, and not made a second time', async () => {
    google.next = 'cut';
    const said = { title: 'Once', start_time: '2025-12-30T14:00:00Z' };
    expect(await ask('create_event', said)).toMatchObject({ ok: true, data: { title: 'Once' } });
    expect(google.asked.map(({ method }) => method)).toEqual(['POST', 'POST', 'GET']);
    expect(google.events.get('desk@example.com')).toHaveLength(1);
  });

  it.each([4, 481])('refuses %i minutes', async (minutes) => {
    const said = { title: 'x', start_time: '2025-12-30T14:00:00Z', duration_minutes: minutes };
    expect(await ask('create_event', said)).toMatchObject({ ok: false, error: { type: 'VALIDATION' } });
  });
});

describe('check_availability', () => {
  it('names the events in the way, and no others', async () => {
    has(
      at('before', '2026-12-01T09:00:00Z', '2026-12-01T10:00:00Z'),
      at('meeting', '2026-12-01T10:15:00Z', '2026-12-01T10:45:00Z'),
      at('reminder', '2026-12-01T10:00:00Z', '2026-12-01T11:00:00Z', { transparency: 'transparent' }),
      at('cancelled', '2026-12-01T10:00:00Z', '2026-12-01T11:00:00Z', { status: 'cancelled' }),
      at('declined', '2026-12-01T10:00:00Z', '2026-12-01T11:00:00Z', {
        attendees: [{ email: 'desk@example.com', self: true, responseStatus: 'declined' }],
      }),
      at('after', '2026-12-01T10:30:00Z', '2026-12-01T11:00:00Z'),
    );
    const { data } = await ask('check_availability', { date: '2026-12-01T10:00:00Z' });
    expect(data).toMatchObject({ available: false, conflicts: [{ title: 'meeting' }] });
    expect(await ask('check_availability', { date: '2026-12-01T11:00:00Z' })).toMatchObject({
      data: { available: true, conflicts: [] },
    });
  });

  it('a meeting behind a hundred events that are in nobody’s way is found', async () => {
    const free = Array.from({ length: 100 }, (_, index) =>
      at(`free-${index}`, '2026-12-01T10:00:00Z', '2026-12-01T11:00:00Z', { transparency: 'transparent' }),
    );
    has(...free, at('meeting', '2026-12-01T10:15:00Z', '2026-12-01T10:45:00Z'));
    expect(await ask('check_availability', { date: '2026-12-01T10:00:00Z' })).toMatchObject({
      data: { available: false, conflicts: [{ title: 'meeting' }] },
    });
  });

  it('a whole day is in the way', async () => {
    google.events.set('desk@example.com', [
      { id: 'fair', start: { date: '2026-12-01' }, end: { date: '2026-12-02' } },
    ]);
    expect(await ask('check_availability', { date: '2026-12-01T10:00:00Z' })).toMatchObject({
      data: { available: false },
    });
  });

  it.each([14, 241])('refuses %i minutes', async (minutes) => {
    const said = { date: '2026-12-01T10:00:00Z', duration_minutes: minutes };
    expect(await ask('check_availability', said)).toMatchObject({ ok: false, error: { type: 'VALIDATION' } });
  });
});

describe('what goes wrong at Google', () => {
  it.each([
    [400, 'badRequest', 'VALIDATION', false],
    [401, 'authError', 'AUTH', false],
    [403, 'forbidden', 'PERMISSION_DENIED', false],
    [403, 'rateLimitExceeded', 'RATE_LIMIT', true],
    [404, 'notFound', 'NOT_FOUND', false],
    [409, 'conflict', 'CONFLICT', false],
    [410, 'deleted', 'NOT_FOUND', false],
    [429, 'rateLimitExceeded', 'RATE_LIMIT', true],
    [500, 'backendError', 'TRANSIENT', true],
    [503, 'backendError', 'TRANSIENT', true],
  ])('%i %s is %s', async (status, reason, type, retryable) => {
    google.next = { status, reason, headers: { 'retry-after': '3600' } };
    const answer = await ask('list_events', { time_min: '2026-12-01T00:00:00Z' });
    expect(answer).toMatchObject({ ok: false, error: { type, retryable } });
    expect(JSON.stringify(answer)).not.toContain(TOKEN);
  });

  it('an agent without an account is told so, and Google is not asked', async () => {
    expect(await ask('list_events', { time_min: '2026-12-01T00:00:00Z' }, 'nobody')).toMatchObject({
      ok: false,
      error: { reason: 'TOOL_NOT_CONFIGURED' },
    });
    expect(google.asked).toEqual([]);
  });

  it('an account that Google does not take any more is AUTH', async () => {
    google.tokens.delete(TOKEN);
    expect(await ask('list_events', { time_min: '2026-12-01T00:00:00Z' })).toMatchObject({
      error: { type: 'AUTH' },
    });
  });

  it('what the requests are made with is not there for a caller', async () => {
    const said = { calendar_id: 'desk@example.com', event_id: 'x' };
    const { status, body } = await request<{ error: { message: string } }>(
      caller,
      'POST',
      '/v1/tools/google_calendar_api.get/execute',
      { arguments: said, context: { agent_id: 'desk' } },
    );
    expect(status).toBe(404);
    expect(body.error.message).not.toContain('google_calendar_api');
    const { body: list } = await request<{ tools: { name: string }[] }>(caller, 'GET', '/v1/tools');
    expect(list.tools.map(({ name }) => name)).toEqual([
      'google_calendar',
      'google_calendar.check_availability',
      'google_calendar.create_event',
      'google_calendar.list_events',
    ]);
  });
});

it('C5: what the seed writes happens: its examples of times, its defaults, the end that it works out', async () => {
  has(
    at('standup', '2025-12-30T09:00:00Z', '2025-12-30T09:15:00Z'),
    at('late', '2025-12-30T19:00:00Z', '2025-12-30T20:00:00Z'),
  );
  const range = { time_min: '2025-12-30T09:00:00Z', time_max: '2025-12-30T18:00:00Z' };
  expect(await ask('list_events', range)).toMatchObject({
    data: { events: [{ title: 'standup' }], more: false },
  });
  const created = { title: 'Meeting', start_time: '2025-12-30T14:00:00Z', attendees: ['ada@example.com'] };
  expect(await ask('create_event', created)).toMatchObject({
    data: { title: 'Meeting', start: '2025-12-30T14:00:00.000Z', end: '2025-12-30T14:30:00.000Z' },
  });
  expect(await ask('check_availability', { date: '2025-12-30T14:00:00Z' })).toMatchObject({
    data: { available: false, conflicts: [{ title: 'Meeting' }] },
  });
  expect(await ask('check_availability', { date: '2025-12-30T15:00:00Z' })).toMatchObject({
    data: { available: true, conflicts: [] },
  });
});

it('C7: run_tool(name, action, details) of older callers is the same call, and says that it is old', async () => {
  has(at('meeting', '2026-12-01T10:15:00Z', '2026-12-01T10:45:00Z'));
  const said = { action: 'list_events', details: '{"time_min": "2026-12-01T00:00:00Z"}' };
  const { body, headers } = await sendTo<object>(caller, 'POST', '/v1/tools/google_calendar/execute', {
    arguments: said,
    context: { agent_id: 'desk' },
  });
  expect(body).toMatchObject({ ok: true, data: { events: [{ title: 'meeting' }] } });
  expect(headers.get('deprecation')).toMatch(/^@\d+$/);
  expect(headers.get('link')).toContain('google_calendar.list_events');
});
