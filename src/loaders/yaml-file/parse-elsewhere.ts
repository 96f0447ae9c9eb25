// Parses half of a huge file's pieces in a thread of its own, while this one parses the other half.
import { hash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { Piece } from './split-tools.ts';

/** Below this a thread costs more than it saves. */
const WORTH_A_THREAD = 1_000;

export interface Elsewhere {
  /** Pieces from this one on are the thread's. */
  readonly from: number;
  /** Adds what the thread understood, by the sha256 of the text. What it did not is left to the caller. */
  into(values: Map<string, unknown>): Promise<void>;
}

/** What the thread is sent, and what it answers: a value in a box for each text it understood. */
export type Texts = readonly string[];
export type Answers = readonly ({ readonly value: unknown } | undefined)[];

/** Undefined: not worth a thread. */
export function parseElsewhere(
  pieces: readonly Piece[],
  isKnown: (text: string) => boolean,
): Elsewhere | undefined {
  if (pieces.length < WORTH_A_THREAD * 2) return undefined;
  const unknown = pieces.flatMap(({ text }, index) => (isKnown(text) ? [] : [index]));
  const from = unknown[unknown.length >> 1];
  if (unknown.length < WORTH_A_THREAD * 2 || from === undefined) return undefined;
  const texts = unknown.slice(unknown.length >> 1).map((index) => pieces[index]?.text ?? '');
  const answers = inThread(texts);
  return {
    from,
    async into(values) {
      for (const [index, answer] of (await answers).entries()) {
        if (answer !== undefined) values.set(hash('sha256', texts[index] ?? ''), answer.value);
      }
    },
  };
}

/** Beside this file, in src as in dist. */
const THREAD = new URL(`piece-thread${import.meta.url.slice(-3)}`, import.meta.url);

/** Never rejects: a thread that fails has understood nothing. */
function inThread(texts: Texts): Promise<Answers> {
  return new Promise((resolve) => {
    const worker = new Worker(THREAD, { workerData: texts });
    worker.once('message', (answers: Answers) => resolve(answers));
    worker.once('error', () => resolve([]));
    worker.once('exit', () => resolve([]));
  });
}
