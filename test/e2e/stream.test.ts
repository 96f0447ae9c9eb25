// E6: a stream that pauses at a call and goes on with its result, in the protocol of seed 004; E3 and E5 as far as they are heard in it.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../helpers/open-database.ts';
import { request, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { StreamClient, type StreamMessage } from '../helpers/stream-client.ts';

let gateway: RunningGateway;
const open: StreamClient[] = [];

beforeAll(async () => {
  gateway = await startGateway({
    tools: ['config/tools.yaml', 'test/fixtures/stream/tools.yaml'],
    settings: { modes: {} },
  });
  await openDatabase(gateway);
});

afterEach(() => {
  for (const client of open.splice(0)) client.cut();
});

afterAll(() => gateway?.stop());

const target = (who: 'agent' | 'other' | 'admin' = 'agent') => ({
  url: gateway.url,
  key: gateway.keys[who].text,
});

async function start(fields: object = {}, who: 'agent' | 'other' | 'admin' = 'agent') {
  const client = await StreamClient.start(target(who), fields);
  open.push(client);
  return client;
}

const spoken = (messages: readonly StreamMessage[]) =>
  messages
    .filter(({ seq }) => seq !== undefined)
    .map(({ type, text, id }) => (type === 'text_delta' ? text : `${type} ${id}`));

describe('E6: the protocol {type: tool_call} → {type: tool_result}', () => {
  it("the seed's own call is answered in the seed's own form", async () => {
    const stream = await start({ agent_id: 'desk', user_id: 'sarah' });
    stream.send({
      type: 'tool_call',
      tool_name: 'get_latest_booking',
      arguments: { business_id: 'acme', customer_phone: '+61400111222' },
    });
    expect(await stream.next('tool_result')).toMatchObject({
      type: 'tool_result',
      tool_name: 'get_latest_booking',
      ok: true,
      result: { booking_id: 'b-222', status: 'confirmed', service: 'Haircut', customer_name: 'Sarah M' },
      meta: { tool: 'get_latest_booking', executor: 'javascript', cached: false },
    });
  });

  it('text before a call passes, and text after it waits for the result', async () => {
    const stream = await start();
    for (const text of ['Let me ', 'look. ']) stream.send({ type: 'text_delta', text });
    stream.send({ type: 'tool_call', id: 'a', tool_name: 'wait', arguments: { ms: 60_000 } });
    for (const text of ['You are ', 'booked.']) stream.send({ type: 'text_delta', text });
    await stream.next('tool_started');
    stream.send({ type: 'ping', nonce: 'behind' });
    // All was taken by now, and only what stands before the call has come.
    await stream.next('pong');
    expect(spoken(stream.messages)).toEqual(['Let me ', 'look. ', 'tool_started a']);
    stream.send({ type: 'tool_cancel', id: 'a' });
    await stream.nextWhere(({ text }) => text === 'booked.');
    expect(spoken(stream.messages)).toEqual([
      'Let me ',
      'look. ',
      'tool_started a',
      'tool_result a',
      'You are ',
      'booked.',
    ]);
    expect(stream.messages.flatMap(({ seq = [] }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('calls one after the other run at the same time, and their results come in their order', async () => {
    const stream = await start();
    stream.send({ type: 'tool_call', id: 'slow', tool_name: 'wait', arguments: { ms: 60_000 } });
    stream.send({ type: 'tool_call', id: 'fast', tool_name: 'wait', arguments: { ms: 0 } });
    await stream.nextWhere(({ type, id }) => type === 'tool_started' && id === 'slow');
    stream.send({ type: 'tool_cancel', id: 'slow' });
    const [one, two] = [await stream.next('tool_result'), await stream.next('tool_result')];
    expect([one.id, one.error?.type, two.id, two.ok]).toEqual(['slow', 'CANCELLED', 'fast', true]);
  });

  it('progress, log lines and partial results come before the result, in their order', async () => {
    const stream = await start();
    const result = await stream.call('report', { parts: 3 }, { id: 'r' });
    expect(result).toMatchObject({ ok: true, result: { parts: 3 } });
    expect(stream.messages.filter(({ id }) => id === 'r').map(({ type, data }) => [type, data])).toEqual([
      ['tool_started', undefined],
      ['tool_progress', undefined],
      ['tool_log', undefined],
      ['tool_partial', { part: 1, text: 'x' }],
      ['tool_partial', { part: 2, text: 'x' }],
      ['tool_partial', { part: 3, text: 'x' }],
      ['tool_result', undefined],
    ]);
  });

  it('a large partial result keeps its place among the small ones', async () => {
    const stream = await start();
    await stream.call('report', { parts: 3, size: 100_000 });
    const parts = stream.messages.filter(({ type }) => type === 'tool_partial');
    expect(parts.map(({ data }) => (data as { part: number }).part)).toEqual([1, 2, 3]);
  });

  it('a call belongs to the session of the stream, its agent, its user, its mode and its turn', async () => {
    const stream = await start({ agent_id: 'desk', user_id: 'ann', mode: 'text' });
    const session = stream.started['session'] as { id: string };
    expect((await stream.call('who')).result).toEqual({
      tenantId: 'acme',
      agentId: 'desk',
      userId: 'ann',
      mode: 'text',
      sessionId: session.id,
    });
  });

  it('a call cannot name the session of another', async () => {
    const [one, two] = [await start(), await start()];
    const { id } = one.started['session'] as { id: string };
    const result = await two.call('who', {}, { context: { session_id: id } });
    expect(result.error).toMatchObject({
      type: 'VALIDATION',
      details: { violations: [{ pointer: '/context/session_id' }] },
    });
  });

  it('what a call is refused for is told as in an envelope, and the stream goes on', async () => {
    const stream = await start();
    expect((await stream.call('get_policies', {})).error).toMatchObject({
      type: 'VALIDATION',
      reason: 'SCHEMA_MISMATCH',
      origin: 'caller',
      retryable: false,
      partial_side_effects: false,
      retry_after_ms: null,
      details: { violations: [{ pointer: '/topic' }] },
    });
    expect((await stream.call('nobody')).error).toMatchObject({
      type: 'NOT_FOUND',
      reason: 'TOOL_NOT_FOUND',
    });
    expect(await stream.call('get_policies', { topic: 'parking' })).toMatchObject({ ok: true });
  });

  it('a field that is wrong is named, and so is one that is not known', async () => {
    const stream = await start();
    stream.send({ type: 'tool_call', tool_nam: 'who', arguments: [] });
    expect((await stream.next('tool_result')).error).toMatchObject({
      type: 'VALIDATION',
      details: {
        violations: expect.arrayContaining([
          expect.objectContaining({
            pointer: '/tool_nam',
            message: expect.stringContaining('did you mean "tool_name"?'),
          }),
          { pointer: '/arguments', message: 'must be an object' },
        ]) as unknown,
      },
    });
    stream.send({ type: 'text_delta', text: 5 });
    expect((await stream.next('error')).error).toMatchObject({
      type: 'VALIDATION',
      details: { violations: [{ pointer: '/text' }] },
    });
    stream.send({ type: 'tool_kall' });
    expect((await stream.next('error')).error?.message).toContain('did you mean "tool_call"?');
    stream.send('{"type": "ping"');
    expect((await stream.next('error')).error).toMatchObject({ type: 'VALIDATION', reason: 'SYNTAX' });
    expect(await stream.call('who')).toMatchObject({ ok: true });
  });

  it('an integer beyond 2^53 is passed on with its digits where the tool takes it, and refused elsewhere', async () => {
    const stream = await start();
    stream.send('{"type":"tool_call","tool_name":"wait","arguments":{"ms":9007199254740993}}');
    expect((await stream.next('tool_result')).error).toMatchObject({ type: 'VALIDATION' });
    stream.send('{"type":"tool_call","tool_name":"who","timeout_ms":9007199254740993}');
    expect((await stream.next('tool_result')).error).toMatchObject({ type: 'VALIDATION' });
  });

  it("the caller's own limit of time counts", async () => {
    const stream = await start();
    expect((await stream.call('wait', {}, { timeout_ms: 50 })).error).toMatchObject({ type: 'TIMEOUT' });
  });

  it('a dangerous tool asks for approval, and runs with the token once it is given', async () => {
    const stream = await start();
    const asked = await stream.call('delete_note', { note_id: 'note-1' });
    expect(asked.error).toMatchObject({ type: 'CONFIRMATION_REQUIRED' });
    const details = (asked.error?.['details'] ?? {}) as Record<string, string>;
    const { approval_id: id, confirmation_token: token } = details;
    await request(targetOf(gateway, 'admin'), 'POST', `/v1/approvals/${id}/decision`, {
      decision: 'approve',
    });
    expect(
      await stream.call('delete_note', { note_id: 'note-1' }, { context: { confirmation_token: token } }),
    ).toMatchObject({ ok: true });
  });

  it('E5: a tool that fails is stood in for by its safe sentence', async () => {
    const stream = await start();
    expect(await stream.call('get_policies', { topic: 'broken' })).toMatchObject({
      ok: true,
      result: {
        message: "I'm having trouble pulling that up right now. Would you like me to take a message?",
      },
      meta: { fallback: true },
    });
  });
});

describe('E3: turns and their budgets', () => {
  it('a live call has two calls a turn, and two more in the next', async () => {
    const stream = await start({ mode: 'live_call' });
    const ask = () => stream.call('get_policies', { topic: 'parking' });
    stream.send({ type: 'turn_start' });
    expect(await stream.next('turn_started')).toMatchObject({
      turn_id: '1',
      budgets: expect.arrayContaining([
        expect.objectContaining({ name: 'turn_calls', limit: 2, used: 0 }),
      ]) as unknown,
    });
    for (let each = 0; each < 2; each += 1) expect(await ask()).toMatchObject({ ok: true });
    expect((await ask()).error).toMatchObject({ type: 'BUDGET_EXCEEDED' });
    stream.send({ type: 'turn_start' });
    expect(await stream.next('turn_started')).toMatchObject({ turn_id: '2' });
    expect(await ask()).toMatchObject({ ok: true, meta: {} });
  });

  it('a live call does not wait for a tool longer than 400 ms', async () => {
    const stream = await start({ mode: 'live_call' });
    expect((await stream.call('wait', { ms: 60_000 })).error).toMatchObject({
      type: 'TIMEOUT',
      reason: 'MODE_TIMEOUT',
    });
  });

  it('the caller speaks: the turn is ended, its calls are given up, and none is made until the next', async () => {
    const stream = await start();
    stream.send({ type: 'tool_call', id: 'a', tool_name: 'wait' });
    await stream.next('tool_started');
    stream.send({ type: 'turn_end', cancel: true });
    expect((await stream.next('tool_result')).error).toMatchObject({ type: 'CANCELLED' });
    expect(await stream.next('turn_ended')).toMatchObject({ turn_id: '1' });
    expect((await stream.call('who')).error).toMatchObject({ type: 'VALIDATION', reason: 'TURN_OVER' });
    stream.send({ type: 'turn_start' });
    stream.send({ type: 'tool_call', tool_name: 'who' });
    expect(await stream.next('tool_result')).toMatchObject({ ok: true });
  });
});

describe('a stream and its session', () => {
  it('a session that the stream declared ends with it', async () => {
    const stream = await start();
    const { id } = stream.started['session'] as { id: string };
    stream.send({ type: 'end' });
    expect(await stream.next('ended')).toMatchObject({ session_ended: true });
    expect(await stream.closed).toMatchObject({ code: 1000 });
    expect((await request(targetOf(gateway, 'agent'), 'GET', `/v1/sessions/${id}`)).body).toMatchObject({
      state: 'ended',
    });
  });

  it('one that was declared before stays, and a stream goes on with it', async () => {
    const { body } = await request<{ id: string }>(targetOf(gateway, 'agent'), 'POST', '/v1/sessions', {
      user_id: 'eve',
    });
    const stream = await start({ session_id: body.id });
    expect((await stream.call('who')).result).toMatchObject({ userId: 'eve', sessionId: body.id });
    stream.send({ type: 'end' });
    expect(await stream.next('ended')).toMatchObject({ session_ended: false });
    const again = await start({ session_id: body.id });
    expect(await again.call('who')).toMatchObject({ ok: true });
  });

  it('the end waits for the calls that are under way', async () => {
    const stream = await start();
    stream.send({ type: 'tool_call', tool_name: 'wait', arguments: { ms: 100 } });
    stream.send({ type: 'end' });
    await stream.closed;
    expect(spoken(stream.messages)).toEqual(['tool_started call_1', 'tool_result call_1', 'ended undefined']);
  });

  it('is on record: the session by who began it, and each call by the door', async () => {
    const stream = await start({ user_id: 'recorded' });
    await stream.call('who');
    const { id } = stream.started['session'] as { id: string };
    const { body } = await request<{ calls: readonly { door: string }[] }>(
      targetOf(gateway, 'agent'),
      'GET',
      `/v1/sessions/${id}/calls`,
    );
    expect(body.calls).toHaveLength(1);
    const { body: audit } = await request<{
      records: readonly { door: string; notes: { action?: string; target?: string } }[];
    }>(targetOf(gateway, 'admin'), 'GET', '/v1/audit?kind=management');
    expect(audit.records.find(({ notes }) => notes.target === id)).toMatchObject({
      door: 'stream',
      notes: { action: 'sessions.create' },
    });
  });
});

describe('a lost connection', () => {
  it('goes on from the last number: nothing is missing, and nothing comes twice', async () => {
    const stream = await start();
    stream.send({ type: 'text_delta', text: 'before ' });
    stream.send({ type: 'tool_call', id: 'a', tool_name: 'wait', arguments: { ms: 200 } });
    stream.send({ type: 'text_delta', text: 'after' });
    await stream.next('tool_started');
    stream.cut();
    await stream.closed;
    const again = await StreamClient.open(target());
    open.push(again);
    again.send({ type: 'resume', resume_token: stream.started['resume_token'], last_seq: 1 });
    const resumed = await again.next('resumed');
    expect(resumed).toMatchObject({ received: 3 });
    await again.nextWhere(({ text }) => text === 'after');
    expect(spoken(again.messages)).toEqual(['tool_started a', 'tool_result a', 'after']);
    expect(await again.call('who')).toMatchObject({ ok: true });
  });

  it('a message that did not arrive is known: the client sends it again', async () => {
    const stream = await start();
    stream.send({ type: 'text_delta', text: 'one' });
    await stream.next('text_delta');
    stream.cut();
    await stream.closed;
    const again = await StreamClient.open(target());
    open.push(again);
    again.send({ type: 'resume', resume_token: stream.started['resume_token'], last_seq: stream.lastSeq });
    expect(await again.next('resumed')).toMatchObject({ received: 1, open_calls: [] });
  });

  it('a connection that is still open is closed for the one that resumes', async () => {
    const stream = await start();
    const again = await StreamClient.open(target());
    open.push(again);
    again.send({ type: 'resume', resume_token: stream.started['resume_token'], last_seq: 0 });
    await again.next('resumed');
    expect(await stream.closed).toEqual({ code: 4409, reason: 'STREAM_REPLACED' });
    expect(await again.call('who')).toMatchObject({ ok: true });
  });

  it('what is not kept any more is told, and the session goes on in another stream', async () => {
    const stream = await start();
    const { id } = stream.started['session'] as { id: string };
    for (let count = 0; count < 2_200; count += 1) stream.send({ type: 'text_delta', text: 'x' });
    await stream.nextWhere(({ seq }) => seq === 2_200);
    stream.cut();
    await stream.closed;
    const again = await StreamClient.open(target());
    open.push(again);
    again.send({ type: 'resume', resume_token: stream.started['resume_token'], last_seq: 3 });
    expect((await again.next('error')).error).toMatchObject({ type: 'NOT_FOUND', reason: 'STREAM_TOO_FAR' });
    expect(await again.closed).toMatchObject({ code: 4404 });
    const other = await start({ session_id: id });
    expect(await other.call('who')).toMatchObject({ ok: true });
  });
});
