// examples/sessions: what its README shows.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { request, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const FOLDER = 'examples/sessions';
let gateway: RunningGateway;

beforeAll(async () => {
  const { loaders: _own, ...settings } = parse(readFileSync(`${FOLDER}/gateway.yaml`, 'utf8')) as {
    loaders: unknown;
  };
  gateway = await startGateway({ tools: [`${FOLDER}/tools.yaml`], settings });
});

afterAll(() => gateway?.stop());

async function call(tool: string, args: object, context: object = {}) {
  const body = { arguments: args, context };
  return (await request<object>(targetOf(gateway, 'agent'), 'POST', `/v1/tools/${tool}/execute`, body)).body;
}

describe('the sessions example', () => {
  it('a turn by voice has two retrievals', async () => {
    const turn = { mode: 'voice', session_id: 'c-17', turn_id: '1' };
    for (const topic of ['parking', 'pets'])
      expect(await call('get_faqs', { topic }, turn)).toMatchObject({ ok: true });
    expect(await call('get_faqs', { topic: 'prices' }, turn)).toMatchObject({
      error: {
        type: 'BUDGET_EXCEEDED',
        details: { budget: 'turn_retrievals', limit: 2, used: 2, free_at: null },
      },
    });
    expect(await call('get_faqs', { topic: 'prices' }, { ...turn, turn_id: '2' })).toMatchObject({
      ok: true,
    });
  });

  it('what is of medium risk is not done by voice', async () => {
    expect(await call('refund', {}, { mode: 'voice' })).toMatchObject({ error: { reason: 'MODE_RULE' } });
    expect(await call('refund', {}, { mode: 'text' })).toMatchObject({ ok: true });
  });

  it('a declared session has turns, and an end', async () => {
    const target = targetOf(gateway, 'agent');
    const draft = { agent_id: 'front-desk', user_id: 'ann', mode: 'text' };
    const { body: session } = await request<{ id: string }>(target, 'POST', '/v1/sessions', draft);
    const faq = () => call('get_faqs', { topic: 'x' }, { session_id: session.id });
    for (let each = 0; each < 5; each += 1) expect(await faq()).toMatchObject({ ok: true });
    expect(await faq()).toMatchObject({ error: { details: { budget: 'turn_retrievals', limit: 5 } } });
    await request(target, 'POST', `/v1/sessions/${session.id}/turns`);
    expect(await faq()).toMatchObject({ ok: true });
    await request(target, 'DELETE', `/v1/sessions/${session.id}`);
    expect(await faq()).toMatchObject({ error: { type: 'SESSION_INACTIVE' } });
  });

  it('a user has money for two translations a day', async () => {
    const translate = (user: string) => call('translate', { text: 'hello' }, { user_id: user });
    for (let each = 0; each < 2; each += 1)
      expect(await translate('ann')).toMatchObject({ data: { text: 'HELLO' } });
    expect(await translate('ann')).toMatchObject({
      error: {
        details: { budget: 'user_cost', limit: 0.5, used: 0.4, free_at: expect.stringMatching(/T00:00:00/) },
      },
    });
    expect(await translate('bob')).toMatchObject({ ok: true });
  });
});
