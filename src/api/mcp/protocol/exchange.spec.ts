// Exchange: a request has one answer or none, and whoever works for it hears once that nobody waits.
import { EventEmitter } from 'node:events';
import type { FastifyReply } from 'fastify';
import { describe, expect, it } from 'vitest';
import { Exchange, type Answer, type Asked } from './exchange.ts';

const nextTurn = () => new Promise((done) => setImmediate(done));

function exchangeOf(asked: Partial<Asked> = {}, isGone = false) {
  const sent: { status: number; headers: Record<string, string>; text: string | undefined }[] = [];
  const headers: Record<string, string> = {};
  let status = 0;
  const raw = Object.assign(new EventEmitter(), { destroyed: isGone, writableFinished: false });
  const reply = {
    raw,
    code: (code: number) => {
      status = code;
      return reply;
    },
    header: (name: string, value: string) => {
      headers[name] = value;
      return reply;
    },
    headers: (more: Record<string, string>) => {
      Object.assign(headers, more);
      return reply;
    },
    send: (text?: string) => void sent.push({ status, headers: { ...headers }, text }),
  };
  const base = { era: 'modern', id: 'q"1', takesEvents: false, challenge: 'Bearer' };
  const exchange = new Exchange({ ...base, ...asked } as Asked, reply as unknown as FastifyReply, () => {});
  const close = (isFinished: boolean) => {
    Object.assign(raw, { destroyed: true, writableFinished: isFinished });
    raw.emit('close');
  };
  return { exchange, sent, close };
}

const result = (fields: object): Answer => ({ jsonrpc: '2.0', id: 7, result: fields as never });

describe('the answer', () => {
  it('has the id that the client counts by, and is the first one', async () => {
    const { exchange, sent } = exchangeOf();
    exchange.answer(result({ a: 1 }));
    exchange.answer(result({ a: 2 }));
    exchange.endWithout();
    await exchange.done;
    expect(sent.map(({ text }) => JSON.parse(text ?? '') as unknown)).toEqual([
      { jsonrpc: '2.0', id: 'q"1', result: { a: 1 } },
    ]);
    expect(exchange.ended).toEqual({ outcome: 'ok' });
  });

  it.each([
    [{}, { data: 1 }],
    [{ isError: true }, { data: 1, isError: true }],
  ])('of %j with pasted fields is one object', async (fields, whole) => {
    const { exchange, sent } = exchangeOf();
    exchange.paste('"data":1');
    exchange.answer(result(fields));
    await exchange.done;
    expect(JSON.parse(sent[0]?.text ?? '')).toMatchObject({ result: whole });
  });

  it('of an error has its code, its status, and how to come with a good credential', async () => {
    const { exchange, sent } = exchangeOf();
    exchange.status = 401;
    exchange.header('retry-after', '3');
    exchange.paste('"data":1');
    exchange.answer({ jsonrpc: '2.0', id: 7, error: { code: -32_600, message: 'no' } });
    await exchange.done;
    expect(sent).toEqual([
      {
        status: 401,
        headers: { 'www-authenticate': 'Bearer', 'retry-after': '3', 'content-type': 'application/json' },
        text: '{"jsonrpc":"2.0","id":"q\\"1","error":{"code":-32600,"message":"no"}}',
      },
    ]);
    expect(exchange.ended).toEqual({ outcome: 'error', code: -32_600 });
  });

  it('to a client that went meanwhile is sent to nobody, and it is done', async () => {
    const { exchange, sent, close } = exchangeOf();
    exchange.answer(result({}));
    close(false);
    await exchange.done;
    await nextTurn();
    expect(sent).toEqual([]);
  });

  it('of a cancelled request is none', async () => {
    const { exchange, sent } = exchangeOf();
    exchange.cancel();
    exchange.endWithout();
    exchange.answer(result({}));
    await exchange.done;
    await nextTurn();
    expect([sent.map(({ status, text }) => [status, text]), exchange.ended]).toEqual([
      [[202, undefined]],
      { outcome: 'cancelled' },
    ]);
  });
});

describe('that nobody waits', () => {
  it.each([
    ['cancels', ({ exchange }: ReturnType<typeof exchangeOf>) => exchange.cancel()],
    ['goes away', ({ close }: ReturnType<typeof exchangeOf>) => close(false)],
  ])('is heard once by all where the client %s, also by who asks later', (_how, leave) => {
    const client = exchangeOf();
    const heard: string[] = [];
    client.exchange.whenGone(() => heard.push('early'));
    leave(client);
    leave(client);
    client.exchange.whenGone(() => heard.push('late'));
    expect(heard).toEqual(['early', 'late']);
  });

  it('is known at once of a client that has gone before it was taken in', async () => {
    const { exchange, sent } = exchangeOf({}, true);
    let isHeard = false;
    exchange.whenGone(() => (isHeard = true));
    exchange.answer(result({}));
    await exchange.done;
    await nextTurn();
    expect([isHeard, sent]).toEqual([true, []]);
  });

  it('is heard by nobody where it was answered', async () => {
    const { exchange, close } = exchangeOf();
    let isHeard = false;
    exchange.whenGone(() => (isHeard = true));
    exchange.answer(result({}));
    await exchange.done;
    close(true);
    exchange.cancel();
    expect(isHeard).toBe(false);
  });
});
