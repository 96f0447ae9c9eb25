// The size of what claims to be a schema, taken without recursion and given up at the first limit passed.

export interface SizeLimits {
  readonly bytes: number;
  readonly depth: number;
}

/**
 * What is too large about a JSON value, if anything. References to one object count each time, as they would
 * in text: YAML aliases can make a value that is small in memory and endless on paper.
 */
export function excessOf(value: unknown, { bytes, depth }: SizeLimits): string | undefined {
  const waiting: { readonly value: unknown; readonly level: number }[] = [{ value, level: 0 }];
  let units = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value: current, level } = next;
    units += typeof current === 'string' ? current.length + 2 : 1;
    if (typeof current === 'object' && current !== null) {
      if (level === depth) return `is nested deeper than ${depth} levels`;
      const isArray = Array.isArray(current);
      for (const [key, member] of Object.entries(current)) {
        units += isArray ? 1 : key.length + 4;
        waiting.push({ value: member, level: level + 1 });
        if (units > bytes) break;
      }
    }
    if (units > bytes) return `is larger than ${bytes / 1024} KiB`;
  }
  return Buffer.byteLength(JSON.stringify(value)) > bytes ? `is larger than ${bytes / 1024} KiB` : undefined;
}

/** How many values and keys there are, counted no further than `enough`. */
export function countTokens(value: unknown, enough: number): number {
  const waiting: unknown[] = [value];
  let count = 0;
  while (waiting.length > 0 && count + waiting.length <= enough) {
    const current = waiting.pop();
    count += 1;
    if (typeof current === 'object' && current !== null) {
      for (const key in current) {
        waiting.push((current as { [key: string]: unknown })[key]);
        if (count + waiting.length > enough) break;
      }
    }
  }
  return count + waiting.length;
}
