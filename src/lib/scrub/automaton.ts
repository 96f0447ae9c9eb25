// SecretAutomaton: finds every place where one of many texts stands, in one pass (Aho-Corasick). The time grows with the
// length of what is searched and of nothing else, whatever the texts are: nothing is tried twice.
import { EdgeTable } from './edge-table.ts';
import { SkipTable } from './skip-table.ts';

/** How many steps of building are done before others get their turn. */
const STEPS_PER_SLICE = 4_096;
const ROOT = 0;
/** Nothing leads back to the root but failing. */
const NONE = 0;

export class SecretAutomaton {
  /** Per state: the length of the longest text that ends here; 0 where none does. */
  longest = new Int32Array(0);
  /** Per state: how many units of a text, that may still become whole, have been read. */
  depth = new Int32Array(64);
  #fail = new Int32Array(0);
  #parent = new Int32Array(64);
  #unit = new Uint16Array(64);
  /** The first child of each state; most have no other. */
  #child = new Int32Array(64);
  /** Children besides the first one, by state and unit. */
  readonly #others = new EdgeTable();
  readonly #ends = new Set<number>();
  readonly #rootAscii = new Int32Array(128);
  /** Undefined where it would not pay. */
  readonly #skips: SkipTable | undefined;
  #size = 1;
  maxDepth = 0;

  private constructor(skips: SkipTable | undefined) {
    this.#skips = skips;
  }

  /** Gives way after each slice, so that many or long texts can be taken in without stopping everything else. */
  static *build(texts: ReadonlySet<string>): Generator<void, SecretAutomaton> {
    const automaton = new SecretAutomaton(yield* SkipTable.of(texts));
    for (const text of texts) yield* automaton.#add(text);
    yield* automaton.#link();
    return automaton;
  }

  /** The state after one more UTF-16 unit. */
  step(from: number, unit: number): number {
    let state = from;
    for (;;) {
      if (state === ROOT) return this.#fromRoot(unit);
      const to = this.#childOf(state, unit);
      if (to !== NONE) return to;
      state = this.#fail[state] as number;
    }
  }

  /** True if one of the texts stands somewhere in this one. */
  finds(text: string): boolean {
    return this.#skips === undefined ? this.#findsByUnit(text) : this.#findsInWindows(text, this.#skips);
  }

  #findsByUnit(text: string): boolean {
    const ascii = this.#rootAscii;
    const { longest } = this;
    let state = ROOT;
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      state = state === ROOT && unit < 128 ? (ascii[unit] as number) : this.step(state, unit);
      if (state !== ROOT && (longest[state] as number) > 0) return true;
    }
    return false;
  }

  #findsInWindows(text: string, skips: SkipTable): boolean {
    const { longest } = this;
    let state = ROOT;
    let at = skips.next(text, 0);
    while (at < text.length) {
      state = this.step(state, text.charCodeAt(at));
      if ((longest[state] as number) > 0) return true;
      at += 1;
      // Nothing that has begun may still become whole.
      if (state === ROOT) at = skips.next(text, at);
    }
    return false;
  }

  #fromRoot(unit: number): number {
    if (unit < 128) return this.#rootAscii[unit] as number;
    const to = this.#childOf(ROOT, unit);
    return to === NONE ? ROOT : to;
  }

  #childOf(state: number, unit: number): number {
    const child = this.#child[state] as number;
    if (child === NONE || this.#unit[child] === unit) return child;
    return this.#others.get(state, unit);
  }

  *#add(text: string): Generator<void, void> {
    let state = ROOT;
    for (let at = 0; at < text.length; at += 1) {
      if (at % STEPS_PER_SLICE === STEPS_PER_SLICE - 1) yield;
      const unit = text.charCodeAt(at);
      const known = this.#childOf(state, unit);
      state = known === NONE ? this.#grow(state, unit) : known;
    }
    this.#ends.add(state);
    this.maxDepth = Math.max(this.maxDepth, text.length);
    yield;
  }

  #grow(parent: number, unit: number): number {
    const state = this.#size;
    if (state === this.#parent.length) this.#double();
    this.#size += 1;
    this.#parent[state] = parent;
    this.#unit[state] = unit;
    this.depth[state] = (this.depth[parent] as number) + 1;
    if (this.#child[parent] === NONE) this.#child[parent] = state;
    else this.#others.add(parent, unit, state);
    return state;
  }

  #double(): void {
    const length = this.#size * 2;
    const grown = (old: Int32Array<ArrayBuffer>) => {
      const copy = new Int32Array(length);
      copy.set(old);
      return copy;
    };
    this.#parent = grown(this.#parent);
    this.#child = grown(this.#child);
    this.depth = grown(this.depth);
    const units = new Uint16Array(length);
    units.set(this.#unit);
    this.#unit = units;
  }

  /** Shallow states first: where a longer text fails, the search goes on in a shorter one. */
  *#link(): Generator<void, void> {
    this.#fail = new Int32Array(this.#size);
    this.longest = new Int32Array(this.#size);
    const order = yield* this.#byDepth();
    let done = 0;
    for (const state of order) {
      done += 1;
      if (done % STEPS_PER_SLICE === 0) yield;
      const parent = this.#parent[state] as number;
      const unit = this.#unit[state] as number;
      if (parent === ROOT && unit < 128) this.#rootAscii[unit] = state;
      const fail = parent === ROOT ? ROOT : this.step(this.#fail[parent] as number, unit);
      this.#fail[state] = fail;
      const isEnd = this.#ends.has(state);
      this.longest[state] = isEnd ? (this.depth[state] as number) : (this.longest[fail] as number);
    }
  }

  /** All states but the root, sorted by counting. */
  *#byDepth(): Generator<void, Int32Array> {
    const places = new Int32Array(this.maxDepth + 2);
    const count = (state: number, by: number): number => {
      const depth = this.depth[state] as number;
      const before = places[depth + by] as number;
      places[depth + by] = before + 1;
      return before;
    };
    for (let state = 1; state < this.#size; state += 1) {
      count(state, 1);
      if (state % STEPS_PER_SLICE === 0) yield;
    }
    for (let depth = 1; depth < places.length; depth += 1) {
      places[depth] = (places[depth] as number) + (places[depth - 1] as number);
      if (depth % STEPS_PER_SLICE === 0) yield;
    }
    const order = new Int32Array(this.#size - 1);
    for (let state = 1; state < this.#size; state += 1) {
      order[count(state, 0)] = state;
      if (state % STEPS_PER_SLICE === 0) yield;
    }
    return order;
  }
}
