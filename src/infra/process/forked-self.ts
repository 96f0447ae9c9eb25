// ForkedSelf: this program once more, as a child that is spoken to by messages and may be handed connections.
import { fork } from 'node:child_process';
import type { Socket } from 'node:net';

export interface ForkedSelf {
  readonly pid: number;
  /** Not an error where the child has ended: its end is told by `exited`. A connection is closed here once the child has it. */
  send(message: object, connection?: Socket): void;
  kill(signal: NodeJS.Signals): void;
  /** Once, and never rejected. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

/** With the arguments of Node that this process has, its standard output and error, and `env` over its environment. */
export function forkSelf(
  env: Readonly<Record<string, string>>,
  received: (message: unknown) => void,
): ForkedSelf {
  const child = fork(process.argv[1] ?? '', [], {
    env: { ...process.env, ...env },
    execArgv: process.execArgv,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.on('message', received);
  const exited = new Promise<Awaited<ForkedSelf['exited']>>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    // Not started at all: there is no exit then.
    child.on('error', () => child.pid === undefined && resolve({ code: 1, signal: null }));
  });
  return {
    pid: child.pid ?? 0,
    send(message, connection) {
      if (!child.connected) {
        connection?.destroy();
        return;
      }
      child.send(
        message,
        connection,
        { keepOpen: false },
        (error) => error !== null && connection?.destroy(),
      );
    },
    kill: (signal) => void child.kill(signal),
    exited,
  };
}
