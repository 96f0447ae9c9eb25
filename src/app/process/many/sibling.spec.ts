// Sibling: what a process that serves beside others hears from the primary, and tells it.
import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { Sibling, type Channel } from './sibling.ts';

class FakeChannel extends EventEmitter implements Channel {
  readonly connected = true;
  readonly sent: object[] = [];

  send(message: object): boolean {
    this.sent.push(message);
    return true;
  }
}

function bench() {
  const channel = new FakeChannel();
  const sibling = new Sibling(1, channel);
  let stops = 0;
  const obey = () => sibling.obey({ stop: () => (stops += 1), reload: () => undefined });
  const settled = () => new Promise((done) => setImmediate(done));
  return { channel, sibling, obey, settled, stops: () => stops };
}

it.each<[string, (channel: FakeChannel) => void]>([
  ['it is told to stop', (channel) => channel.emit('message', { ute: 'stop' })],
  ['its primary ends', (channel) => channel.emit('disconnect')],
])('a process that still starts when %s stops once it has started, and never serves', (_when, happens) => {
  const { channel, sibling, obey, stops } = bench();
  happens(channel);
  obey();
  sibling.serves({});
  expect([stops(), channel.sent]).toEqual([1, []]);
});

it('a connection that is lost on its way to a process is told as closed', async () => {
  const { channel, settled } = bench();
  channel.emit('message', { ute: 'connection', door: 'rest' }, undefined);
  channel.emit('message', { ute: 'connection', door: 'rest' }, undefined);
  await settled();
  expect(channel.sent).toEqual([{ ute: 'closed', door: 'rest', count: 2 }]);
});

it('a process that comes to serve while it refuses calls says why', () => {
  const { channel, sibling } = bench();
  sibling.refuses('the disk is full');
  sibling.serves({});
  expect(channel.sent.at(-1)).toEqual({ ute: 'serving', pipeline: {}, reason: 'the disk is full' });
});

it('a process that drains by itself says at the beginning that it takes no more, and one that is told to stop does not', () => {
  const [alone, told] = [bench(), bench()];
  alone.sibling.drains();
  told.channel.emit('message', { ute: 'stop' });
  told.sibling.drains();
  expect([alone.channel.sent, told.channel.sent]).toEqual([[{ ute: 'ending' }], []]);
});

it('a question whose answer cannot be made is not answered, and ends nothing', async () => {
  const { channel, sibling, settled } = bench();
  sibling.says({
    readiness: () => {
      throw new Error('no');
    },
    exposition: () => Promise.reject(new Error('no')),
  });
  channel.emit('message', { ute: 'ask', id: 1, what: 'readiness' });
  channel.emit('message', { ute: 'ask', id: 2, what: 'text' });
  await settled();
  expect(channel.sent).toEqual([]);
});
