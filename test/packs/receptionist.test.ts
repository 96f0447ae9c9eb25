// The pack `receptionist`, by the rows E1 to E10 of its seed: typed lookups of one business, and bookings that are never doubled.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { callTool, sendTo, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const PACK = resolve('packs/receptionist');

let dir: string;
let gateway: RunningGateway;
let demo: RestTarget;
let stranger: RestTarget;
let desk: RestTarget;

/** The pack on a busy machine, where a lookup takes longer than anybody on the phone would wait. */
function patientPack(): string {
  cpSync(PACK, dir, { recursive: true });
  const file = join(dir, 'tools.yaml');
  const text = readFileSync(file, 'utf8')
    .replaceAll('after_ms: 400', 'after_ms: 20000')
    .replaceAll(/timeout_ms: \d+/g, 'timeout_ms: 30000');
  writeFileSync(file, text);
  return dir;
}

beforeAll(async () => {
  dir = tempDir();
  gateway = await startGateway({
    tools: [],
    settings: { loaders: [{ type: 'pack', name: 'receptionist', path: patientPack() }] },
    roles: { desk: ['tools:call', 'tools:read', 'receptionist:admin'] },
    more: {
      demo: { tenant: 'default', roles: ['agent'] },
      desk: { tenant: 'default', roles: ['desk'] },
      stranger: { tenant: 'umbrella', roles: ['agent'] },
      both: { tenants: ['default', 'umbrella'], roles: ['desk'] },
    },
  });
  demo = gateway.key('demo');
  desk = gateway.key('desk');
  stranger = gateway.key('stranger');
});
afterAll(async () => {
  await gateway?.stop();
  removeDir(dir);
});

const ask = async (who: RestTarget, tool: string, said: Record<string, unknown> = {}) =>
  (await callTool(who, tool, said)).body;
const dataOf = async <Data>(who: RestTarget, tool: string, said: Record<string, unknown> = {}) => {
  const envelope = await ask(who, tool, said);
  expect(envelope).toMatchObject({ ok: true });
  return envelope.data as Data;
};

const SARAH = '+61400111222';
const SARAHS_BOOKING = '6f1c1f6e-0003-4000-8000-000000000001';

describe('E1: typed, tenant-scoped lookups', () => {
  it.each([SARAH, '+61 400 111 222', '(+61) 400-111-222'])('get_latest_booking finds %s', async (phone) => {
    expect(await dataOf(demo, 'get_latest_booking', { customer_phone: phone })).toEqual({
      booking_id: SARAHS_BOOKING,
      status: 'confirmed',
      service: 'Haircut',
      booking_datetime: '2026-01-24T10:30:00Z',
      duration_minutes: 30,
      customer_name: 'Sarah M',
      price: '45.00',
    });
  });

  it('get_latest_booking takes business_id as the seed sends it, and refuses that of another', async () => {
    const said = { customer_phone: SARAH };
    expect(await ask(demo, 'get_latest_booking', { ...said, business_id: 'default' })).toMatchObject({
      ok: true,
    });
    expect(await ask(demo, 'get_latest_booking', { ...said, business_id: 'umbrella' })).toMatchObject({
      ok: false,
      error: { type: 'PERMISSION_DENIED' },
    });
  });

  it('get_latest_booking wants something to look for', async () => {
    expect(await ask(demo, 'get_latest_booking')).toMatchObject({ ok: false, error: { type: 'VALIDATION' } });
  });

  it.each(['withheld', 'anonymous', '-----', '     ', '+1234', '(private)'])(
    'a number that is none is nobody’s: %s',
    async (phone) => {
      const refused = { ok: false, error: { type: 'VALIDATION' } };
      expect(await ask(demo, 'get_latest_booking', { customer_phone: phone })).toMatchObject(refused);
      const mine = { booking_id: SARAHS_BOOKING, customer_phone: phone };
      expect(await ask(demo, 'cancel_booking', mine)).toMatchObject(refused);
      const start = '2030-01-07T00:00:00Z';
      expect(await ask(demo, 'move_booking', { ...mine, start_time: start })).toMatchObject(refused);
      const wanted = { service: 'Haircut', start_time: start, customer_name: 'Ada', customer_phone: phone };
      expect(await ask(demo, 'create_booking', wanted)).toMatchObject(refused);
    },
  );

  it('get_booking_by_id gives the one, and null for none', async () => {
    expect(await dataOf(demo, 'get_booking_by_id', { booking_id: SARAHS_BOOKING })).toMatchObject({
      service: 'Haircut',
    });
    const unknown = { booking_id: '00000000-0000-4000-8000-000000000000' };
    expect(await dataOf(demo, 'get_booking_by_id', unknown)).toBeNull();
  });

  it('get_services is get_business_services by another name', async () => {
    const services = await dataOf(demo, 'get_business_services');
    expect(services).toMatchObject({
      services: [{ name: 'Haircut', duration_minutes: 30, price: '45.00' }, {}],
    });
    expect(await dataOf(demo, 'get_services')).toEqual(services);
  });

  it('get_working_hours tells the hours by day, in the zone of the business', async () => {
    expect(await dataOf(demo, 'get_working_hours')).toMatchObject({
      time_zone: 'Australia/Sydney',
      working_hours: {
        thursday: [
          ['09:00', '12:00'],
          ['13:00', '20:00'],
        ],
      },
    });
  });

  it.each(['get_policies', 'get_faqs'])('%s needs a topic', async (tool) => {
    expect(await ask(demo, tool)).toMatchObject({ ok: false, error: { type: 'VALIDATION' } });
  });
});

