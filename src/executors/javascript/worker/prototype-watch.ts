// PrototypeWatch: notices what a call has left on the prototypes that everything in a thread shares.

const { ownKeys, get, getOwnPropertyDescriptor } = Reflect;
const WATCHED: readonly object[] = [
  Object.prototype,
  Array.prototype,
  Function.prototype,
  String.prototype,
  Number.prototype,
  Promise.prototype,
  Error.prototype,
  Map.prototype,
  Set.prototype,
];

interface Known {
  readonly target: object;
  readonly count: number;
  /** Of plain members; what reads through a getter is left alone. */
  readonly keys: readonly PropertyKey[];
  readonly values: readonly unknown[];
}

export class PrototypeWatch {
  #known = WATCHED.map(lookAt);
  #spoiled = false;

  /** Takes things as they are now: modules may add to prototypes when they are imported. */
  accept(): void {
    this.#known = WATCHED.map(lookAt);
  }

  /** Once true, it stays so. */
  get spoiled(): boolean {
    this.#spoiled ||= this.#known.some(hasChanged);
    return this.#spoiled;
  }
}

function lookAt(target: object): Known {
  const all = ownKeys(target);
  const keys = all.filter((key) => 'value' in (getOwnPropertyDescriptor(target, key) ?? {}));
  return { target, count: all.length, keys, values: keys.map((key) => get(target, key) as unknown) };
}

function hasChanged({ target, count, keys, values }: Known): boolean {
  if (ownKeys(target).length !== count) return true;
  for (let at = 0; at < keys.length; at++) {
    if (get(target, keys[at] ?? '') !== values[at]) return true;
  }
  return false;
}
