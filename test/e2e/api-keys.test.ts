// API keys in the database, through running gateways that share one: made, rotated, ended, and in force on three replicas.
import { hash } from 'node:crypto';
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grpcDoor, restDoor, type Door } from '../helpers/doors.ts';
import { sharedStores, type Stores } from '../helpers/stores.ts';
import { startGateway, type RunningGateway, type WantedKey } from '../helpers/running-gateway.ts';

/** Each replica is started with keys of its own: a caller of both has a key of the database. */
const MORE: Readonly<Record<string, WantedKey>> = {
  boss: { tenant: 'umbrella', roles: ['admin'] },
  clerk: { tenant: 'umbrella', roles: ['keeper'], agents: ['front-desk'] },
};
const TOOLS = ['test/fixtures/audit/tools.yaml'];

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: { readonly [field: string]: unknown };
}

let stores: Stores;
let one: RunningGateway;
let two: RunningGateway;
let three: RunningGateway;
let doors: readonly Door[];
/** Of the other two replicas. */
let elsewhere: readonly Door[];

beforeAll(async () => {
  stores = await sharedStores();
  const roles = { keeper: ['keys:read', 'keys:manage', 'tools:read'] };
  const options = { tools: TOOLS, settings: stores.settings, more: MORE, roles };
  one = await startGateway(options);
  [two, three] = await Promise.all([startGateway(options), startGateway(options)]);
  doors = [restDoor(one), grpcDoor(one)];
  elsewhere = [restDoor(two), grpcDoor(two), restDoor(three), grpcDoor(three)];
});

afterAll(async () => {
  for (const door of [...(doors ?? []), ...(elsewhere ?? [])]) door.close();
  await Promise.all([one?.stop(), two?.stop(), three?.stop()]);
  await stores?.stop();
});

