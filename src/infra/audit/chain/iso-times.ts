// IsoTimes: times as records say them, many of them of one minute: a time that is read by itself costs as much as its whole line.

const MINUTE = 'YYYY-MM-DDTHH:MM:'.length;
const MINUTE_MS = 60_000;
const REST = /^[0-5]\d\.\d{3}Z$/;

export class IsoTimes {
  /** As it is written. */
  #minute: string | undefined;
  /** Epoch milliseconds. */
  #beginsAt = 0;

  /** Epoch milliseconds; NaN of anything but what Date writes in ISO 8601. */
  ms(text: string): number {
    const rest = text.slice(MINUTE);
    if (this.#minute !== undefined && text.startsWith(this.#minute) && REST.test(rest))
      return this.#beginsAt + Math.round(Number(rest.slice(0, -1)) * 1000);
    const ms = Date.parse(text);
    if (Number.isNaN(ms) || new Date(ms).toISOString() !== text) return Number.NaN;
    // Longer where the year has more digits.
    if (REST.test(rest)) {
      this.#minute = text.slice(0, MINUTE);
      this.#beginsAt = Math.floor(ms / MINUTE_MS) * MINUTE_MS;
    }
    return ms;
  }
}
