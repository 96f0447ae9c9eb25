// E6 over gRPC: Converse says what a WebSocket says, and a stream goes on from the one at the other.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ConverseClient, resultOf } from '../helpers/converse-client.ts';
import { openDatabase } from '../helpers/open-database.ts';
import { request, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { StreamClient } from '../helpers/stream-client.ts';

const PERMISSION_DENIED = 7;
const NOT_FOUND = 5;
const UNAUTHENTICATED = 16;
const ABORTED = 10;

let gateway: RunningGateway;
const open: { close(): void }[] = [];

beforeAll(async () => {
  gateway = await startGateway({
    tools: ['config/tools.yaml', 'test/fixtures/stream/tools.yaml'],
    settings: { modes: {} },
  });
  await openDatabase(gateway);
});

afterEach(() => {
  for (const client of open.splice(0)) client.close();
});

afterAll(() => gateway?.stop());

function connect(key: string | undefined = gateway.keys.agent.text) {
  const client = new ConverseClient(gateway.service.grpcAddress, key);
  open.push(client);
  return client;
}

async function start(fields: object = {}) {
  const client = connect();
  client.send({ start: fields });
  const started = await client.next('started');
  return Object.assign(client, { started: started as { resumeToken: string; session: { id: string } } });
}

const heard = (client: ConverseClient) =>
  client.messages.filter(({ seq }) => seq > 0).map(({ seq, message }) => `${seq} ${message}`);

describe('Converse', () => {
  it("the seed's own call is answered, in a session with agent, user and mode", async () => {
    const stream = await start({ agentId: 'desk', userId: 'sarah', mode: 'INTERACTION_MODE_LIVE_CALL' });
    expect(stream.started.session).toMatchObject({
      agentId: 'desk',
      userId: 'sarah',
      mode: 'INTERACTION_MODE_LIVE_CALL',
    });
    stream.toolCall('get_latest_booking', { customer_phone: '+61400111222' });
    const result = await stream.next('toolResult');
    expect(result).toMatchObject({
      toolName: 'get_latest_booking',
      ok: true,
      meta: { tool: 'get_latest_booking' },
    });
    expect(resultOf(result)).toMatchObject({ booking_id: 'b-222', status: 'confirmed' });
  });

  it('text after a call waits for its result, and events come before it', async () => {
    const stream = await start();
    stream.send({ textDelta: { text: 'Let me look. ' } });
    stream.toolCall('report', { parts: 1 }, { id: 'r' });
    stream.send({ textDelta: { text: 'Done.' } });
    await stream.nextWhere(({ textDelta }) => (textDelta as { text: string } | null)?.text === 'Done.');
    expect(heard(stream)).toEqual([
      '1 textDelta',
      '2 toolStarted',
      '3 toolSaid',
      '4 toolSaid',
      '5 toolSaid',
      '6 toolResult',
      '7 textDelta',
    ]);
    const partial = stream.messages.find(({ seq }) => seq === 5)?.['toolSaid'] as {
      partial: { dataJson: Buffer };
    };
    expect(JSON.parse(partial.partial.dataJson.toString())).toEqual({ part: 1, text: 'x' });
  });

  it('turns have their budgets, and a call that is one too many is refused', async () => {
    const stream = await start({ mode: 'INTERACTION_MODE_LIVE_CALL' });
    stream.send({ turnStart: {} });
    expect(await stream.next('turnStarted')).toMatchObject({
      turnId: '1',
      budgets: expect.arrayContaining([expect.objectContaining({ name: 'turn_calls', limit: 2 })]) as unknown,
    });
    for (let each = 0; each < 3; each += 1) stream.toolCall('get_policies', { topic: 'parking' });
    const results = [
      await stream.next('toolResult'),
      await stream.next('toolResult'),
      await stream.next('toolResult'),
    ];
    expect(results.map(({ ok }) => ok)).toEqual([true, true, false]);
    expect(results[2]?.['error']).toMatchObject({ type: 'BUDGET_EXCEEDED' });
  });

  it('a call is given up, by its id and with its turn', async () => {
    const stream = await start();
    for (const id of ['a', 'b']) stream.toolCall('wait', {}, { id });
    await stream.next('toolStarted');
    stream.send({ toolCancel: { id: 'a' } });
    expect(await stream.next('toolResult')).toMatchObject({ id: 'a', error: { type: 'CANCELLED' } });
    stream.send({ turnEnd: { cancel: true } });
    expect(await stream.next('toolResult')).toMatchObject({ id: 'b', error: { type: 'CANCELLED' } });
    await stream.next('turnEnded');
  });

  it('arguments that are no JSON are refused as a call, and a message that says nothing by its name', async () => {
    const stream = await start();
    stream.send({ toolCall: { toolName: 'who', argumentsJson: Buffer.from('{"a":') } });
    expect(await stream.next('toolResult')).toMatchObject({
      ok: false,
      error: { type: 'VALIDATION', reason: 'SYNTAX' },
    });
    stream.send({});
    expect(await stream.next('refused')).toMatchObject({ error: { type: 'VALIDATION' } });
    stream.send({ ping: { nonce: 'n' } });
    expect(await stream.next('pong')).toEqual({ nonce: 'n' });
  });

  it('to close the sending side ends it, after the calls under way, and so does its session', async () => {
    const stream = await start();
    stream.toolCall('wait', { ms: 50 });
    stream.call.end();
    expect(await stream.ended).toBeUndefined();
    expect(heard(stream)).toEqual(['1 toolStarted', '2 toolResult', '3 ended']);
    const path = `/v1/sessions/${stream.started.session.id}`;
    expect((await request(targetOf(gateway, 'agent'), 'GET', path)).body).toMatchObject({ state: 'ended' });
  });

  it('who has no credential, a wrong one, or too little of it is told by the status', async () => {
    const refused = async (client: ConverseClient) => (await client.ended)?.code;
    expect(await refused(connect('ute_live_AAAAAAAA_x_0'))).toBe(UNAUTHENTICATED);
    const nobody = new ConverseClient(gateway.service.grpcAddress, undefined);
    open.push(nobody);
    expect(await refused(nobody)).toBe(UNAUTHENTICATED);
    const reader = connect(gateway.keys.reader.text);
    reader.send({ start: {} });
    expect(await refused(reader)).toBe(PERMISSION_DENIED);
  });

  it('a stream goes on after a cancelled call of gRPC, over a WebSocket, and back', async () => {
    const stream = await start();
    stream.send({ textDelta: { text: 'one' } });
    await stream.next('textDelta');
    stream.close();
    const socket = await StreamClient.open({ url: gateway.url, key: gateway.keys.agent.text });
    open.push({ close: () => socket.cut() });
    socket.send({ type: 'resume', resume_token: stream.started.resumeToken, last_seq: 0 });
    await socket.next('resumed');
    expect(await socket.next('text_delta')).toMatchObject({ seq: 1, text: 'one' });
    await socket.call('who');
    socket.cut();
    const back = connect();
    back.send({ resume: { resumeToken: stream.started.resumeToken, lastSeq: 1 } });
    expect(await back.next('resumed')).toMatchObject({ received: 2 });
    expect(await back.next('toolResult')).toMatchObject({ ok: true, toolName: 'who' });
  });

  it('a connection that another takes the place of ends with ABORTED, and a stream that is not there with NOT_FOUND', async () => {
    const stream = await start();
    const other = connect(gateway.keys.admin.text);
    other.send({ resume: { resumeToken: stream.started.resumeToken, lastSeq: 0 } });
    expect((await other.ended)?.code).toBe(NOT_FOUND);
    const again = connect();
    again.send({ resume: { resumeToken: stream.started.resumeToken, lastSeq: 0 } });
    await again.next('resumed');
    expect((await stream.ended)?.code).toBe(ABORTED);
  });

  it('ten thousand messages come back in order, to a reader that reads when it likes', async () => {
    const stream = await start();
    stream.call.pause();
    for (let count = 1; count <= 10_000; count += 1) stream.send({ textDelta: { text: String(count) } });
    stream.call.resume();
    await stream.nextWhere(({ seq }) => seq === 10_000);
    expect(
      stream.messages.slice(1).map(({ textDelta }) => Number((textDelta as { text: string }).text)),
    ).toEqual(Array.from({ length: 10_000 }, (_, index) => index + 1));
  });
});
