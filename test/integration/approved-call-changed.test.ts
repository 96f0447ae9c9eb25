// A call that waits for its approval, changed in the database meanwhile: it is not run, and the trail says why.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseApiKey } from '../../src/lib/secrets/api-key.ts';
import { askedOf, decide, runsIn, startApprovalBench, type ApprovalBench } from '../helpers/approval-kit.ts';
import { callIdOf, callWhen } from '../helpers/async-client.ts';
import { eventually } from '../helpers/eventually.ts';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import { request, sendTo, type RestTarget } from '../helpers/rest-client.ts';

let postgres: Postgres;
let bench: ApprovalBench;
let ann: RestTarget;
let boss: RestTarget;

beforeAll(async () => {
  postgres = await startPostgres();
  bench = await startApprovalBench({ database: { url: postgres.url() } });
  [ann, boss] = [bench.gateway.key('ann'), bench.gateway.key('boss')];
});
afterAll(async () => {
  await bench?.stop();
  await postgres?.stop();
});

interface Meta {
  readonly call_id: string;
  readonly approval_id?: string;
}

async function waiting(note: string) {
  const asked = { arguments: { note }, context: { agent_id: 'a1' } };
  const path = '/v1/tools/act/execute';
  const { body } = await sendTo<{ meta: Meta }>(ann, 'POST', path, asked, { prefer: 'respond-async' });
  return { call: callIdOf(body.meta), asked: { id: body.meta.approval_id ?? '', token: '' } };
}

/** As whoever may write to the table does it, in the text that is kept of the call. */
const replace = (call: string, from: string, to: string) =>
  postgres.sql(
    `UPDATE calls SET request = jsonb_build_object('call', replace(request ->> 'call', $2, $3)) WHERE id = $1`,
    [call, from, to],
  );
const keptOf = (call: string) => postgres.sql('SELECT request FROM calls WHERE id = $1', [call]);

const idOf = (name: string) => parseApiKey(bench.gateway.key(name).key)?.id ?? '';
const CHANGED = { error_type: 'PERMISSION_DENIED', reason: 'APPROVED_CALL_CHANGED' };
const isRefused = async (call: string) => {
  expect(await callWhen(ann, call)).toMatchObject({ status: 'failed', ...CHANGED });
  await eventually(async () => {
    const { body } = await request<{ records: object[] }>(bench.admin, 'GET', `/v1/audit?call_id=${call}`);
    expect(body.records).toContainEqual(
      expect.objectContaining({ outcome: CHANGED.error_type, reason: CHANGED.reason }),
    );
  });
};

it.each<[string, (call: string, note: string, instead: string) => Promise<unknown>]>([
  ['its arguments', (call, note, instead) => replace(call, note, instead)],
  ['its tool', (call) => replace(call, '"tool":"act"', '"tool":"note"')],
  ['its agent', (call) => replace(call, '"agentId":"a1"', '"agentId":"a2"')],
  ['its caller', (call) => replace(call, idOf('ann'), idOf('service'))],
  ['what of the tool was approved', (call) => replace(call, '"runs":"', '"runs":"0')],
])('with %s changed, it is refused when it would run', async (_, change) => {
  const [note, instead] = [bench.newNote(), bench.newNote()];
  const { call, asked } = await waiting(note);
  const before = await keptOf(call);
  await change(call, note, instead);
  expect(await keptOf(call)).not.toEqual(before);
  await decide(boss, asked);
  await isRefused(call);
  expect([runsIn(note), runsIn(instead)]).toEqual([[], []]);
});

it('put into the queue before anybody has decided, it is refused', async () => {
  const note = bench.newNote();
  const { call } = await waiting(note);
  await postgres.sql(`UPDATE calls SET status = 'queued', notes = NULL WHERE id = $1`, [call]);
  await isRefused(call);
  expect(runsIn(note)).toEqual([]);
});

it('as it was, it runs', async () => {
  const note = bench.newNote();
  const { call, asked } = await waiting(note);
  expect((await decide(boss, asked)).body.status).toBe('used');
  expect(await callWhen(ann, call)).toMatchObject({ status: 'succeeded' });
  expect(runsIn(note)).toHaveLength(1);
});

it('rejected, and run again by somebody else under an approval of that, it runs', async () => {
  const note = bench.newNote();
  const { call, asked } = await waiting(note);
  await decide(boss, asked, 'reject');
  expect(await callWhen(ann, call)).toMatchObject({ reason: 'APPROVAL_REJECTED' });
  const again = (token?: string) =>
    request<{ confirmation_token?: string; approval_id?: string }>(
      bench.admin,
      'POST',
      `/v1/calls/${call}/retry`,
      {
        force: true,
        ...(token !== undefined && { confirmation_token: token }),
      },
    );
  const wanted = askedOf(await again());
  await decide(boss, wanted);
  expect((await again(wanted.token)).status).toBe(200);
  expect(await callWhen(ann, call, ({ status }) => status === 'succeeded')).toMatchObject({
    error_type: null,
  });
  expect(runsIn(note)).toHaveLength(1);
});
