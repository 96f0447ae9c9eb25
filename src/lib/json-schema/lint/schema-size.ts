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

/** How many values there are, the members of all objects and arrays among them, counted no further than just above `enough`. */
export function countTokens(value: unknown, enough: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  // Nearly all arguments are flat: they are counted without a list of what waits.
  let waiting: object[] | undefined;
  for (let current: object | undefined = value; current !== undefined; current = waiting?.pop()) {
    if (Array.isArray(current)) {
      for (const member of current as readonly unknown[]) {
        count += 1;
        if (count > enough) return count;
        if (typeof member === 'object' && member !== null) (waiting ??= []).push(member);
      }
    } else {
      for (const name in current) {
        const member = (current as { readonly [name: string]: unknown })[name];
        count += 1;
        if (count > enough) return count;
        if (typeof member === 'object' && member !== null) (waiting ??= []).push(member);
      }
    }
  }
  return count;
}
