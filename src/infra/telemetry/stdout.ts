// Stdout as the log's destination: written by another thread, and at once where the process exits.
import { pino } from 'pino';
import { holdThread } from '../../lib/timers/hold-thread.ts';

/**
 * Lines gather up to this size, and at most this long, before they are written. A write wakes a thread of the pool: at full
 * rate, writes of 16 kB took 2 µs of the event loop for each call, these 0.4.
 */
const GATHER_BYTES = 60_000;
/** What a pipe on Linux holds: no write is larger. Where nobody reads it, process.exit loses the one that waits, and no other. */
export const PIPE_BYTES = 65_536;
const GATHER_MS = 100;
/** A reader of stdout who has stopped costs lines, not the gateway's memory. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;
/** A write that another thread has begun when the process exits is given this long: what is written beside it would mix with it. */
const BEGUN_WRITE_MS = 250;

/** What lines are written to, some at a time. */
export interface LogDestination {
  write(text: string): void;
  flush(done: (error?: Error) => void): void;
}

export interface Stdout extends LogDestination {
  /** From here on lines are written before `write` returns: for a process that exits. */
  writeAtOnce(): void;
}

/**
 * Pino's own destination: it flushes at exit, and gives up in silence when the reader of a pipe has gone. It takes
 * bytes: with text, it would copy all that has gathered for each line that is added.
 */
export function openStdout(): Stdout {
  const destination = pino.destination({
    fd: 1,
    sync: false,
    minLength: GATHER_BYTES,
    maxWrite: PIPE_BYTES,
    periodicFlush: GATHER_MS,
    maxLength: MAX_BUFFERED_BYTES,
    contentMode: 'buffer',
  });
  destination.on('error', () => undefined);
  // Its types know of text alone, and of no state.
  const untyped = destination as unknown as {
    write(bytes: Buffer): boolean;
    sync: boolean;
    readonly _writing: boolean;
  };
  return {
    write: (text) => void untyped.write(Buffer.from(text)),
    flush: (done) => destination.flush(done),
    writeAtOnce: () => {
      untyped.sync = true;
      // Whether a write of another thread has ended is told by the event loop alone, which no longer turns at exit.
      if (untyped._writing) holdThread(BEGUN_WRITE_MS);
    },
  };
}
