// SecretStream: scrubs a text that comes in pieces. A secret that is cut in two by them is found all the same.
import { SecretScan, type CompiledSecrets, type Place } from './secret-scan.ts';
import { SECRET_MARK } from './sealed.ts';

export class SecretStream {
  readonly #scan: SecretScan;
  /** What may still turn out to be a secret, or a part of one. */
  #held = '';
  #heldFrom = 0;

  /** True once a secret was found. */
  found = false;

  /** `undoes` false: the text is known to hold no escape. */
  constructor(secrets: CompiledSecrets, undoes = true) {
    this.#scan = new SecretScan(secrets, undoes);
  }

  /** What of the text so far can be shown. */
  push(piece: string): string {
    this.#held += piece;
    this.#scan.read(piece);
    return this.#release(this.#scan.settled);
  }

  /** The rest: no more will come. */
  end(): string {
    this.#scan.finish();
    return this.#release(this.#heldFrom + this.#held.length);
  }

  #release(settled: number): string {
    const { places } = this.#scan;
    const open = places.findIndex(({ end }) => end > settled);
    const decided = places.splice(0, open < 0 ? places.length : open);
    if (decided.length > 0) this.found = true;
    const upTo = Math.min(settled, places[0]?.start ?? settled);
    const from = this.#heldFrom;
    const shown = withMarks(this.#held.slice(0, upTo - from), decided, from);
    this.#held = this.#held.slice(upTo - from);
    this.#heldFrom = upTo;
    return shown;
  }
}

/** `text` begins at `base`. */
function withMarks(text: string, places: readonly Place[], base: number): string {
  let shown = '';
  let at = base;
  for (const { start, end } of places) {
    shown += text.slice(at - base, start - base) + SECRET_MARK;
    at = end;
  }
  return shown + text.slice(at - base);
}
