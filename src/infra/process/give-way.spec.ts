// The priority of a thread that gives way, and of all others.
import { getPriority } from 'node:os';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';

const GIVES_WAY = `
  const { getPriority } = require('node:os');
  const { parentPort, workerData } = require('node:worker_threads');
  import(workerData).then(({ giveWay }) => {
    giveWay();
    parentPort.postMessage(getPriority());
  });
`;

it('the thread that calls it has less, on Linux, and the process as it was', async () => {
  const before = getPriority();
  const workerData = new URL('./give-way.ts', import.meta.url).href;
  const worker = new Worker(GIVES_WAY, { eval: true, workerData });
  const [priority] = (await once(worker, 'message')) as [number];
  const less = process.platform === 'linux' ? 5 : 0;
  expect(priority).toBe(Math.min(19, before + less));
  expect(getPriority()).toBe(before);
});
