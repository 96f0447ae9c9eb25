// OrderedOutput: what a stream says, in the order of what the client said: whatever follows a call waits for its result.

/** What may wait behind calls that are under way, besides their results. */
export const MOST_HELD = 4_096;
export const MOST_HELD_SIZE = 4 << 20;

export interface Said<Message> {
  readonly message: Message;
  /** Characters, more or less. */
  readonly size: number;
}

/** The place of a call: everything about it is said there. */
export interface CallSlot<Message> {
  /** False: too much waits already. `mayBeLeftOut`: then it is left out, and the call goes on. */
  push(said: Said<Message>, mayBeLeftOut: boolean): boolean;
  /** Its result. What follows it is said next. */
  close(said: Said<Message>): void;
}

interface Slot<Message> {
  readonly waiting: Said<Message>[];
  isOpen: boolean;
}

export class OrderedOutput<Message> {
  readonly #release: (said: Said<Message>) => void;
  readonly #slots: Slot<Message>[] = [];
  #held = 0;
  #heldSize = 0;

  constructor(release: (said: Said<Message>) => void) {
    this.#release = release;
  }

  /** Size of what waits behind calls. */
  get heldSize(): number {
    return this.#heldSize;
  }

  get held(): number {
    return this.#held;
  }

  /** In its place: at once where no call is under way. */
  say(said: Said<Message>): void {
    const last = this.#slots.at(-1);
    if (last === undefined) return this.#release(said);
    if (last.isOpen) this.#slots.push({ waiting: [], isOpen: false });
    this.#hold(this.#slots.at(-1) as Slot<Message>, said);
  }

  open(): CallSlot<Message> {
    const slot: Slot<Message> = { waiting: [], isOpen: true };
    this.#slots.push(slot);
    return {
      push: (said, mayBeLeftOut) => this.#push(slot, said, mayBeLeftOut),
      close: (said) => this.#close(slot, said),
    };
  }

  #push(slot: Slot<Message>, said: Said<Message>, mayBeLeftOut: boolean): boolean {
    if (!slot.isOpen) return true;
    if (this.#slots[0] === slot) {
      this.#release(said);
      return true;
    }
    if (this.#held < MOST_HELD && this.#heldSize + said.size <= MOST_HELD_SIZE) {
      this.#hold(slot, said);
      return true;
    }
    return mayBeLeftOut;
  }

  #close(slot: Slot<Message>, said: Said<Message>): void {
    if (!slot.isOpen) return;
    slot.isOpen = false;
    this.#hold(slot, said);
    this.#flush();
  }

  #hold(slot: Slot<Message>, said: Said<Message>): void {
    slot.waiting.push(said);
    this.#held += 1;
    this.#heldSize += said.size;
  }

  /** Says what waits up to the first call that is under way, and what that has said so far. */
  #flush(): void {
    for (let slot = this.#slots[0]; slot !== undefined; slot = this.#slots[0]) {
      for (const said of slot.waiting.splice(0)) {
        this.#held -= 1;
        this.#heldSize -= said.size;
        this.#release(said);
      }
      if (slot.isOpen) return;
      this.#slots.shift();
    }
  }
}
