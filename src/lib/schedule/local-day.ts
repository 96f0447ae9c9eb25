// LocalDay: which day it is in a time zone, and when it ends. Worked out once a day.

export interface NamedDay {
  /** 2026-11-23 */
  readonly name: string;
  /** Epoch milliseconds. */
  readonly endsAt: number;
}

const HOUR_MS = 3_600_000;
/** A clock that is set back may make a day longer by an hour or two. */
const LONGEST_DAY_MS = 27 * HOUR_MS;

export class LocalDay {
  readonly #dates: Intl.DateTimeFormat;
  #known: (NamedDay & { readonly seenAt: number }) | undefined;

  constructor(timeZone: string) {
    this.#dates = new Intl.DateTimeFormat('en-CA', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
  }

  /** `now` in epoch milliseconds. */
  at(now: number): NamedDay {
    const known = this.#known;
    if (known !== undefined && now >= known.seenAt && now < known.endsAt) return known;
    const name = this.#dates.format(now);
    this.#known = { name, endsAt: this.#endOf(name, now), seenAt: now };
    return this.#known;
  }

  /** The first moment of another name: whole seconds, as every change of clocks is. */
  #endOf(name: string, now: number): number {
    let same = Math.floor(now / 1000);
    let other = Math.ceil((now + LONGEST_DAY_MS) / 1000);
    while (other - same > 1) {
      const middle = Math.floor((same + other) / 2);
      if (this.#dates.format(middle * 1000) === name) same = middle;
      else other = middle;
    }
    return other * 1000;
  }
}