async function ask(key: string, method: string, path: string, body?: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const said = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${one.url}${path}`, { method, headers, ...said });
  const text = await response.text();
  return { status: response.status, text, body: text === '' ? {} : JSON.parse(text) };
}

const admin = () => one.keys.admin.text;
const boss = () => one.key('boss').key;

async function made(body: object, by = admin()): Promise<{ readonly id: string; readonly key: string }> {
  const answer = await ask(by, 'POST', '/v1/keys', { name: 'test', roles: ['agent'], ...body });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body as { id: string; key: string };
}

async function saidBy(asked: readonly Door[], key: string): Promise<readonly string[]> {
  const call = { tool: 'no-such-tool', argumentsJson: '{}', key };
  const decisions = await Promise.all(asked.map((door) => door.call(call)));
  return decisions.map(({ type, reason }) => (type === 'AUTH' ? `${reason}` : 'let in'));
}

const LET_IN = ['let in', 'let in'];
const REFUSED = ['CREDENTIAL_INVALID', 'CREDENTIAL_INVALID'];
/** By both doors of each of the other two. */
const everywhere = (told: readonly string[]) => [...told, ...told];
const SOON = { timeout: 50_000, interval: 50 };

describe('a key of the database', () => {
  it('is let in at every door at once, and at two other replicas without a restart', async () => {
    const { key } = await made({});
    expect(await saidBy(doors, key)).toEqual(LET_IN);
    await expect.poll(() => saidBy(elsewhere, key), SOON).toEqual(everywhere(LET_IN));
  });

  it('that is revoked is refused at every door at once, and at two other replicas without a restart', async () => {
    const { id, key } = await made({});
    await expect.poll(() => saidBy(elsewhere, key), SOON).toEqual(everywhere(LET_IN));
    expect((await ask(admin(), 'DELETE', `/v1/keys/${id}`)).status).toBe(204);
    expect(await saidBy(doors, key)).toEqual(REFUSED);
    await expect.poll(() => saidBy(elsewhere, key), SOON).toEqual(everywhere(REFUSED));
    const again = await ask(admin(), 'POST', `/v1/keys/${id}/rotate`, {});
    expect(again.body).toMatchObject({ status: 404, reason: 'KEY_NOT_FOUND' });
  });

  it('that is revoked is told nothing more by streams that are open, here and on another replica', async () => {
    const { id, key } = await made({ roles: ['admin'] });
    await expect.poll(() => saidBy(elsewhere, key), SOON).toEqual(everywhere(LET_IN));
    const followed = async ({ url }: RunningGateway) => {
      const headers = { authorization: `Bearer ${key}` };
      const { status, body } = await fetch(`${url}/v1/approvals/events`, { headers });
      expect(status).toBe(200);
      let told = '';
      const ended = (async () => {
        for await (const piece of body ?? []) told += Buffer.from(piece).toString();
      })();
      return { told: () => told, ended };
    };
    const asked = async (n: number) => {
      const path = '/v1/tools/wire_money/execute';
      const { body } = await ask(admin(), 'POST', path, { arguments: { n } });
      return (body['error'] as { details: { approval_id: string } }).details.approval_id;
    };
    const streams = [await followed(one), await followed(two)];
    const before = await asked(1);
    for (const { told } of streams) await expect.poll(told, SOON).toContain(before);
    await ask(admin(), 'DELETE', `/v1/keys/${id}`);
    await expect.poll(() => saidBy(elsewhere, key), SOON).toEqual(everywhere(REFUSED));
    const after = await asked(2);
    for (const { told, ended } of streams) {
      await ended;
      expect(told()).not.toContain(after);
    }
  });

  it('that serves several tenants does so on every replica, for those that it lists, until it is revoked', async () => {
    const { id, key } = await made({ tenants: ['acme', 'wayne'] });
    const saidFor = async (tenant: string) => {
      const call = { tool: 'no-such-tool', argumentsJson: '{}', key, beside: { 'x-ute-tenant': tenant } };
      const decided = await Promise.all(elsewhere.map((door) => door.call(call)));
      return new Set(decided.map(({ reason }) => reason));
    };
    await expect.poll(() => saidFor('wayne'), SOON).toEqual(new Set(['TOOL_NOT_FOUND']));
    expect(await saidFor('acme')).toEqual(new Set(['TOOL_NOT_FOUND']));
    expect(await saidFor('umbrella')).toEqual(new Set(['TENANT_NOT_ALLOWED']));
    expect((await ask(admin(), 'DELETE', `/v1/keys/${id}`)).status).toBe(204);
    await expect.poll(() => saidFor('wayne'), SOON).toEqual(new Set(['CREDENTIAL_INVALID']));
  });

  it('has two secrets after a rotation, and the older one ends with the next', async () => {
    const { id, key: first } = await made({});
    const second = (await ask(admin(), 'POST', `/v1/keys/${id}/rotate`, {})).body as { key: string };
    expect([await saidBy(doors, first), await saidBy(doors, second.key)]).toEqual([LET_IN, LET_IN]);
    const third = (await ask(admin(), 'POST', `/v1/keys/${id}/rotate`)).body as { key: string };
    expect(await saidBy(doors, first)).toEqual(REFUSED);
    expect([await saidBy(doors, second.key), await saidBy(doors, third.key)]).toEqual([LET_IN, LET_IN]);
    await ask(admin(), 'POST', `/v1/keys/${id}/rotate`, { keep_previous_ms: 0 });
    expect(await saidBy(doors, third.key)).toEqual(['CREDENTIAL_EXPIRED', 'CREDENTIAL_EXPIRED']);
  });

  it('that is told to expire is refused from then on, and told not to, let in again', async () => {
    const { id, key } = await made({});
    const past = await ask(admin(), 'PATCH', `/v1/keys/${id}`, { expires_at: '2020-01-01T00:00:00Z' });
    expect(past.body).toMatchObject({ state: 'expired', expires_at: '2020-01-01T00:00:00.000Z' });
    expect(await saidBy(doors, key)).toEqual(['CREDENTIAL_EXPIRED', 'CREDENTIAL_EXPIRED']);
    await ask(admin(), 'PATCH', `/v1/keys/${id}`, { expires_at: null });
    expect(await saidBy(doors, key)).toEqual(LET_IN);
  });

  it('is shown once: no other answer, no list and no record holds its secret or a hash of it', async () => {
    const { id, key } = await made({ name: 'shown once' });
    const parts = [key, key.slice(18, -9)];
    const looks = ['/v1/keys?page_size=1000', `/v1/keys/${id}`, '/v1/audit?page_size=1000'];
    for (const look of looks) {
      const { status, text } = await ask(admin(), 'GET', look);
      expect(status).toBe(200);
      expect(text).toContain(id);
      for (const part of parts) expect(text).not.toContain(part);
      expect(text).not.toMatch(/sha256|"key"/);
    }
  });

  it('is recorded with who made, rotated and revoked it', async () => {
    const { id } = await made({ tenant: 'wayne' });
    await ask(admin(), 'POST', `/v1/keys/${id}/rotate`, {});
    await ask(admin(), 'DELETE', `/v1/keys/${id}`);
    const { body } = await ask(admin(), 'GET', '/v1/audit?page_size=1000');
    const records = body['records'] as readonly { readonly notes: Record<string, string> | null }[];
    const acts = records
      .filter(({ notes }) => notes?.['target'] === id)
      .map(({ notes }) => notes?.['action']);
    expect(new Set(acts)).toEqual(new Set(['keys.create', 'keys.revoke', 'keys.rotate']));
  });
});

/** With the checksum that belongs to it. */
function keyText(id: string, secret: string): string {
  const body = `ute_live_${id}_${secret}`;
  return `${body}_${crc32(body).toString(16).padStart(8, '0')}`;
}

describe('an attack on both doors', () => {
  type Attack = [what: string, make: (key: Shown, other: Shown) => string];
  interface Shown {
    readonly id: string;
    readonly secret: string;
    readonly text: string;
  }
  const attacks: Attack[] = [
    ['the secret of one key under the id of another', (key, other) => keyText(other.id, key.secret)],
    [
      'the hash of a secret in its place',
      ({ id, secret }) => keyText(id, hash('sha256', secret, 'base64url')),
    ],
    ['a secret of somebody’s own under a known id', ({ id }) => keyText(id, 'A'.repeat(43))],
    [
      'the last character of a secret changed',
      ({ id, secret }) => keyText(id, secret.slice(0, -1) + (secret.endsWith('A') ? 'B' : 'A')),
    ],
    ['a secret cut short', ({ id, secret }) => keyText(id, secret.slice(0, -1))],
    ['a secret and more', ({ id, secret }) => keyText(id, `${secret}A`)],
    ['an id that nobody has', ({ secret }) => keyText('zzzzzzzz', secret)],
    ['an empty secret', ({ id }) => keyText(id, '')],
    ['a wrong checksum', ({ text: whole }) => `${whole.slice(0, -8)}00000000`],
    ['everything in capitals', ({ text: whole }) => whole.toUpperCase()],
    ['the key twice', ({ text: whole }) => `${whole}${whole}`],
    ['the key among others', ({ text: whole }, other) => `${other.text.slice(0, -1)},${whole}`],
    ['the id alone', ({ id }) => id],
    ['very much', ({ id }) => keyText(id, 'A'.repeat(7_000))],
  ];
  let key: Shown;
  let other: Shown;
  beforeAll(async () => {
    const shown = async (): Promise<Shown> => {
      const { id, key: whole } = await made({});
      return { id, text: whole, secret: whole.slice('ute_live_'.length + id.length + 1, -9) };
    };
    [key, other] = [await shown(), await shown()];
  });

  it('with nothing but what the key says itself is none: the texts below are made as keys are', async () => {
    expect(await saidBy(doors, keyText(key.id, key.secret))).toEqual(LET_IN);
  });

  it.each(attacks)('with %s is refused', async (_what, make) => {
    expect(await saidBy(doors, make(key, other))).toEqual(REFUSED);
  });

  it('with a key that stands elsewhere than in a header of its own is one without a key', async () => {
    const at = `${one.url}/v1/keys`;
    const places: readonly [query: string, headers: Record<string, string>][] = [
      [`?api_key=${admin()}`, {}],
      [`?access_token=${admin()}`, {}],
      ['', { cookie: `authorization=${admin()}; api_key=${admin()}` }],
      ['', { authorization: `Basic ${Buffer.from(`x:${admin()}`).toString('base64')}` }],
      ['', { authorization: admin() }],
      ['', { 'proxy-authorization': `Bearer ${admin()}` }],
    ];
    for (const [query, headers] of places) {
      const response = await fetch(`${at}${query}`, { headers });
      expect([query, headers, response.status]).toEqual([query, headers, 401]);
      expect(await response.text()).not.toContain(admin());
    }
  });
});

describe('a request', () => {
  it('that shows two credentials is refused at every door where they differ, and let in where they do not', async () => {
    const [first, second] = [(await made({})).key, (await made({})).key];
    for (const door of doors) {
      const asked = { tool: 'no-such-tool', argumentsJson: '{}', key: first };
      const told = async (key: string) =>
        (await door.call({ ...asked, beside: { 'x-api-key': key } })).reason;
      expect([door.name, await told(second)]).toEqual([door.name, 'CREDENTIALS_DIFFER']);
      expect([door.name, await told('nothing')]).toEqual([door.name, 'CREDENTIALS_DIFFER']);
      expect([door.name, await told(first)]).toEqual([door.name, 'TOOL_NOT_FOUND']);
    }
  });

  it('that says authorization twice is refused where they differ, also on the management side', async () => {
    const { key } = await made({}, boss());
    const said = (...keys: readonly string[]) =>
      new Promise<readonly [number, string]>((done, failed) => {
        const headers = { authorization: keys.map((each) => `Bearer ${each}`) };
        get(`${one.url}/v1/keys`, { headers } as object, (answer) => {
          text(answer).then((body) => {
            const { reason } = JSON.parse(body) as { readonly reason?: string };
            done([answer.statusCode ?? 0, reason ?? '']);
          }, failed);
        }).on('error', failed);
      });
    expect(await said(boss(), key)).toEqual([401, 'CREDENTIALS_DIFFER']);
    expect(await said(boss(), boss())).toEqual([200, '']);
  });
});

describe('what an answer shows once', () => {
  it('is kept by no cache, and is not answered again', async () => {
    const post = (path: string, body: object, more: Record<string, string> = {}) =>
      fetch(`${one.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${admin()}`, 'content-type': 'application/json', ...more },
        body: JSON.stringify(body),
      });
    const wanted = { name: 'shown', roles: ['agent'] };
    const created = await post('/v1/keys', wanted);
    const { id } = (await created.json()) as { readonly id: string };
    const rotated = await post(`/v1/keys/${id}/rotate`, {});
    for (const answer of [created, rotated]) expect(answer.headers.get('cache-control')).toBe('no-store');
    const again = { 'idempotency-key': 'once' };
    for (const path of ['/v1/keys', `/v1/keys/${id}/rotate`]) {
      const refused = await post(path, path === '/v1/keys' ? wanted : {}, again);
      expect([refused.status, await refused.text()]).toEqual([
        400,
        expect.stringContaining('Idempotency-Key'),
      ]);
    }
  });

  it('is in no record: those say what was made, and for whom until when', async () => {
    const expires = '2099-01-01T00:00:00.000Z';
    const { id, key } = await made({ tenant: 'wayne', agents: ['desk'], expires_at: expires });
    const rotated = await ask(admin(), 'POST', `/v1/keys/${id}/rotate`, {});
    await ask(admin(), 'DELETE', `/v1/keys/${id}`);
    const { body, text: whole } = await ask(admin(), 'GET', '/v1/audit?kind=management&page_size=1000');
    const records = body['records'] as readonly { readonly notes: Record<string, unknown> | null }[];
    const notes = records.flatMap((each) => (each.notes?.['target'] === id ? [each.notes] : []));
    const what = { key_id: id, tenant: 'wayne', agents: ['desk'], roles: ['agent'], expires_at: expires };
    for (const action of ['keys.create', 'keys.rotate', 'keys.revoke'])
      expect(notes).toContainEqual(expect.objectContaining({ action, ...what }));
    for (const secret of [key, String(rotated.body['key'])]) expect(whole).not.toContain(secret.slice(-20));
  });
});

it.each(['2027-02-29T00:00:00Z', '2026-02-30T00:00:00Z', '2027-01-01T24:00:00Z'])(
  'a key does not expire at %s, which is no time: its field is named',
  async (time) => {
    const wanted = { name: 'x', roles: ['agent'], expires_at: time };
    const { status, body } = await ask(admin(), 'POST', '/v1/keys', wanted);
    expect([status, body['violations']]).toEqual([
      400,
      [expect.objectContaining({ pointer: '/expires_at' })],
    ]);
    const { id } = await made({});
    const changed = await ask(admin(), 'PATCH', `/v1/keys/${id}`, { expires_at: time });
    expect([changed.status, changed.text]).toEqual([400, expect.stringContaining('/expires_at')]);
  },
);

describe('nobody grants more than it has', () => {
  it("a tenant's admin makes keys of its tenant, and sees no others", async () => {
    const { id } = await made({}, boss());
    expect((await ask(boss(), 'GET', `/v1/keys/${id}`)).body).toMatchObject({ tenant: 'umbrella' });
    const foreign = await made({ tenant: 'wayne' });
    const listed = await ask(boss(), 'GET', '/v1/keys?page_size=1000');
    expect(listed.text).toContain(id);
    expect(listed.text).not.toContain(foreign.id);
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/rotate'],
    ] as const) {
      const { status, body } = await ask(boss(), method, `/v1/keys/${foreign.id}${path}`);
      expect([status, body['reason']]).toEqual([404, 'KEY_NOT_FOUND']);
    }
    expect(await saidBy(doors, foreign.key)).toEqual(LET_IN);
  });

  it.each([
    ['another tenant', { tenant: 'wayne' }, 403, 'TENANT_MISMATCH'],
    ['the platform', { tenant: null, roles: ['admin'] }, 403, 'TENANT_MISMATCH'],
    ['the role platform_admin', { roles: ['platform_admin'] }, 403, 'PERMISSION_MISSING'],
    ['a role that there is not', { roles: ['ghost'] }, 400, 'MALFORMED_CALL'],
    ['a role that every object has', { roles: ['constructor'] }, 400, 'MALFORMED_CALL'],
  ])("a tenant's admin makes no key with %s", async (_what, wanted, status, reason) => {
    const answer = await ask(boss(), 'POST', '/v1/keys', { name: 'x', roles: ['agent'], ...wanted });
    expect([answer.status, answer.body['reason']]).toEqual([status, reason]);
  });

  it('who may manage keys and no more makes none that calls tools, and gets no secret of one that does', async () => {
    const clerk = one.key('clerk').key;
    const wanted = { name: 'x', agents: ['front-desk'] };
    const agent = await ask(clerk, 'POST', '/v1/keys', { ...wanted, roles: ['agent'] });
    expect(agent.body).toMatchObject({ status: 403, reason: 'PERMISSION_MISSING', permission: 'tools:call' });
    const anyAgent = await ask(clerk, 'POST', '/v1/keys', { name: 'x', roles: ['reader'] });
    expect(anyAgent.body).toMatchObject({ status: 403, reason: 'AGENT_MISMATCH' });
    expect((await ask(clerk, 'POST', '/v1/keys', { ...wanted, roles: ['reader'] })).status).toBe(201);
    const { id } = await made({}, boss());
    const rotated = await ask(clerk, 'POST', `/v1/keys/${id}/rotate`, {});
    expect(rotated.body).toMatchObject({ status: 403, reason: 'PERMISSION_MISSING' });
  });

  it('an agent makes no key', async () => {
    const { body } = await ask(one.keys.agent.text, 'POST', '/v1/keys', { name: 'x', roles: ['agent'] });
    expect(body).toMatchObject({ status: 403, reason: 'PERMISSION_MISSING', permission: 'keys:manage' });
  });
});
