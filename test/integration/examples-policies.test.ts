// examples/policies: what its README shows.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { request, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const FOLDER = 'examples/policies';
let gateway: RunningGateway;

beforeAll(async () => {
  const { extensions } = parse(readFileSync(`${FOLDER}/gateway.yaml`, 'utf8')) as { extensions: unknown };
  gateway = await startGateway({ tools: [`${FOLDER}/tools.yaml`], settings: { extensions } });
});

afterAll(() => gateway?.stop());

async function call(tool: string, args: object, mode: 'voice' | 'text' = 'text') {
  const body = { arguments: args, context: { mode } };
  return (await request<object>(targetOf(gateway, 'agent'), 'POST', `/v1/tools/${tool}/execute`, body)).body;
}

const refusedBy = (rule: string) => ({ error: { reason: 'POLICY_DENIED', details: { rule } } });

describe('the policies example', () => {
  it('transfers to own accounts, asks a human about larger sums by voice, and refuses the rest', async () => {
    const own = { to: 'own-7', amount: 101 };
    expect(await call('transfer', own)).toMatchObject({ ok: true, data: { transferred: 101 } });
    expect(await call('transfer', own, 'voice')).toMatchObject({ error: { reason: 'APPROVAL_REQUIRED' } });
    expect(await call('transfer', { to: 'acct-7', amount: 101 })).toMatchObject(refusedBy('known-purpose'));
    expect(await call('transfer', { to: 'acct-7', amount: 101, purpose: 'rent' })).toMatchObject({
      ok: true,
    });
    expect(await call('transfer', { to: 'own-7', amount: 5001 })).toMatchObject(
      refusedBy('no-large-transfers'),
    );
  });

  it('keeps notes inside, by a rule of the tool’s own', async () => {
    const outside = { to: ['a@bank.example', 'b@else.example'] };
    expect(await call('send_note', outside)).toMatchObject(refusedBy('inside-only'));
    expect(await call('send_note', { to: ['a@bank.example'] })).toMatchObject({
      ok: true,
      data: { sent: 1 },
    });
  });
});
