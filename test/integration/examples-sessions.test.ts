// examples/sessions: what its README shows.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { run } from '../../src/cli/run.ts';
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

describe('ute sessions', () => {
  /** As the credential says; `--json` answers are read. */
  async function ute(who: 'agent' | 'other' | 'reader', ...argv: readonly string[]) {
    const out = { text: '', errors: '' };
    const { url, key } = targetOf(gateway, who);
    const code = await run(['sessions', ...argv, '--url', url], {
      stdout: (text) => (out.text += text),
      stderr: (text) => (out.errors += text),
      readStdin: async () => '',
      fetch,
      env: { UTE_API_KEY: key },
      cwd: gateway.dir,
    });
    return { code, ...out };
  }
  const create = async (...argv: readonly string[]) => {
    const { code, text } = await ute('agent', 'create', ...argv, '--json');
    expect(code).toBe(0);
    return JSON.parse(text) as { id: string; turn_id: string };
  };

  it('creates one for an agent, a user and a mode, shown with what is used of its budgets', async () => {
    const { id, turn_id: turn } = await create('--agent', 'desk', '--user', 'eve', '--mode', 'voice');
    await call('get_faqs', { topic: 'x' }, { session_id: id });
    const { code, text } = await ute('agent', 'show', id);
    expect(code).toBe(0);
    const [head, row, empty, budgets, ...used] = text.trimEnd().split('\n');
    expect(head).toMatch(/^ID +STATE +MODE +AGENT +USER +TURN +CREATED/);
    expect(row).toMatch(new RegExp(`^${id} +active +voice +desk +eve +${turn} +20`));
    expect([empty, budgets?.split(/ +/)]).toEqual(['', ['BUDGET', 'USED', 'LIMIT', 'FREE', 'AT']]);
    expect(used.join('\n')).toMatch(/turn_retrievals +1 +2/);
  });

  it('begins turns, ends, and lists by agent, user and whether they are over', async () => {
    const [one, two] = [await create('--agent', 'north', '--user', 'u'), await create('--agent', 'north')];
    const turned = await ute('agent', 'turn', one.id, '--json');
    expect((JSON.parse(turned.text) as { turn_id: string }).turn_id).not.toBe(one.turn_id);
    expect((await ute('agent', 'end', two.id)).text).toMatch(new RegExp(`${two.id} +ended`));
    const listed = async (...argv: readonly string[]) =>
      (JSON.parse((await ute('agent', 'list', ...argv, '--json')).text) as { id: string }[]).map(
        ({ id }) => id,
      );
    expect(await listed('--agent', 'north')).toEqual([two.id, one.id]);
    expect(await listed('--agent', 'north', '--active')).toEqual([one.id]);
    expect(await listed('--user', 'u')).toEqual([one.id]);
    expect((await ute('agent', 'turn', two.id)).errors).toContain('(409): This session has been ended');
  });

  it('lists the calls of one, newest first, with how they ended', async () => {
    const { id } = await create('--mode', 'voice');
    await call('get_faqs', { topic: 'x' }, { session_id: id });
    await call('refund', {}, { session_id: id });
    const { code, text } = await ute('agent', 'calls', id);
    expect(code).toBe(0);
    const [head, ...rows] = text.trimEnd().split('\n');
    expect(head).toMatch(/^ID +TOOL +STATUS +ERROR +CREATED/);
    expect(rows.join('\n')).toMatch(/refund +failed +\S+.*\n.*get_faqs +succeeded/);
  });

  it('shows nothing to another tenant, and ends with a code that says which kind of failure', async () => {
    const { id } = await create();
    const other = await ute('other', 'show', id);
    expect([other.code, other.text]).toEqual([3, '']);
    expect(other.errors).toContain('(404)');
    expect((await ute('other', 'list', '--json')).text).toBe('[]\n');
    expect((await ute('reader', 'create')).errors).toContain('(403): This needs the permission');
    const wrong = await ute('agent', 'create', '--mode', 'shouting');
    expect(wrong.code).toBe(2);
    expect(wrong.errors).toContain('voice');
    expect((await ute('agent', 'show')).code).toBe(2);
  });
});