describe('E10: policies and questions are ranked', () => {
  it.each([
    ['cancellation', 'cancellation'],
    ['Can I cancel my appointment?', 'cancellation'],
    ['being late', 'late arrival'],
    ['do I pay a deposit', 'deposits'],
  ])('get_policies: "%s" brings "%s" first', async (topic, first) => {
    const { policies } = await dataOf<{ policies: { topic: string }[] }>(demo, 'get_policies', { topic });
    expect(policies[0]?.topic).toBe(first);
  });

  it.each([
    ['parking', 'Is there parking available?'],
    ['where can I park my car', 'Is there parking available?'],
    ['pricing', 'Which cards do you take?'],
  ])('get_faqs: "%s" brings "%s" first', async (topic, first) => {
    const { faqs } = await dataOf<{ faqs: { question: string }[] }>(demo, 'get_faqs', { topic });
    expect(faqs[0]?.question).toBe(first);
  });

  it.each(['get_policies', 'get_faqs'])('%s says that its words are not the gateway’s', async (tool) => {
    expect(await ask(demo, tool, { topic: 'parking' })).toMatchObject({
      ok: true,
      meta: { untrusted: true },
    });
    expect((await ask(demo, 'get_services')).meta).not.toHaveProperty('untrusted');
  });

  it.each(["'; DROP TABLE policies; --", '%', '& | ! <->', ':*', '\\', '{topic}'])(
    'a topic of signs finds nothing, and breaks nothing: %s',
    async (topic) => {
      const { policies } = await dataOf<{ policies: unknown[] }>(demo, 'get_policies', {
        topic: `${topic}  `,
      });
      expect(policies).toEqual([]);
    },
  );
});

describe('another business', () => {
  it.each([
    ['get_latest_booking', { customer_phone: SARAH }, null],
    ['get_booking_by_id', { booking_id: SARAHS_BOOKING }, null],
    ['get_business_services', {}, null],
    ['get_policies', { topic: 'cancellation' }, { policies: [] }],
    ['get_faqs', { topic: 'parking' }, { faqs: [] }],
    ['cancel_booking', { booking_id: SARAHS_BOOKING, customer_phone: SARAH }, { cancelled: false }],
  ])('%s tells nothing of the demo', async (tool, said, nothing) => {
    expect(await dataOf(stranger, tool, said)).toEqual(nothing);
  });
});

/** The first free time, from tomorrow on. */
async function freeTime(service = 'Haircut', from = daysFromNow(2)): Promise<string> {
  const said = { service, date: from, days: 14 };
  const { slots } = await dataOf<{ slots: { starts_at: string }[] }>(demo, 'get_availability', said);
  const [first] = slots;
  if (first === undefined) throw new Error('there is no free time');
  return first.starts_at;
}

function daysFromNow(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}

interface Booked {
  readonly booked: boolean;
  readonly reason: string | null;
  readonly booking_id: string;
  readonly booking_datetime: string;
}

const ADA = { service: 'haircut', customer_name: 'Ada', customer_phone: '+61 400 000 001' };

const book = (start: string, more: Record<string, unknown> = {}) =>
  dataOf<Booked>(demo, 'create_booking', {
    ...ADA,
    start_time: start,
    ...more,
  });

