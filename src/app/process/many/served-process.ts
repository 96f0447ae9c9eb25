// ServedProcess: one of the processes that serve, as the primary sees it: started again whenever it ends, later each time.
import type { Socket } from 'node:net';
import { forkSelf, type ForkedSelf } from '../../../infra/process/forked-self.ts';
import { backoffMs, type Backoff } from '../../../lib/timers/backoff.ts';
import type { Clock } from '../../../ports/clock.ts';
import { PROCESS_VARIABLE } from './process-index.ts';
import { isMessage, type Door, type ProcessState, type ToPrimary, type ToProcess } from './messages.ts';

const AGAIN: Backoff = { firstMs: 200, lastMs: 30_000, least: 0.5 };
/** One that has served for so long begins with the shortest wait again. */
const SOUND_MS = 60_000;

export interface ServedProcessDeps {
  readonly index: number;
  readonly clock: Clock;
  /** Another state, or another reason. */
  changed(): void;
  /** How it told that it serves. */
  serving(pipeline: Extract<ToPrimary, { ute: 'serving' }>['pipeline']): void;
  closed(door: Door, count: number): void;
  /** It has ended; `again`: in so many milliseconds it is started once more. */
  ended(how: string, again: number | undefined): void;
  fork?: typeof forkSelf;
}

type Answer = Extract<ToPrimary, { ute: 'answer' }>['answer'];

export class ServedProcess {
  readonly #deps: ServedProcessDeps;
  #child: ForkedSelf | undefined;
  #state: ProcessState;
  #failures = 0;
  #servesSince = 0;
  #asked = 0;
  readonly #asking = new Map<number, (answer: Answer | undefined) => void>();
  #cancelStart: (() => void) | undefined;
  #stopping = false;

  constructor(deps: ServedProcessDeps) {
    this.#deps = deps;
    this.#state = { process: deps.index, state: 'starting' };
  }

  get state(): ProcessState {
    return this.#state;
  }

  /** Whether connections may be given to it. */
  get takesConnections(): boolean {
    return this.#state.state === 'serving' || this.#state.state === 'refusing';
  }

  start(): void {
    if (this.#stopping) return;
    const { index, fork = forkSelf } = this.#deps;
    const child = fork({ [PROCESS_VARIABLE]: String(index) }, (received) => {
      if (isMessage(received) && this.#child === child) this.#heard(received as ToPrimary);
    });
    this.#child = child;
    void child.exited.then((how) => this.#ended(how));
  }

  give(door: Door, connection: Socket): void {
    this.#send({ ute: 'connection', door }, connection);
  }

  tell(states: readonly ProcessState[]): void {
    if (this.takesConnections) this.#send({ ute: 'states', states });
  }

  reload(): void {
    this.#send({ ute: 'reload' });
  }

  /** Also one that drains. Undefined: it does not serve, or does not answer in that time. */
  ask<Asked extends Answer>(
    what: Extract<ToProcess, { ute: 'ask' }>['what'],
    withinMs: number,
  ): Promise<Asked | undefined> {
    if (this.#state.state === 'starting') return Promise.resolve(undefined);
    const id = (this.#asked += 1);
    return new Promise((resolve) => {
      const done = (answer: Answer | undefined) => {
        cancel();
        this.#asking.delete(id);
        resolve(answer as Asked | undefined);
      };
      const cancel = this.#deps.clock.after(withinMs, () => done(undefined));
      this.#asking.set(id, done);
      this.#send({ ute: 'ask', id, what });
    });
  }

  /** Resolves once it has ended: true if in good order. It is not started again. */
  async stop(): Promise<boolean> {
    this.#stopping = true;
    this.#cancelStart?.();
    if (this.#child === undefined) return true;
    this.#send({ ute: 'stop' });
    return (await this.#child.exited).code === 0;
  }

  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  #send(message: ToProcess, connection?: Socket): void {
    if (this.#child === undefined) connection?.destroy();
    else this.#child.send(message, connection);
  }

  #heard(message: ToPrimary): void {
    if (message.ute === 'answer') return this.#asking.get(message.id)?.(message.answer);
    if (message.ute === 'closed') return this.#deps.closed(message.door, message.count);
    if (message.ute === 'ending') return this.#become({ state: 'ending' });
    if (message.ute === 'refusing') {
      const { reason } = message;
      if (this.takesConnections)
        this.#become(reason === null ? { state: 'serving' } : { state: 'refusing', reason });
      return;
    }
    // It said so before it heard that it is to stop.
    if (this.#stopping) return;
    this.#servesSince = this.#deps.clock.now();
    const { reason } = message;
    this.#become(reason === undefined ? { state: 'serving' } : { state: 'refusing', reason });
    this.#deps.serving(message.pipeline);
  }

  #ended({ code, signal }: { readonly code: number | null; readonly signal: string | null }): void {
    const { clock } = this.#deps;
    this.#child = undefined;
    for (const done of this.#asking.values()) done(undefined);
    const wasSound = this.#servesSince > 0 && clock.now() - this.#servesSince >= SOUND_MS;
    this.#servesSince = 0;
    this.#failures = wasSound ? 0 : this.#failures;
    this.#become({ state: 'starting' });
    const how = signal === null ? `it ended with ${code ?? 1}` : `${signal} ended it`;
    if (this.#stopping) return this.#deps.ended(how, undefined);
    const again = Math.round(backoffMs(AGAIN, this.#failures, Math.random));
    this.#failures += 1;
    this.#cancelStart = clock.after(again, () => this.start());
    this.#deps.ended(how, again);
  }

  #become(state: Omit<ProcessState, 'process'>): void {
    this.#state = { process: this.#deps.index, ...state };
    this.#deps.changed();
  }
}
