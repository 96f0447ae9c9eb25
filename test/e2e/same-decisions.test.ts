// One table of cases through REST, gRPC, MCP in both of its eras, and streams, on both kinds of stores: the same decisions, whichever door and store.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  grpcDoor,
  mcpDoor,
  restDoor,
  streamDoor,
  type Decision,
  type Door,
  type DoorCall,
} from '../helpers/doors.ts';
import { openDatabase } from '../helpers/open-database.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { STORES, type Stores } from '../helpers/stores.ts';

type Case = readonly [
  guarantee: string,
  call: Omit<DoorCall, 'key'> & { key?: string | null },
  expected: Partial<Decision>,
  rest: number,
  grpc: number,
];

const OK = 0, INVALID = 3, LATE = 4, NOT_FOUND = 5, DENIED = 7, EXHAUSTED = 8, PRECONDITION = 9, INTERNAL = 13, UNAVAILABLE = 14, WHO = 16; // oxfmt-ignore
const call = (tool: string, args: unknown = {}, more: Partial<DoorCall> = {}) => ({
  tool,
  argumentsJson: JSON.stringify(args),
  ...more,
});
const raw = (tool: string, argumentsJson: string) => ({ tool, argumentsJson });

const CASES: readonly Case[] = [
  ['a python tool answers', call('add', { a: 2, b: 40 }), { ok: true, data: 42 }, 200, OK],
  ['a javascript tool answers', call('echo', { text: 'hé' }), { ok: true }, 200, OK],
  ['an http tool answers', call('get_weather', { city: 'Berlin' }), { ok: true }, 200, OK],
  [
    'an action is a function of its own',
    call('calendar.list_events', { time_min: '2026-01-01T00:00:00Z' }),
    { ok: true },
    200,
    OK,
  ],
  [
    "an action answers to its provider's spelling",
    call('calendar__list_events', { time_min: '2026-01-01T00:00:00Z' }),
    { ok: true },
    200,
    OK,
  ],
  [
    'a tool with actions is not called by its own name',
    call('calendar'),
    { ok: false, type: 'NOT_FOUND', reason: 'ACTION_MISSING' },
    404,
    NOT_FOUND,
  ],
  [
    'an unknown tool is told to somebody known',
    call('nobody'),
    { ok: false, type: 'NOT_FOUND' },
    404,
    NOT_FOUND,
  ],
  [
    'nobody learns which tools exist without a credential',
    call('nobody', {}, { key: null as never }),
    { ok: false, type: 'AUTH' },
    401,
    WHO,
  ],
  [
    'a made-up credential is refused',
    call('add', {}, { key: 'ute_live_AAAAAAAA_x_0' }),
    { ok: false, type: 'AUTH', reason: 'CREDENTIAL_INVALID' },
    401,
    WHO,
  ],
  [
    'wrong types are refused with the place',
    call('add', { a: 'x', b: 1 }),
    { ok: false, type: 'VALIDATION', reason: 'SCHEMA_MISMATCH' },
    400,
    INVALID,
  ],
  [
    'an unknown argument is refused',
    call('add', { a: 1, b: 2, c: 3 }),
    { ok: false, type: 'VALIDATION' },
    400,
    INVALID,
  ],
  [
    'a date that is none is refused',
    call('calendar.list_events', { time_min: 'soon' }),
    { ok: false, type: 'VALIDATION' },
    400,
    INVALID,
  ],
  ['arguments must be an object', raw('add', '[1,2]'), { ok: false, type: 'VALIDATION' }, 400, INVALID],
  ['broken JSON is refused', raw('add', '{"a":'), { ok: false, type: 'VALIDATION' }, 400, INVALID],
  [
    'JSON of a million levels is refused',
    raw('echo', `{"text":${'['.repeat(400_000)}${']'.repeat(400_000)}}`),
    { ok: false, type: 'VALIDATION' },
    400,
    INVALID,
  ],
  [
    '__proto__ is refused',
    raw('echo', '{"text":"x","__proto__":{"admin":true}}'),
    { ok: false, type: 'VALIDATION', reason: 'FORBIDDEN_KEY' },
    400,
    INVALID,
  ],
  [
    'a duplicate key is refused',
    raw('add', '{"a":1,"a":2,"b":3}'),
    { ok: false, type: 'VALIDATION', reason: 'DUPLICATE_KEY' },
    400,
    INVALID,
  ],
  [
    'NUL is refused',
    raw('echo', String.raw`{"text":"a\u0000b"}`),
    { ok: false, type: 'VALIDATION', reason: 'NUL' },
    400,
    INVALID,
  ],
  [
    'a lone surrogate is refused',
    raw('echo', String.raw`{"text":"\ud800"}`),
    { ok: false, type: 'VALIDATION', reason: 'LONE_SURROGATE' },
    400,
    INVALID,
  ],
  [
    'a number beyond JSON is refused',
    raw('add', '{"a":1e999,"b":1}'),
    { ok: false, type: 'VALIDATION', reason: 'NUMBER_RANGE' },
    400,
    INVALID,
  ],
  [
    'an evil pattern costs nothing',
    call('tidy', { word: `${'a'.repeat(50_000)}!` }),
    { ok: false, type: 'VALIDATION' },
    400,
    INVALID,
  ],
  [
    'a permission that is missing is named',
    call('secretive'),
    { ok: false, type: 'PERMISSION_DENIED', reason: 'PERMISSION_MISSING' },
    403,
    DENIED,
  ],
  [
    "another tenant's name is refused",
    call('add', { a: 1, b: 2 }, { context: { tenant_id: 'umbrella' } }),
    { ok: false, type: 'PERMISSION_DENIED', reason: 'TENANT_MISMATCH' },
    403,
    DENIED,
  ],
  [
    "another tenant's business_id is refused",
    call('add', { a: 1, b: 2, business_id: 'umbrella' }),
    { ok: false, type: 'PERMISSION_DENIED' },
    403,
    DENIED,
  ],
  [
    "one's own business_id is stripped",
    call('add', { a: 1, b: 2, business_id: 'acme' }),
    { ok: true, data: 3 },
    200,
    OK,
  ],
  [
    'a voice tool is not called in text mode',
    call('end_call', {}, { context: { mode: 'text' } }),
    { ok: false, type: 'MODE_RESTRICTED' },
    403,
    PRECONDITION,
  ],
  [
    'a dangerous tool asks for approval',
    call('delete_note', { note_id: 'note-1' }),
    { ok: false, type: 'CONFIRMATION_REQUIRED' },
    202,
    OK,
  ],
  [
    'a script that raises is the tool’s own answer',
    call('explode'),
    { ok: false, type: 'PERMANENT', reason: 'EXCEPTION' },
    200,
    OK,
  ],
  ['a script that never ends is stopped on time', call('spin'), { ok: false, type: 'TIMEOUT' }, 504, LATE],
  ["the caller's own limit counts", call('slow', { ms: 5000 }, { timeoutMs: 300 }), { ok: false }, 504, LATE],
  [
    'a worker that dies in mid-call is a typed error',
    call('die'),
    { ok: false, type: 'UNAVAILABLE', reason: 'WORKER_DIED' },
    503,
    UNAVAILABLE,
  ],
  ['garbage on stdout changes nothing', call('babble'), { ok: true, data: { honest: true } }, 200, OK],
  [
    'a result that breaks its schema is not passed on',
    call('lying'),
    { ok: false, type: 'OUTPUT_INVALID' },
    502,
    INTERNAL,
  ],
  [
    'an idempotency key that is none is refused by name',
    call('add', { a: 1, b: 2 }, { context: { idempotency_key: 'two words' } }),
    { ok: false, type: 'VALIDATION', reason: 'IDEMPOTENCY_KEY_MALFORMED' },
    400,
    INVALID,
  ],
];