describe('E10: bookings are written', () => {
  it('a booked time is free no more; moved and cancelled, it is again', async () => {
    const start = await freeTime();
    const made = await book(start);
    expect(made).toMatchObject({ booked: true, reason: null, service: 'Haircut', duration_minutes: 30 });
    expect(await freeTime()).not.toBe(start);
    const later = await freeTime();
    const mine = { booking_id: made.booking_id, customer_phone: '+61400000001' };
    expect(await dataOf(demo, 'move_booking', { ...mine, start_time: later })).toMatchObject({
      booked: true,
      booking_id: made.booking_id,
      booking_datetime: later,
    });
    expect(await freeTime()).toBe(start);
    expect(await dataOf(demo, 'cancel_booking', mine)).toEqual({ cancelled: true });
    expect(await dataOf(demo, 'cancel_booking', mine)).toEqual({ cancelled: false });
    expect(await dataOf(demo, 'get_booking_by_id', { booking_id: made.booking_id })).toMatchObject({
      status: 'cancelled',
    });
  });

  it('says why a time cannot be booked', async () => {
    const start = await freeTime();
    expect(await book(start, { service: 'Massage' })).toMatchObject({
      booked: false,
      reason: 'unknown_service',
    });
    expect(await book('2020-01-01T00:00:00Z')).toMatchObject({ booked: false, reason: 'in_the_past' });
    const night = `${start.slice(0, 10)}T15:00:00Z`;
    expect(await book(night)).toMatchObject({ booked: false, reason: 'closed' });
    expect(await book(`9999${start.slice(4)}`)).toMatchObject({ booked: false, reason: 'too_far_ahead' });
  });

  it('a time with an offset that is none is the caller’s mistake', async () => {
    expect(
      await ask(demo, 'create_booking', { ...ADA, start_time: '2030-01-07T09:00:00+23:59' }),
    ).toMatchObject({
      ok: false,
      error: { type: 'VALIDATION' },
    });
  });

  it('only who knows the phone number moves or cancels', async () => {
    const made = await book(await freeTime());
    const other = { booking_id: made.booking_id, customer_phone: '+61400999999' };
    expect(await dataOf(demo, 'cancel_booking', other)).toEqual({ cancelled: false });
    expect(await dataOf(demo, 'move_booking', { ...other, start_time: await freeTime() })).toMatchObject({
      booked: false,
      reason: 'not_found',
    });
  });

  it('50 agents book the same time at once: one booking', async () => {
    const start = await freeTime();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        ask(demo, 'create_booking', {
          service: 'Haircut',
          start_time: start,
          customer_name: `Caller ${at}`,
          customer_phone: `+6140010${String(at).padStart(4, '0')}`,
        }),
      ),
    );
    const booked = answers.filter(({ ok, data }) => ok && (data as Booked).booked);
    expect(booked).toHaveLength(1);
    const others = answers
      .filter(({ ok, data }) => !(ok && (data as Booked).booked))
      .map(({ ok, data, error }) => (ok ? (data as Booked).reason : error?.reason));
    expect(others).toHaveLength(49);
    expect(new Set(others)).toEqual(new Set(['taken']));
  });
});

it('E3 and E5: a lookup that takes 400 ms is answered with the sentence that offers to take a message', () => {
  const { tools } = parse(readFileSync(join(PACK, 'tools.yaml'), 'utf8'), { merge: true }) as {
    tools: { name: string; metadata: { category: string; permissions?: string[] }; extensions?: object }[];
  };
  const lookups = tools.filter(
    ({ metadata }) => metadata.category === 'retrieval' && metadata.permissions === undefined,
  );
  expect(lookups.map(({ name }) => name)).toContain('get_latest_booking');
  for (const { extensions } of lookups)
    expect(extensions).toMatchObject({
      fallback: {
        after_ms: 400,
        message: "I'm having trouble pulling that up right now. Would you like me to take a message?",
      },
    });
});

