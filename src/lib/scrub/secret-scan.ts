// SecretScan: one reading of a text, in pieces of any size: which places of it hold a secret.
import type { SecretAutomaton } from './automaton.ts';
import { Unescaper } from './unescaper.ts';

export interface CompiledSecrets {
  readonly plain: SecretAutomaton;
  readonly unescaped: SecretAutomaton;
}

/** From, inclusive, to, exclusive: counted from the first piece's beginning. */
export interface Place {
  start: number;
  end: number;
}

export class SecretScan {
  /** In order, none touching the inside of another. */
  readonly places: Place[] = [];
  readonly #plain: SecretAutomaton;
  readonly #unescaped: UnescapedScan | undefined;
  #state = 0;
  #at = 0;

  /** `undoes` false: the text is known to hold no escape. */
  constructor({ plain, unescaped }: CompiledSecrets, undoes: boolean) {
    this.#plain = plain;
    if (undoes) this.#unescaped = new UnescapedScan(unescaped, (start, end) => this.#add(start, end));
  }

  /** Everything before it is decided. */
  get settled(): number {
    const open = this.#at - (this.#plain.depth[this.#state] as number);
    return Math.min(open, this.#unescaped?.openSince ?? open);
  }

  read(text: string, from = 0, to = text.length): void {
    const { longest } = this.#plain;
    const base = this.#at - from;
    let state = this.#state;
    for (let at = from; at < to; at += 1) {
      const unit = text.charCodeAt(at);
      state = this.#plain.step(state, unit);
      const length = longest[state] as number;
      if (length > 0) this.#add(base + at + 1 - length, base + at + 1);
      this.#unescaped?.unit(unit, base + at);
    }
    this.#state = state;
    this.#at = base + to;
  }

  finish(): void {
    this.#unescaped?.finish();
  }

  /** Places come in the order of their ends, but for those behind an escape, which come a little later. */
  #add(start: number, end: number): void {
    const { places } = this;
    let at = places.length;
    while (at > 0 && (places[at - 1] as Place).start >= end) at -= 1;
    const place = { start, end };
    let first = at;
    while (first > 0 && (places[first - 1] as Place).end > start) {
      first -= 1;
      const other = places[first] as Place;
      place.start = Math.min(place.start, other.start);
      place.end = Math.max(place.end, other.end);
    }
    if (first === places.length) places.push(place);
    else if (at - first === 1) places[first] = place;
    else places.splice(first, at - first, place);
  }
}

class UnescapedScan {
  readonly #automaton: SecretAutomaton;
  readonly #unescaper: Unescaper;
  /** Where the last bytes stand, as many as the longest secret has. */
  readonly #starts: Float64Array;
  readonly #mask: number;
  #count = 0;
  #state = 0;

  constructor(automaton: SecretAutomaton, found: (start: number, end: number) => void) {
    this.#automaton = automaton;
    this.#starts = new Float64Array(2 ** Math.ceil(Math.log2(automaton.maxDepth + 1)));
    this.#mask = this.#starts.length - 1;
    this.#unescaper = new Unescaper((byte, start, end) => {
      this.#starts[this.#count & this.#mask] = start;
      this.#count += 1;
      this.#state = automaton.step(this.#state, byte);
      const length = automaton.longest[this.#state] as number;
      if (length > 0) found(this.#startOf(length), end);
    });
  }

  get openSince(): number | undefined {
    const depth = this.#automaton.depth[this.#state] as number;
    return depth === 0 ? this.#unescaper.waitingSince : this.#startOf(depth);
  }

  unit(unit: number, at: number): void {
    this.#unescaper.unit(unit, at, at + 1);
  }

  finish(): void {
    this.#unescaper.finish();
  }

  #startOf(length: number): number {
    return this.#starts[(this.#count - length) & this.#mask] as number;
  }
}
