// DoorTransport: what one client is answered reaches that client alone, once, with the status that its era knows.
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { DoorTransport } from './door-transport.ts';
import type { Answer, Era, Exchange } from './exchange.ts';

interface Said {
  readonly id?: string | number | undefined;
  readonly method?: string;
}

function clientOf(era: Era = 'modern') {
  const heard: Said[] = [];
  const exchange = {
    asked: { era },
    status: 200,
    answer: (message: Answer) => void heard.push(message),
    notify: (message: Said) => void heard.push(message),
  };
  return { exchange: exchange as unknown as Exchange, heard, told: exchange };
}

/** `take`: what the server does as a request comes in. */
function doorWith(take: (message: Said, door: DoorTransport) => void = () => undefined) {
  const door = new DoorTransport();
  const taken: Said[] = [];
  Object.assign(door, {
    onmessage: (message: Said) => {
      taken.push(message);
      take(message, door);
    },
  });
  return { door, taken };
}

const request = (id: string | number) => ({ jsonrpc: '2.0' as const, id, method: 'tools/list' });
const result = (id: unknown) => ({ jsonrpc: '2.0', id, result: {} }) as JSONRPCMessage;
const failure = (id: unknown, code: number) =>
  ({ jsonrpc: '2.0', id, error: { code, message: 'no' } }) as JSONRPCMessage;

describe('requests of several clients', () => {
  it('that have one id among them are answered each to its own', async () => {
    const { door, taken } = doorWith();
    const [one, other] = [clientOf(), clientOf()];
    for (const { exchange } of [one, other]) door.deliver(request('same'), exchange);
    const [first, second] = taken.map(({ id }) => id);
    expect(first).not.toBe(second);
    await door.send(result(second));
    expect([one.heard.length, other.heard.length]).toEqual([0, 1]);
    await door.send(result(first));
    expect([one.heard.length, other.heard.length]).toEqual([1, 1]);
  });

  it('are answered once, and what comes later goes to nobody', async () => {
    const { door, taken } = doorWith();
    const client = clientOf();
    door.deliver(request(1), client.exchange);
    const { id } = taken[0] ?? {};
    expect(door.exchangeOf(id ?? 0)).toBe(client.exchange);
    await door.send(result(id));
    for (const late of [result(id), failure(id, -32_600), result('made-up'), result(null), result(undefined)])
      await door.send(late);
    await door.send({ jsonrpc: '2.0', method: 'notifications/message' }, { relatedRequestId: id ?? 0 });
    expect(client.heard).toHaveLength(1);
    expect(() => door.exchangeOf(id ?? 0)).toThrow('answered already');
  });

  it('hear notifications that belong to them, and no others', async () => {
    const { door, taken } = doorWith();
    const [one, other] = [clientOf(), clientOf()];
    for (const { exchange } of [one, other]) door.deliver(request(1), exchange);
    await door.send(
      { jsonrpc: '2.0', method: 'notifications/progress' },
      { relatedRequestId: taken[1]?.id ?? 0 },
    );
    await door.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    // The server asks nobody: whoever is asked is asked beside it.
    await door.send({ jsonrpc: '2.0', id: 1, method: 'ping' }, { relatedRequestId: taken[0]?.id ?? 0 });
    expect(one.heard).toEqual([]);
    expect(other.heard).toEqual([{ jsonrpc: '2.0', method: 'notifications/progress' }]);
  });
});

describe('the status', () => {
  it.each([
    [-32_700, 400],
    [-32_600, 400],
    [-32_601, 404],
    [-32_602, 400],
    [-32_021, 400],
    [-32_022, 400],
    [-32_603, 200],
    [1, 200],
  ])('of what the protocol itself refuses with %i is %i', (code, status) => {
    const { door } = doorWith(({ id }, own) => void own.send(failure(id, code)));
    const [modern, legacy] = [clientOf('modern'), clientOf('legacy')];
    for (const { exchange } of [modern, legacy]) door.deliver(request(1), exchange);
    expect([modern.told.status, legacy.told.status]).toEqual([status, 200]);
  });

  it('of what a handler answers later is the handler’s, but for what a client has to declare', async () => {
    const { door, taken } = doorWith();
    const [refused, undeclared] = [clientOf(), clientOf()];
    for (const { exchange } of [refused, undeclared]) door.deliver(request(1), exchange);
    refused.told.status = 403;
    await door.send(failure(taken[0]?.id, -32_600));
    await door.send(failure(taken[1]?.id, -32_021));
    expect([refused.told.status, undeclared.told.status]).toEqual([403, 400]);
  });
});

it('a request that cannot be taken in is kept by nobody, and the next one is', async () => {
  let isBroken = true;
  const { door, taken } = doorWith(() => {
    if (isBroken) throw new Error('broken');
  });
  const client = clientOf();
  expect(() => door.deliver(request(1), client.exchange)).toThrow('broken');
  await door.send(result(taken[0]?.id));
  expect(client.heard).toEqual([]);
  isBroken = false;
  door.deliver(request(1), client.exchange);
  await door.send(failure(taken[1]?.id, -32_601));
  expect([client.heard.length, client.told.status]).toEqual([1, 200]);
});