describe('E7: the prompts of a business', () => {
  it('are served ready to use, to the desk alone', async () => {
    const path = '/v1/admin/packs/receptionist/prompt';
    const { status, body, headers } = await sendTo(desk, 'GET', path);
    expect({ status, deprecation: headers.get('deprecation') }).toEqual({ status: 200, deprecation: null });
    expect(body['system_prompt']).toMatch(
      /^You are Echo, the AI receptionist for Studio Demo \(hair salon\)\.$/m,
    );
    expect(body['system_prompt']).toContain(
      'Tone: warm. Language: English. Keep responses short (1-2 sentences).',
    );
    expect(body['tool_policy']).toContain('- Max 2 tool calls per user turn.');
    expect(body['tool_policy']).toContain('- Booking lookups must use customer_phone from the call.');
    expect((await sendTo(demo, 'GET', path)).status).toBe(403);
    expect((await sendTo({ ...desk, key: 'none' }, 'GET', path)).status).toBe(401);
  });

  it('are filled in from its own row', async () => {
    const { system_prompt: prompt, tool_policy: policy } = await dataOf<Record<string, string>>(
      desk,
      'get_receptionist_prompt',
    );
    expect(prompt).toContain('Echo, the AI receptionist for Studio Demo (hair salon)');
    expect(prompt).toContain('Haircut (30 min, 45.00), Colour (90 min, 140.00)');
    expect(prompt).toContain('thursday 09:00-12:00 and 13:00-20:00');
    expect(policy).toContain(
      "I'm having trouble pulling that up right now. Would you like me to take a message?",
    );
  });

  it('are not for the model', async () => {
    expect(await ask(demo, 'get_receptionist_prompt')).toMatchObject({ ok: false });
  });
});

describe('E8: policies and questions are seeded', () => {
  it('what the desk adds is listed by its topic, and found by the agent', async () => {
    const said = { topic: 'pets', content: 'Dogs are welcome, cats are not.' };
    expect(await dataOf(desk, 'add_policy', said)).toMatchObject({
      status: 'ok',
      policy: { ...said, business_id: 'default' },
    });
    expect(await dataOf(desk, 'list_policies', { topic: 'Pets' })).toMatchObject({ policies: [said] });
    const found = await dataOf<{ policies: unknown[] }>(demo, 'get_policies', { topic: 'pets' });
    expect(found.policies).toEqual([said]);
  });

  it('questions match by topic and by tag', async () => {
    const said = {
      topic: 'access',
      question: 'Is there a lift?',
      answer: 'Yes.',
      tags: ['Wheelchair', 'location'],
    };
    expect(await dataOf(desk, 'add_faq', said)).toMatchObject({
      status: 'ok',
      faq: { question: said.question, tags: ['wheelchair', 'location'] },
    });
    for (const topic of ['access', 'wheelchair'])
      expect(await dataOf(desk, 'list_faqs', { topic })).toMatchObject({
        faqs: [{ question: said.question }],
      });
    const all = await dataOf<{ faqs: unknown[] }>(desk, 'list_faqs');
    expect(all.faqs.length).toBeGreaterThan(1);
  });

  it('an agent adds none', async () => {
    expect(await ask(demo, 'add_policy', { topic: 'a', content: 'b' })).toMatchObject({
      ok: false,
      error: { type: 'PERMISSION_DENIED' },
    });
  });
});

