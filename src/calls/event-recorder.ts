// EventRecorder: keeps what a call says while it runs, a bounded number of events in a bounded number of bytes.
import type { JsonObject } from '../contract/json.ts';
import type { CallEvent } from '../contract/call/tool-call.ts';
import type { StoredEvent } from '../ports/calls/call-store.ts';
import type { Clock } from '../ports/clock.ts';

const MAX_EVENTS = 1_000;
const MAX_BYTES = 1 << 20;
/** Events of so much time are written together. */
const GATHER_MS = 100;
const LEFT_OUT = 'This call says more than is kept: its further events are left out.';

export class EventRecorder {
  readonly #clock: Clock;
  readonly #write: (events: readonly StoredEvent[]) => Promise<void>;
  #waiting: StoredEvent[] = [];
  #writing: Promise<void> = Promise.resolve();
  #disarm: (() => void) | undefined;
  #seq: number;
  #kept = 0;
  #bytes = 0;
  #full = false;

  /** `write` does not reject. */
  constructor(clock: Clock, afterSeq: number, write: (events: readonly StoredEvent[]) => Promise<void>) {
    this.#clock = clock;
    this.#seq = afterSeq;
    this.#write = write;
  }

  readonly emit = (event: CallEvent): void => {
    if (this.#full) return;
    const { kind, ...data } = event;
    const bytes = JSON.stringify(data).length;
    this.#full = this.#kept + 1 >= MAX_EVENTS || this.#bytes + bytes > MAX_BYTES;
    if (this.#full) return this.#keep('log', { level: 'warn', message: LEFT_OUT }, 0);
    this.#keep(kind, data, bytes);
  };

  /** Resolves when everything said is written. */
  async close(): Promise<void> {
    this.#full = true;
    this.#flush();
    await this.#writing;
  }

  #keep(kind: string, data: JsonObject, bytes: number): void {
    this.#kept += 1;
    this.#bytes += bytes;
    this.#seq += 1;
    this.#waiting.push({ seq: this.#seq, kind, data });
    this.#disarm ??= this.#clock.after(GATHER_MS, () => this.#flush());
  }

  #flush(): void {
    this.#disarm?.();
    this.#disarm = undefined;
    if (this.#waiting.length === 0) return;
    const events = this.#waiting;
    this.#waiting = [];
    this.#writing = this.#writing.then(() => this.#write(events));
  }
}
