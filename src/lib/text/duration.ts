// Durations as operators write them: 500ms, 10s, 1m, 1h, 1d.

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const LONGEST_MS = 366 * UNITS.d;

/** Whole milliseconds, from 1 to a year; undefined where the text is no such duration. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,12}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(text);
  if (match === null) return undefined;
  const milliseconds = Number(match[1]) * UNITS[match[2] as keyof typeof UNITS];
  return Number.isInteger(milliseconds) && milliseconds >= 1 && milliseconds <= LONGEST_MS
    ? milliseconds
    : undefined;
}