/** Of a call that is none of the protocol's messages, and of a stranger's; any other is answered as a result. */
function mcpStatus({ type, reason = '' }: Decision): number {
  if (type === 'AUTH') return 401;
  return ['SYNTAX', 'TOO_DEEP'].includes(reason) ? 400 : 200;
}

describe.each(STORES)('on %s', (_stores, open) => {
  let stores: Stores;
  let gateway: RunningGateway;
  let doors: readonly Door[];

  beforeAll(async () => {
    stores = await open();
    gateway = await startGateway({
      tools: ['config/tools.yaml', 'test/fixtures/e2e/tools.yaml'],
      settings: { ...stores.settings },
    });
    doors = [
      restDoor(gateway),
      grpcDoor(gateway),
      mcpDoor(gateway),
      mcpDoor(gateway, 'legacy'),
      streamDoor(gateway),
    ];
    await openDatabase(gateway);
  });

  afterAll(async () => {
    for (const door of doors ?? []) door.close();
    await gateway?.stop();
    await stores?.stop();
  });

  describe.each(['rest', 'grpc', 'mcp', 'mcp 2025', 'stream'] as const)('through %s', (name) => {
    const door = () => doors.find((each) => each.name === name) as Door;

    it.each(CASES)('%s', async (_guarantee, { key, ...request }, expected, rest, grpc) => {
      const decision = await door().call({
        ...request,
        key: key === null ? undefined : (key ?? gateway.keys.agent.text),
      });
      const mcp = mcpStatus(decision);
      const stream = decision.type === 'AUTH' ? 401 : 101;
      const status = { rest, grpc, mcp, 'mcp 2025': mcp, stream }[name];
      expect(decision).toMatchObject({ ...expected, status });
      expect(
        await door().call({ ...call('add', { a: 1, b: 1 }), key: gateway.keys.agent.text }),
      ).toMatchObject({ ok: true, data: 2 });
    });

    it('a body of two megabytes is refused, and the next call is served', async () => {
      const decision = await door().call({
        ...call('echo', { text: 'x'.repeat(2 << 20) }),
        key: gateway.keys.agent.text,
      });
      expect(decision).toMatchObject({
        ok: false,
        status: { grpc: EXHAUSTED, stream: 1009, rest: 413, mcp: 413, 'mcp 2025': 413 }[name],
      });
      expect(
        await door().call({ ...call('add', { a: 1, b: 1 }), key: gateway.keys.agent.text }),
      ).toMatchObject({ ok: true });
    });

    it('an approved call runs once, for exactly those arguments', async () => {
      const key = gateway.keys.agent.text;
      const asked = await door().call({ ...call('delete_note', { note_id: 'note-2' }), key });
      const { confirmation_token: token, approval_id: id } = asked.details as Record<string, string>;
      const approve = () =>
        fetch(`${gateway.url}/v1/approvals/${id}/decision`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.keys.admin.text}` },
          body: '{"decision":"approve"}',
        });
      expect((await approve()).status).toBe(200);
      const context = { confirmation_token: token ?? '' };
      const other = await door().call({ ...call('delete_note', { note_id: 'note-3' }), key, context });
      expect(other).toMatchObject({ ok: false, type: 'VALIDATION', reason: 'APPROVAL_MISMATCH' });
      const [one, two] = await Promise.all([
        door().call({ ...call('delete_note', { note_id: 'note-2' }), key, context }),
        door().call({ ...call('delete_note', { note_id: 'note-2' }), key, context }),
      ]);
      expect([one.reason, two.reason].filter((reason) => reason === 'APPROVAL_USED')).toHaveLength(1);
    });
  });

  it('the details of a refusal are the same through all doors', async () => {
    const refused = CASES.filter(
      ([, asked, expected, , grpc]) => expected.ok === false && grpc !== OK && asked.timeoutMs === undefined,
    );
    const seen: string[] = [];
    for (const [guarantee, { key, ...request }] of refused) {
      const asked = { ...request, key: key === null ? undefined : (key ?? gateway.keys.agent.text) };
      const [rest, grpc, ...mcp] = await Promise.all(doors.map((door) => door.call(asked)));
      // A message holds the arguments one level deeper than a body.
      for (const { details = {} } of mcp)
        expect([guarantee, JSON.stringify(details).replace('33 levels', '32 levels')]).toEqual([
          guarantee,
          JSON.stringify(rest?.details ?? {}),
        ]);
      // Wrong fields of a request are a BadRequest there.
      const { violations, ...others } = rest?.details ?? {};
      const details =
        rest?.type === 'VALIDATION' ? others : { ...others, ...(violations !== undefined && { violations }) };
      expect([guarantee, grpc?.details ?? {}]).toEqual([guarantee, details]);
      seen.push(...Object.keys(details));
    }
    expect(seen.length).toBeGreaterThan(0);
  });

  describe('limits', () => {
    it('a rate limit counts calls of all doors together', async () => {
      const key = gateway.keys.agent.text;
      const [rest, grpc, mcp] = doors as [Door, Door, Door];
      expect(await rest.call({ ...call('limited'), key })).toMatchObject({ ok: true });
      expect(await grpc.call({ ...call('limited'), key })).toMatchObject({
        ok: false,
        type: 'RATE_LIMIT',
        status: EXHAUSTED,
      });
      expect(await rest.call({ ...call('limited'), key })).toMatchObject({
        ok: false,
        type: 'RATE_LIMIT',
        status: 429,
      });
      expect(await mcp.call({ ...call('limited'), key })).toMatchObject({ ok: false, type: 'RATE_LIMIT' });
    });
  });
});
