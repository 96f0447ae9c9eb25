// ServerProcess: a running PostgreSQL, and beside it a shell that ends it when the gateway is gone, however that ended.
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { cannotRun, SERVER_ENV } from './cluster.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import type { Placement } from './placement.ts';
import { remedyOf } from './remedy.ts';
import { readPidFile } from './stale-server.ts';

/**
 * The pipe on its input ends with the gateway: killed or not, the kernel closes it. The server does not have it, and the
 * shell has none of the server's output, so that the end of that is the end of the server.
 */
const SUPERVISOR = `
exec 3<&0 </dev/null
"$@" 3<&- &
server=$!
exec >/dev/null 2>&1
trap '' HUP INT TERM
read -r nothing <&3
kill -s INT "$server"
wait "$server"
`;

/** What the log says at the start: in the order of PostgreSQL's own steps. */
const READY = 'database system is ready to accept connections';
const RECOVERING =
  /^LOG: {2}(database system was interrupted.*|database system was not properly shut down.*|redo .*|syncing data directory.*|resetting unlogged relations.*)$/;
const TROUBLE = /^(?:FATAL|PANIC): {2}(.*)$/;
const KEPT_TROUBLES = 5;
/** A shutdown writes what is only in memory; one that takes longer is cut short and recovered from at the next start. */
const STOP_WITHIN_MS = 20_000;

export interface ServerEvents {
  /** Each line of what PostgreSQL says of itself. */
  said(line: string): void;
  /** What it does before it can be asked, when it has something to recover. */
  recovering(step: string): void;
}

export class ServerProcess {
  /** Rejects with EmbeddedPostgresError where the server ends before. */
  readonly ready: Promise<void>;
  /** The server has ended, and the shell beside it. */
  readonly ended: Promise<void>;
  readonly #place: Placement;
  readonly #shell: ChildProcess;
  readonly #troubles: string[] = [];

  constructor(place: Placement, binaries: string, events: ServerEvents) {
    this.#place = place;
    const program = join(binaries, 'bin/postgres');
    this.#shell = spawn('/bin/sh', ['-c', SUPERVISOR, 'sh', program, '-D', place.cluster], {
      cwd: place.home,
      env: SERVER_ENV,
      stdio: ['pipe', 'ignore', 'pipe'],
      // A session of its own: what a terminal or a script sends to the gateway's group is not meant for it.
      detached: true,
      ...place.user,
    });
    const shell = this.#shell;
    shell.unref();
    shell.stdin?.on('error', () => undefined);
    let isReady: () => void = () => undefined;
    let hasFailed: (error: Error) => void = () => undefined;
    this.ready = new Promise((resolve, reject) => ([isReady, hasFailed] = [resolve, reject]));
    this.ready.catch(() => undefined);
    lines(shell, (line) => {
      events.said(line);
      if (line.includes(READY)) isReady();
      const step = RECOVERING.exec(line)?.[1];
      if (step !== undefined) events.recovering(step);
      const trouble = TROUBLE.exec(line)?.[1];
      // What connections are told meanwhile is no trouble of the server.
      if (trouble !== undefined && !trouble.startsWith('the database system is ')) this.#note(trouble);
    });
    const exited = new Promise<void>((done) => {
      shell.once('error', (error) => {
        hasFailed(cannotRun('/bin/sh', error));
        done();
      });
      shell.once('exit', () => done());
    });
    const silent = new Promise<void>((done) => {
      shell.once('error', () => done());
      shell.stderr?.once('close', done);
    });
    // Without the one, the other has nothing to do any more.
    void silent.then(() => shell.stdin?.end());
    void exited.then(() => this.#signal('SIGINT'));
    this.ended = Promise.all([silent, exited]).then(() => hasFailed(this.#failure()));
  }

  /** In good order, so that the next start has nothing to recover. */
  async stop(): Promise<void> {
    const cutShort = setTimeout(() => this.#signal('SIGQUIT'), STOP_WITHIN_MS);
    this.#shell.stdin?.end();
    await this.ended;
    clearTimeout(cutShort);
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = readPidFile(this.#place.cluster)?.pid;
    if (pid === undefined) return;
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended.
    }
  }

  #note(trouble: string): void {
    this.#troubles.push(trouble);
    if (this.#troubles.length > KEPT_TROUBLES) this.#troubles.shift();
  }

  #failure(): EmbeddedPostgresError {
    const said = this.#troubles.join('; ');
    return new EmbeddedPostgresError(
      `the embedded database in ${this.#place.cluster} does not start (${said === '' ? 'it said nothing' : said})${remedyOf(said)}`,
    );
  }
}

function lines(child: ChildProcess, take: (line: string) => void): void {
  let rest = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) take(line);
  });
}
