// The header Retry-After: how long an upstream wants to be left alone.

const DAY_MS = 86_400_000;

/** A number of seconds or a date; undefined where it is neither. At most a day. `now`: epoch milliseconds. */
export function retryAfterMsOf(header: string, now: number): number | undefined {
  const text = header.trim();
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), DAY_MS);
}
