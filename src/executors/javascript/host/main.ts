// The host process: keeps the worker threads away from the gateway, because V8 ends the process in which one allocates too much.
import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { FrameDecoder } from '../../../lib/bytes/frames.ts';
import {
  encodeMessage,
  encodeNews,
  readToHost,
  type HostLimits,
  type ToHost,
} from '../threads/host-frames.ts';
import { HostThread } from './host-thread.ts';
import { HostMemory } from './host-memory.ts';

const LARGEST_FRAME = 0xffff_ffff;

const limits = JSON.parse(process.argv[2] ?? '') as HostLimits;
const fromGateway = new Socket({ fd: 3, readable: true, writable: false });
const toGateway = new Socket({ fd: 4, readable: false, writable: true });
const threads = new Map<number, HostThread>();
const memory = new HostMemory(limits, threads);

function obey(order: ToHost): void {
  const thread = threads.get(order.thread);
  switch (order.kind) {
    case 'open':
      return open(order.thread);
    case 'end':
      return thread?.end();
    case 'post':
      thread?.post(order.message);
      return memory.wake();
  }
}

function open(thread: number): void {
  const opened = new HostThread(limits, {
    onMessage: (message) => write(encodeMessage(thread, message)),
    onNews: (news) => {
      if (news.kind === 'gone') threads.delete(thread);
      write(encodeNews(thread, news));
    },
  });
  threads.set(thread, opened);
  memory.wake();
}

/** What comes in one turn of the event loop goes out at once. */
function write(frame: Buffer): void {
  if (toGateway.writableCorked === 0) {
    toGateway.cork();
    setImmediate(() => toGateway.uncork());
  }
  toGateway.write(frame);
}

/** With everything that handlers have started. */
function die(): void {
  try {
    process.kill(-process.pid, 'SIGKILL');
  } catch {
    process.kill(process.pid, 'SIGKILL');
  }
}

function volunteerForTheOomKiller(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Not on this system.
  }
}

volunteerForTheOomKiller();
const decoder = new FrameDecoder(LARGEST_FRAME);
fromGateway.on('data', (chunk: Buffer) => {
  for (const frame of decoder.push(chunk)) obey(readToHost(frame));
});
// The gateway has ended, however that came.
fromGateway.on('close', die);
fromGateway.on('error', die);
toGateway.on('error', die);
