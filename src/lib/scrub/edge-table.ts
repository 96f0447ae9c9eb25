// EdgeTable: which state follows a state by a unit. A hash table in three arrays of numbers: small, and quick to look into.

const EMPTY = 0;
/** Nobody outside can choose texts that fall on one another. */
const SALT = (Math.random() * 0x1_0000_0000) | 0;

export class EdgeTable {
  #from = new Int32Array(16);
  #units = new Uint16Array(16);
  /** 0: there is no edge here; no edge leads to the root. */
  #to = new Int32Array(16);
  #mask = 15;
  #size = 0;

  /** Undefined as 0. */
  get(from: number, unit: number): number {
    for (let slot = slotOf(from, unit) & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const to = this.#to[slot] as number;
      if (to === EMPTY || (this.#from[slot] === from && this.#units[slot] === unit)) return to;
    }
  }

  /** An edge that is not there yet. */
  add(from: number, unit: number, to: number): void {
    this.#size += 1;
    if (this.#size * 2 > this.#mask) this.#grow();
    this.#put(from, unit, to);
  }

  #put(from: number, unit: number, to: number): void {
    let slot = slotOf(from, unit) & this.#mask;
    while (this.#to[slot] !== EMPTY) slot = (slot + 1) & this.#mask;
    this.#from[slot] = from;
    this.#units[slot] = unit;
    this.#to[slot] = to;
  }

  #grow(): void {
    const [from, units, to] = [this.#from, this.#units, this.#to];
    const length = to.length * 4;
    this.#mask = length - 1;
    this.#from = new Int32Array(length);
    this.#units = new Uint16Array(length);
    this.#to = new Int32Array(length);
    for (let slot = 0; slot < to.length; slot += 1) {
      const target = to[slot] as number;
      if (target !== EMPTY) this.#put(from[slot] as number, units[slot] as number, target);
    }
  }
}

function slotOf(from: number, unit: number): number {
  const mixed = Math.imul(from ^ SALT, 0x9e37_79b1) ^ Math.imul(unit + SALT, 0x85eb_ca6b);
  return (mixed ^ (mixed >>> 15)) & 0x7fff_ffff;
}
