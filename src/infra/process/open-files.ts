// The limit of open files that this process has, which no child of it can have more of.
import { readFileSync } from 'node:fs';

/** Undefined where the system does not tell, or sets none. */
export function mostOpenFiles(): number | undefined {
  try {
    // Node has made the lower one of the two as high as the other.
    const hard = /^Max open files\s+\d+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return hard === undefined ? undefined : Number(hard);
  } catch {
    return undefined;
  }
}
