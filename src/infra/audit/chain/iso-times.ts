// IsoTimes: times as records say them, many of them of one minute: a time that is read by itself costs as much as its whole line.

const MINUTE = 'YYYY-MM-DDTHH:MM:'.length;
const WHOLE = 'YYYY-MM-DDTHH:MM:SS.mmmZ'.length;
const MINUTE_MS = 60_000;
const DOT = 0x2e;
const Z = 0x5a;
const ZERO = 0x30;

export class IsoTimes {
  /** As it is written. */
  readonly #minute = Buffer.alloc(MINUTE);
  /** Epoch milliseconds. NaN: there was none yet. */
  #beginsAt = Number.NaN;

  /** Epoch milliseconds of the text that stands there; NaN of anything but what Date writes in ISO 8601. */
  ms(bytes: Buffer, start: number, end: number): number {
    const within =
      end - start === WHOLE && this.#isSameMinute(bytes, start) ? restOf(bytes, start + MINUTE) : Number.NaN;
    const known = this.#beginsAt + within;
    return Number.isNaN(known) ? this.#read(bytes, start, end) : known;
  }

  #isSameMinute(bytes: Buffer, start: number): boolean {
    const minute = this.#minute;
    for (let at = 0; at < MINUTE; at += 1) if (bytes[start + at] !== minute[at]) return false;
    return true;
  }

  #read(bytes: Buffer, start: number, end: number): number {
    const text = bytes.toString('latin1', start, end);
    const ms = Date.parse(text);
    if (Number.isNaN(ms) || new Date(ms).toISOString() !== text) return Number.NaN;
    // Longer where the year has more digits.
    if (end - start === WHOLE) {
      bytes.copy(this.#minute, 0, start, start + MINUTE);
      this.#beginsAt = Math.floor(ms / MINUTE_MS) * MINUTE_MS;
    }
    return ms;
  }
}

/** Milliseconds of `SS.mmmZ`; NaN of anything else. */
function restOf(bytes: Buffer, at: number): number {
  if (bytes[at + 2] !== DOT || bytes[at + 6] !== Z) return Number.NaN;
  const tens = digit(bytes, at);
  const seconds = tens < 6 ? 10 * tens + digit(bytes, at + 1) : Number.NaN;
  return 1000 * seconds + 100 * digit(bytes, at + 3) + 10 * digit(bytes, at + 4) + digit(bytes, at + 5);
}

function digit(bytes: Buffer, at: number): number {
  const value = (bytes[at] as number) - ZERO;
  return value >= 0 && value <= 9 ? value : Number.NaN;
}
