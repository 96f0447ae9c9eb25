// Globs over names: `*` stands for any characters, `?` for one.

export type GlobMatcher = (name: string) => boolean;

/** True for a name that one of the patterns is. */
export function globMatcher(patterns: readonly string[]): GlobMatcher {
  return (name) => patterns.some((pattern) => matches(pattern, name));
}

/** Goes back only to the last star, so that no pattern takes more than its length times the name's. */
function matches(pattern: string, name: string): boolean {
  let p = 0;
  let n = 0;
  let star = -1;
  let tried = 0;
  while (n < name.length) {
    if (pattern[p] === '*') {
      star = p;
      tried = n;
      p += 1;
    } else if (pattern[p] === '?' || pattern[p] === name[n]) {
      p += 1;
      n += 1;
    } else if (star >= 0) {
      tried += 1;
      p = star + 1;
      n = tried;
    } else return false;
  }
  while (pattern[p] === '*') p += 1;
  return p === pattern.length;
}