describe('E8 and C7: the admin endpoints of the seed, unchanged, and where they went', () => {
  const POLICIES = '/tts_admin/policies/default';
  const FAQS = '/tts_admin/faqs/default';
  const SAID = {
    topic: 'parking',
    question: 'Is there parking available?',
    answer: 'Yes, free street parking is available after 6pm.',
    tags: ['parking', 'location'],
  };

  it('creates a policy as the seed does, and says where callers should go', async () => {
    const said = { topic: 'cancellation', content: 'Cancellations within 24 hours incur a 50% fee.' };
    const { status, body, headers } = await sendTo(desk, 'POST', POLICIES, said);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        status: 'ok',
        policy: {
          ...said,
          business_id: 'default',
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/),
        },
      },
    });
    expect(headers.get('deprecation')).toBe(`@${Date.UTC(2026, 0, 22) / 1000}`);
    expect(headers.get('link')).toBe('</v1/admin/packs/receptionist/policies>; rel="successor-version"');
    const listed = await sendTo<{ policies: { topic: string; content: string }[] }>(
      desk,
      'GET',
      `${POLICIES}?topic=cancellation`,
    );
    expect(new Set(listed.body.policies.map(({ topic }) => topic))).toEqual(new Set(['cancellation']));
    expect(listed.body.policies.map(({ content }) => content)).toContain(said.content);
    const all = await sendTo<{ policies: unknown[] }>(desk, 'GET', POLICIES);
    expect(all.body.policies.length).toBeGreaterThan(listed.body.policies.length);
  });

  it('creates a question and lists it by topic and by tag', async () => {
    const { body } = await sendTo(desk, 'POST', FAQS, SAID);
    expect(body).toMatchObject({ status: 'ok', faq: { ...SAID, business_id: 'default' } });
    for (const topic of ['parking', 'location']) {
      const { body: found } = await sendTo<{ faqs: { answer: string }[] }>(
        desk,
        'GET',
        `${FAQS}?topic=${topic}`,
      );
      expect(found.faqs.map(({ answer }) => answer)).toContain(SAID.answer);
    }
  });

  it('where they went, the same is answered, and nothing is deprecated', async () => {
    const path = '/v1/admin/packs/receptionist/faqs';
    const { status, body, headers } = await sendTo(desk, 'GET', `${path}?topic=parking`);
    expect({ status, body }).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(headers.get('deprecation')).toBeNull();
    expect((await sendTo(desk, 'POST', path, { ...SAID, topic: 'car park' })).body).toMatchObject({
      faq: { topic: 'car park' },
    });
  });

  it.each([
    ['without a credential', 401, (): RestTarget => ({ url: gateway.url, key: '' }), POLICIES],
    ['with an agent’s', 403, (): RestTarget => demo, POLICIES],
    ['of another business', 403, (): RestTarget => stranger, POLICIES],
    ['for another business', 403, (): RestTarget => desk, '/tts_admin/policies/umbrella'],
  ])('nobody adds anything %s', async (_who, status, who, path) => {
    const before = await sendTo<{ policies: unknown[] }>(desk, 'GET', POLICIES);
    const answer = await sendTo(who(), 'POST', path, { topic: 'a', content: 'b' });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    const after = await sendTo<{ policies: unknown[] }>(desk, 'GET', POLICIES);
    expect(after.body.policies).toHaveLength(before.body.policies.length);
  });

  it('a key of several businesses is for the one in the path, and for no other', async () => {
    const both = gateway.key('both');
    expect((await sendTo(both, 'GET', POLICIES)).body).toMatchObject({ status: 'ok' });
    expect((await sendTo(both, 'GET', '/tts_admin/policies/umbrella')).body).toEqual({
      status: 'ok',
      policies: [],
    });
    expect((await sendTo({ ...both, tenant: 'umbrella' }, 'GET', POLICIES)).status).toBe(400);
    expect((await sendTo(both, 'GET', '/tts_admin/policies/elsewhere')).status).toBe(403);
  });

  it('names what is wrong with a request', async () => {
    const told = async (method: string, path: string, body?: object) => {
      const answer = await sendTo(desk, method, path, body);
      return [answer.status, String(answer.body['detail'])];
    };
    expect(await told('POST', POLICIES, { topic: 'a' })).toEqual([400, expect.stringContaining('/content')]);
    expect(await told('POST', POLICIES, { topic: 'a', content: 'b', business_id: 'default' })).toEqual([
      400,
      expect.stringContaining('/business_id'),
    ]);
    expect(await told('GET', `${POLICIES}?topik=a`)).toEqual([400, expect.stringContaining('topik')]);
    expect(await told('GET', `${POLICIES}?topic=a&topic=b`)).toEqual([
      400,
      expect.stringContaining('/topic'),
    ]);
    expect(await told('POST', `${POLICIES}?topic=a`, { content: 'b' })).toEqual([
      400,
      expect.stringContaining('/topic'),
    ]);
    expect(await told('DELETE', POLICIES)).toEqual([405, expect.stringContaining('GET, POST')]);
    expect(await told('GET', '/tts_admin/policies/')).toEqual([404, expect.any(String)]);
  });
});

it('E9: calls are counted by tool, in number, time and errors', async () => {
  await ask(demo, 'get_policies', { topic: 'x' });
  await ask(demo, 'get_policies', { topic: 'cancellation' });
  const text = await (await fetch(gateway.service.metricsUrl)).text();
  expect(text).toMatch(/^ute_tool_calls_total\{[^}]*tool="get_policies"[^}]*outcome="ok"[^}]*\} [1-9]/m);
  expect(text).toMatch(
    /^ute_tool_calls_total\{[^}]*tool="get_policies"[^}]*outcome="VALIDATION"[^}]*\} [1-9]/m,
  );
  expect(text).toMatch(/^ute_tool_call_duration_seconds_count\{[^}]*tool="get_policies"/m);
  expect(text).toMatch(
    /^ute_declared_route_requests_total\{[^}]*tool="add_policy"[^}]*deprecated="true"[^}]*\} [1-9]/m,
  );
});
