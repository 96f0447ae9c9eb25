// What resolv.conf says of short names: which domains they are looked for in, and when a name counts as short.
import { readFile } from 'node:fs/promises';

export interface SearchRules {
  readonly search: readonly string[];
  /** With fewer dots, the search domains come first. */
  readonly ndots: number;
}

const MOST_NDOTS = 15;

export async function readSearchRules(path: string): Promise<SearchRules> {
  return parseSearchRules(await readFile(path, 'utf8').catch(() => ''));
}

/** The last `search` or `domain` holds, as for the C library. */
export function parseSearchRules(text: string): SearchRules {
  let search: readonly string[] = [];
  let ndots = 1;
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    if (keyword === 'search') search = values.map(withoutDot).filter((each) => each !== '');
    if (keyword === 'domain') search = values.slice(0, 1).map(withoutDot);
    if (keyword !== 'options') continue;
    for (const value of values) {
      const [, said] = /^ndots:(\d{1,4})$/.exec(value) ?? [];
      if (said !== undefined) ndots = Math.min(Number(said), MOST_NDOTS);
    }
  }
  return { search, ndots };
}

/** The whole names that a name may stand for, in the order in which they are asked for. */
export function wholeNames(name: string, { search, ndots }: SearchRules): readonly string[] {
  if (name.endsWith('.')) return [withoutDot(name)];
  const below = search.map((domain) => `${name}.${domain}`);
  return name.split('.').length - 1 >= ndots ? [name, ...below] : [...below, name];
}

function withoutDot(name: string): string {
  return name.replace(/\.$/, '');
}
