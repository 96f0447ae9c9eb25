// Outbox: what was said in a stream, numbered: sent no faster than the reader reads, and kept for a while for one that comes again.

/** Of what was sent already, so much is kept for a client that resumes. */
export const MOST_KEPT = 1_024;
export const MOST_KEPT_SIZE = 1 << 20;

export interface Numbered<Message> {
  readonly seq: number;
  readonly message: Message;
  readonly size: number;
}

export interface Reader<Message> {
  /** False: it takes no more until it says `drained`. */
  send(numbered: Numbered<Message>): boolean;
}

export class Outbox<Message> {
  #kept: Numbered<Message>[];
  #keptSize: number;
  #next: number;
  /** The last that was given to a reader. */
  #sent: number;
  #unsentSize = 0;
  #reader: Reader<Message> | undefined;
  #isReady = false;

  /** `before`: of a stream that goes on here; all of it counts as sent. */
  constructor(before: readonly Numbered<Message>[] = [], next = 1) {
    this.#kept = [...before];
    this.#keptSize = before.reduce((sum, { size }) => sum + size, 0);
    this.#next = next;
    this.#sent = next - 1;
  }

  /** Size of what waits for a reader. */
  get unsentSize(): number {
    return this.#unsentSize;
  }

  get isBehind(): boolean {
    return this.#sent < this.last;
  }

  get last(): number {
    return this.#next - 1;
  }

  /** What a client may be sent again. */
  get kept(): readonly Numbered<Message>[] {
    return this.#kept;
  }

  push(message: Message, size: number): void {
    this.#kept.push({ seq: this.#next, message, size });
    this.#next += 1;
    this.#keptSize += size;
    this.#unsentSize += size;
    this.#send();
    this.#forget();
  }

  /** False: some of what came after `seq` is not kept any more, or it was never said. */
  keeps(seq: number): boolean {
    const first = this.#kept[0]?.seq ?? this.#next;
    return seq >= first - 1 && seq <= this.last;
  }

  /** Sends what comes after `seq`, which has to be kept. */
  attach(reader: Reader<Message>, seq: number): void {
    this.#reader = reader;
    this.#isReady = true;
    this.#sent = seq;
    this.#unsentSize = this.#after(seq).reduce((sum, { size }) => sum + size, 0);
    this.#send();
  }

  /** What it was given may be lost: it is kept. */
  detach(): void {
    this.#reader = undefined;
    this.#isReady = false;
  }

  drained(): void {
    this.#isReady = this.#reader !== undefined;
    this.#send();
    this.#forget();
  }

  #send(): void {
    if (!this.#isReady || this.#sent === this.last) return;
    for (const numbered of this.#after(this.#sent)) {
      if (!this.#isReady) return;
      this.#sent = numbered.seq;
      this.#unsentSize -= numbered.size;
      this.#isReady = this.#reader?.send(numbered) ?? false;
    }
  }

  #after(seq: number): readonly Numbered<Message>[] {
    const first = this.#kept[0]?.seq ?? this.#next;
    return this.#kept.slice(Math.max(0, seq + 1 - first));
  }

  /** What was sent, and only when there is twice too much of it: a list is not cut for each message. */
  #forget(): void {
    if (this.#kept.length <= 2 * MOST_KEPT && this.#keptSize <= 2 * MOST_KEPT_SIZE) return;
    let from = 0;
    for (const { seq, size } of this.#kept) {
      const isEnough = this.#kept.length - from <= MOST_KEPT && this.#keptSize <= MOST_KEPT_SIZE;
      if (isEnough || seq > this.#sent) break;
      from += 1;
      this.#keptSize -= size;
    }
    // Of a reader that is behind nothing is forgotten: its list is not copied for each message.
    if (from > 0) this.#kept = this.#kept.slice(from);
  }
}
