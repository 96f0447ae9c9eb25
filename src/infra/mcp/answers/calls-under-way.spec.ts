// Whose a word of the server is that names no call.
import { expect, it } from 'vitest';
import type { McpLog } from '../../../ports/egress/mcp-servers.ts';
import { CallsUnderWay, type AskedInput, type CallUnderWay } from './calls-under-way.ts';

const LINE: McpLog = { level: 'info', message: 'of somebody' };

function callOf(tenant: string | undefined, more: Partial<CallUnderWay> = {}) {
  const heard: McpLog[] = [];
  const asked: AskedInput[] = [];
  const signal = new AbortController().signal;
  const call = {
    tenant,
    signal,
    isTask: false,
    onLog: (log: McpLog) => void heard.push(log),
    asked,
    ...more,
  };
  return { call, heard, asked };
}

/** What a call of this tenant hears while it is the only one. */
async function heardBy(calls: CallsUnderWay, tenant: string | undefined): Promise<number> {
  const { call, heard, asked } = callOf(tenant);
  await calls.run(call, async () => {
    calls.logged(LINE);
    calls.wasAsked({ message: 'which account?' });
  });
  expect(asked).toHaveLength(heard.length);
  return heard.length;
}

const fails = (calls: CallsUnderWay, call: CallUnderWay, error: Error) =>
  expect(calls.run(call, () => Promise.reject(error))).rejects.toBe(error);

const rpcError = Object.assign(new Error('no such argument'), { code: -32_602 });

it('the only call hears it, and none of several', async () => {
  const calls = new CallsUnderWay();
  const other = callOf('b');
  expect(await heardBy(calls, 'a')).toBe(1);
  await calls.run(other.call, async () => expect(await heardBy(calls, 'a')).toBe(0));
  expect(other.heard).toEqual([]);
});

it.each<[string, Partial<CallUnderWay>, Error]>([
  ['was cancelled', { signal: AbortSignal.abort() }, new DOMException('gone', 'AbortError')],
  ['took too long', { signal: AbortSignal.abort(new Error('late')) }, new Error('late')],
  ['lost its answer', {}, new Error('the stream ended')],
  ['runs as a task that cannot be asked about', { isTask: true }, rpcError],
])('what may be of a call that %s reaches no other tenant', async (_, more, error) => {
  const calls = new CallsUnderWay();
  await fails(calls, callOf('a', more).call, error);
  expect(await heardBy(calls, 'b')).toBe(0);
  // Nor is anything of b, answered or not, heard by a.
  expect(await heardBy(calls, 'a')).toBe(0);
});

it('one tenant alone goes on hearing after a call that it gave up', async () => {
  const calls = new CallsUnderWay();
  await fails(calls, callOf('a', { signal: AbortSignal.abort() }).call, new Error('gone'));
  expect(await heardBy(calls, 'a')).toBe(1);
});

it('tenants that are not known are not taken for the same', async () => {
  const calls = new CallsUnderWay();
  await fails(calls, callOf(undefined).call, new Error('gone'));
  expect(await heardBy(calls, undefined)).toBe(0);
});

it('an error that the server answers with leaves nothing under way', async () => {
  const calls = new CallsUnderWay();
  await fails(calls, callOf('a').call, rpcError);
  expect(await heardBy(calls, 'b')).toBe(1);
});
