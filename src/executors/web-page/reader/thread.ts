// A reader thread: what a stranger's server sent is parsed here, where it takes nothing but the thread's own time and memory.
import { parentPort } from 'node:worker_threads';
import type { ThreadReady } from '../../../lib/concurrency/bounded-thread.ts';
import { ownThread } from '../../../lib/concurrency/thread-cpu.ts';
import type { ReaderAnswer, ReaderTask } from './messages.ts';
import { readPage } from './read-page.ts';
import { robotsVerdict } from './robots-verdict.ts';

function send(answer: ReaderAnswer | ThreadReady): void {
  parentPort?.postMessage(answer);
}

parentPort?.on('message', (task: ReaderTask) =>
  send(task.kind === 'page' ? readPage(task) : robotsVerdict(task)),
);
send({ kind: 'ready', thread: ownThread() });
