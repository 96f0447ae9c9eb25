// A gateway that takes calls within sessions alone, and hostile calls of sessions: odd ids, floods of turns, ends in mid-call.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { request, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

interface Answer {
  readonly ok?: boolean;
  readonly id?: string;
  readonly turns?: number;
  readonly error?: { readonly type: string; readonly reason: string };
}

let gateway: RunningGateway;

beforeAll(async () => {
  const settings = { sessions: { required: true, max_per_tenant: 5 } };
  gateway = await startGateway({ tools: ['examples/sessions/tools.yaml', 'config/tools.yaml'], settings });
});

afterAll(() => gateway?.stop());

const post = async (path: string, body: object, who: 'agent' | 'other' = 'agent') =>
  (await request<Answer>(targetOf(gateway, who), 'POST', path, body)).body;
const faq = (context: object, slowMs = 0, who: 'agent' | 'other' = 'agent') =>
  post('/v1/tools/get_faqs/execute', { arguments: { topic: 'x', slow_ms: slowMs }, context }, who);
const declare = async () => (await post('/v1/sessions', { user_id: 'ann' })).id ?? '';

describe('where sessions are required', () => {
  it.each([{}, { session_id: 'call-17' }, { session_id: 'ses_' }, { session_id: `ses_${'x'.repeat(500)}` }])(
    'a call with %j is refused',
    async (context) => {
      expect(await faq(context)).toMatchObject({ error: { type: 'VALIDATION', reason: 'SESSION_REQUIRED' } });
    },
  );

  it('a call of one runs, and one of another tenant’s session is told of none', async () => {
    const id = await declare();
    expect(await faq({ session_id: id })).toMatchObject({ ok: true });
    expect(await faq({ session_id: id }, 0, 'other')).toMatchObject({
      error: { reason: 'SESSION_NOT_FOUND' },
    });
  });

  it.each(['0', '-1', '1.5', '1e3', '٣', '99999999999', ' 1'])('a turn called %j is none', async (turn) => {
    const id = await declare();
    const refused = await faq({ session_id: id, turn_id: turn });
    expect(refused).toMatchObject({ error: { type: 'VALIDATION', reason: 'TURN_UNKNOWN' } });
    await request(targetOf(gateway, 'agent'), 'DELETE', `/v1/sessions/${id}`);
  });

  it('turns that are begun at once are all begun, one after the other', async () => {
    const id = await declare();
    const begun = await Promise.all(Array.from({ length: 10 }, () => post(`/v1/sessions/${id}/turns`, {})));
    expect(new Set(begun.map(({ turns }) => turns)).size).toBe(10);
  });

  it('a call that runs when its session is ended comes to its end', async () => {
    const id = await declare();
    await faq({ session_id: id });
    const running = faq({ session_id: id }, 500);
    await request(targetOf(gateway, 'agent'), 'DELETE', `/v1/sessions/${id}`);
    expect(await faq({ session_id: id })).toMatchObject({ error: { type: 'SESSION_INACTIVE' } });
    expect([true, 'SESSION_ENDED']).toContain((await running).ok === true || (await running).error?.reason);
  });

  it('a tenant has no more than it may, and others have theirs', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => post('/v1/sessions', {}) as Promise<Answer & { reason?: string }>),
    );
    expect(answers.some(({ reason }) => reason === 'TOO_MANY_SESSIONS')).toBe(true);
    expect((await post('/v1/sessions', {}, 'other')).id).toMatch(/^ses_/);
  });
});
