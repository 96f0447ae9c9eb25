// The stdio transport over a process that is played: what reaches its stdin, and in how many writes.
import { PassThrough, Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/helpers/fake-clock.ts';
import type { ChildProcess } from '../../../ports/egress/process-spawner.ts';
import { StdioTransport } from './stdio-transport.ts';

const request = (id: number, params: { text: string } = { text: '' }): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params,
});
const yieldToLoop = () => new Promise((resolve) => void setImmediate(resolve));

async function bench() {
  const writes: string[] = [];
  let exit = () => {};
  const exited = new Promise<{ code: number; signal: null }>((resolve) => {
    exit = () => resolve({ code: 0, signal: null });
  });
  const stdin = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      writes.push(chunk.toString('utf8'));
      done();
    },
  }).once('finish', () => exit());
  const stdout = new PassThrough();
  const child: ChildProcess = {
    pid: 1,
    stdin,
    stdout,
    stderr: new PassThrough(),
    exited,
    kill: () => exit(),
  };
  const transport = new StdioTransport({
    spawn: async () => child,
    clock: new FakeClock(),
    maxMessageBytes: 1_000,
    onGarbage: () => {},
    onRefused: () => {},
    onHopeless: () => {},
  });
  await transport.start();
  const idsOf = (text: string) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: number }).id);
  return { transport, stdout, writes, ids: () => writes.map(idsOf) };
}

describe('StdioTransport', () => {
  it('writes what is sent in one turn of the event loop together, in its order', async () => {
    const { transport, ids } = await bench();
    await transport.send(request(1));
    await Promise.all([transport.send(request(2)), transport.send(request(3))]);
    await yieldToLoop();
    await transport.send(request(4));
    await yieldToLoop();
    expect(ids()).toEqual([[1, 2, 3], [4]]);
  });

  it('does not gather without end', async () => {
    const { transport, ids } = await bench();
    const text = 'x'.repeat(40_000);
    for (const id of [1, 2, 3]) await transport.send(request(id, { text }));
    expect(ids()).toEqual([[1, 2]]);
    await yieldToLoop();
    expect(ids()).toEqual([[1, 2], [3]]);
  });

  it('writes what was sent before it closes, and nothing after', async () => {
    const { transport, ids } = await bench();
    await transport.send(request(1));
    const closed = transport.close();
    await expect(transport.send(request(2))).rejects.toMatchObject({ reason: 'CONNECTION_LOST' });
    await closed;
    await yieldToLoop();
    expect(ids()).toEqual([[1]]);
  });

  it('never rounds a number: what no double holds comes as the text that the server wrote', async () => {
    const { transport, stdout } = await bench();
    const seen: unknown[] = [];
    Object.assign(transport, { onmessage: (message: JSONRPCMessage) => void seen.push(message) });
    stdout.write(
      '{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"id":9007199254740993,"x":1e999}}}\n',
    );
    await yieldToLoop();
    expect(seen).toEqual([
      { jsonrpc: '2.0', id: 1, result: { structuredContent: { id: '9007199254740993', x: '1e999' } } },
    ]);
  });
});
