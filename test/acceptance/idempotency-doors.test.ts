// Idempotency keys through each door: whose an outcome is, a key that is said twice, and a call that was accepted for later.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { callWhen } from '../helpers/async-client.ts';
import { grpcDoor, restDoor, type Door } from '../helpers/doors.ts';
import { openDatabase } from '../helpers/open-database.ts';
import { request, targetOf, type Envelope } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

/** Writes a line for each run. */
const HANDLER = `
import { appendFileSync } from 'node:fs';
export function execute({ file }) {
  appendFileSync(file, 'ran\\n');
  return { sent: true };
}
`;
const ANN = { session_id: 's1', user_id: 'ann', agent_id: 'a1' };

let dir: string;
let gateway: RunningGateway;
let doors: Readonly<Record<'rest' | 'grpc', Door>>;
let files = 0;

beforeAll(async () => {
  dir = tempDir();
  writeFileSync(join(dir, 'send.mjs'), HANDLER);
  const tool = {
    name: 'send',
    description: 'Sends something.',
    tool_type: 'javascript',
    implementation_config: { handler: './send.mjs', trusted: true },
    input_schema: { type: 'object', properties: { file: { type: 'string' } }, required: ['file'] },
  };
  writeFileSync(join(dir, 'tools.yaml'), stringify({ tools: [tool] }));
  gateway = await startGateway({
    tools: [join(dir, 'tools.yaml')],
    more: { service: { tenant: 'acme', roles: ['agent'] }, second: { tenant: 'acme', roles: ['agent'] } },
  });
  doors = { rest: restDoor(gateway), grpc: grpcDoor(gateway) };
  await openDatabase(gateway);
});

afterAll(async () => {
  doors.rest.close();
  doors.grpc.close();
  await gateway.stop();
  removeDir(dir);
});

/** A name of a file, which stands for the key too. */
function fresh(): string {
  files += 1;
  return join(dir, `sent-${files}`);
}

const runsIn = (file: string) => readFileSync(file, 'utf8').split('\n').length - 1;

function send(
  door: Door,
  file: string,
  said: { context?: Record<string, string>; beside?: Record<string, string>; by?: string },
) {
  const { context, beside, by = 'service' } = said;
  const key = gateway.key(by).key;
  return door.call({ tool: 'send', argumentsJson: JSON.stringify({ file }), context, beside, key });
}

describe.each(['rest', 'grpc'] as const)('the outcome of a call by %s', (first) => {
  it('is given to its own agent, user, session and key alone, by either door', async () => {
    const file = fresh();
    const context = { ...ANN, idempotency_key: file };
    expect(await send(doors[first], file, { context })).toMatchObject({
      ok: true,
      meta: { replayed: false },
    });
    for (const door of Object.values(doors))
      expect(await send(door, file, { context })).toMatchObject({ ok: true, meta: { replayed: true } });
    expect(runsIn(file)).toBe(1);
    let others = 0;
    for (const door of Object.values(doors)) {
      for (const [name, by] of [['user_id'], ['agent_id'], ['session_id'], ['', 'second']] as const) {
        const whose = name === '' ? context : { ...context, [name]: `another-by-${door.name}` };
        const answer = await send(door, file, { context: whose, by });
        // The second key is one caller at both doors.
        const isFirst = by === undefined || door.name === 'rest';
        expect(answer).toMatchObject({ ok: true, meta: { replayed: !isFirst } });
        others += isFirst ? 1 : 0;
      }
    }
    expect(runsIn(file)).toBe(1 + others);
  });

  it('is the same whether the key stands beside the call or in its context', async () => {
    const file = fresh();
    await send(doors[first], file, { context: { idempotency_key: file } });
    for (const door of Object.values(doors)) {
      const beside = { 'idempotency-key': file };
      expect(await send(door, file, { beside })).toMatchObject({ meta: { replayed: true } });
      const both = await send(door, file, { beside, context: { idempotency_key: file } });
      expect(both).toMatchObject({ meta: { replayed: true } });
    }
    expect(runsIn(file)).toBe(1);
  });
});

describe('two keys for one call', () => {
  it.each([
    ['rest', 'context.idempotency_key differs from the header Idempotency-Key'],
    ['grpc', 'context.idempotency_key differs from the metadata idempotency-key'],
  ] as const)('are refused, and nothing runs (%s)', async (name, words) => {
    const file = fresh();
    writeFileSync(file, '');
    const said = { beside: { 'idempotency-key': 'one' }, context: { idempotency_key: 'other' } };
    const answer = await send(doors[name], file, said);
    expect(answer).toMatchObject({ ok: false, type: 'VALIDATION', reason: 'IDEMPOTENCY_KEYS_DIFFER' });
    expect(answer.message).toContain(words);
    expect(runsIn(file)).toBe(0);
  });

  it('are refused in a list of calls, for the entry that has one of its own', async () => {
    const files = [fresh(), fresh()];
    for (const file of files) writeFileSync(file, '');
    const calls = files.map((file, at) => ({
      tool: 'send',
      arguments: { file },
      ...(at === 1 && { context: { idempotency_key: 'own' } }),
    }));
    const beside = { 'idempotency-key': 'of-the-list' };
    const { body } = await request<{ responses: Envelope[] }>(
      targetOf(gateway),
      'POST',
      '/v1/execute',
      { calls },
      beside,
    );
    expect(body.responses.map(({ error }) => error?.reason)).toEqual([undefined, 'IDEMPOTENCY_KEYS_DIFFER']);
    expect(files.map(runsIn)).toEqual([1, 0]);
  });
});

describe('a key of a call that was accepted for later', () => {
  const later = { prefer: 'respond-async' };
  const post = (file: string, key: string, more: Record<string, string>) =>
    request<Envelope & { meta: { call_url?: string; replayed: boolean } }>(
      targetOf(gateway),
      'POST',
      '/v1/tools/send/execute',
      { arguments: { file } },
      { 'idempotency-key': key, ...more },
    );

  it('leads to that call, before and after its end, and to no second one', async () => {
    const file = fresh();
    const accepted = await post(file, file, later);
    expect(accepted).toMatchObject({ status: 202, body: { ok: true } });
    const { call_url: place = '' } = accepted.body.meta;
    const again = await post(file, file, later);
    expect(again).toMatchObject({ status: 202, body: { meta: { call_url: place, replayed: true } } });
    await callWhen(targetOf(gateway), place.slice('/v1/calls/'.length));
    // Whether it would wait this time or not.
    for (const how of [later, {}] as Record<string, string>[])
      expect(await post(file, file, how)).toMatchObject({
        status: 202,
        body: { meta: { call_url: place, replayed: true } },
      });
    expect(runsIn(file)).toBe(1);
  });

  it('of a call that was waited for gives its outcome, not a call for later', async () => {
    const file = fresh();
    expect(await post(file, file, {})).toMatchObject({ status: 200 });
    expect(await post(file, file, later)).toMatchObject({
      status: 200,
      body: { data: { sent: true }, meta: { replayed: true } },
    });
    expect(runsIn(file)).toBe(1);
  });

  it('is another key with other arguments: refused, and nothing is accepted', async () => {
    const file = fresh();
    const accepted = await post(file, file, later);
    expect(await post(fresh(), file, later)).toMatchObject({
      status: 422,
      body: { error: { reason: 'PAYLOAD_MISMATCH' } },
    });
    const { call_url: place = '' } = accepted.body.meta;
    await callWhen(targetOf(gateway), place.slice('/v1/calls/'.length));
    expect(runsIn(file)).toBe(1);
  });
});
