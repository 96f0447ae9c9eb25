// ArrivingBodies: what bodies may take together that have not arrived whole. Anybody may begin one, and leave it there for as long as a request may take.

export interface ArrivingBody {
  /** What is kept of it so far. */
  bytes: number;
  /** Nothing of it may be kept from then on. */
  readonly giveUp: () => void;
}

const ROOM_BYTES = 128 * 1024 * 1024;
/** Of bodies as large as they may be. */
const LEAST_BODIES = 8;

export class ArrivingBodies {
  readonly #most: number;
  /** Those that began first, first. */
  readonly #bodies = new Set<ArrivingBody>();
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  static forBodiesOf(maxBytes: number): ArrivingBodies {
    return new ArrivingBodies(Math.max(ROOM_BYTES, LEAST_BODIES * maxBytes));
  }

  /** Where it is too much, those that began first are given up: whoever sends on is done long before. */
  keeps(body: ArrivingBody, bytes: number): void {
    this.#bytes += bytes - body.bytes;
    body.bytes = bytes;
    this.#bodies.add(body);
    for (const first of this.#bodies) {
      if (this.#bytes <= this.#most) return;
      this.ended(first);
      first.giveUp();
    }
  }

  /** It has arrived, or nothing of it is kept any more. */
  ended(body: ArrivingBody): void {
    if (this.#bodies.delete(body)) this.#bytes -= body.bytes;
    body.bytes = 0;
  }
}
