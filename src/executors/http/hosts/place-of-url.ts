// Which listed place a URL is of. Servers differ in how they read a path, so that a path has to lead to the same place in every reading.
import type { RequestBase } from '../request/compile-request.ts';

export interface BelowPlace {
  readonly base: RequestBase;
  /** Of the base, as it is written, and as `readLoosely` gives it. */
  readonly strictPath: string;
  readonly loosePath: string;
}

/**
 * Of places, the longest first, the one that fits; 'unclear' where another reading of the path is of another place, or of none.
 */
export function placeOf<Place extends BelowPlace>(
  url: URL,
  places: readonly Place[],
): Place | 'unclear' | undefined {
  const strict = places.find(({ base, strictPath }) => isBelow(url.pathname, strictPath, url, base));
  if (strict === undefined) return undefined;
  const segments = looseSegments(url.pathname);
  // "/%61dmin/..%2fx" leads to admin where letters are decoded and ".." is not followed, and elsewhere in all other readings.
  if (segments.includes('..')) return 'unclear';
  const path = joined(segments);
  const loose = places
    .filter(({ base, loosePath }) => isBelow(path, loosePath, url, base))
    .map(({ loosePath }) => loosePath)
    .reduce((one, other) => (other.length > one.length ? other : one), '');
  return loose === strict.loosePath ? strict : 'unclear';
}

function isBelow(path: string, basePath: string, url: URL, { url: base }: RequestBase): boolean {
  return (
    url.origin === base.origin && (basePath === '' || path === basePath || path.startsWith(`${basePath}/`))
  );
}

export function pathOf({ pathname }: URL): string {
  return pathname.replace(/\/+$/, '');
}

/** Some proxies decode a path, and the server behind them decodes it again. */
const MOST_DECODED = 3;
const ENCODED_ASCII = /%([0-7][0-9a-f])/gi;

/**
 * As the most lenient server takes it: characters decoded, more than once; "\" for "/"; nothing behind ";"; one "/" for several;
 * small letters for capitals. Without a "/" at its end.
 */
export function readLoosely(pathname: string): string {
  const followed: string[] = [];
  for (const segment of looseSegments(pathname)) {
    if (segment === '..') followed.pop();
    else followed.push(segment);
  }
  return joined(followed);
}

/** None is empty, or a single dot. */
function looseSegments(pathname: string): readonly string[] {
  let text = pathname;
  for (let round = 0; round < MOST_DECODED; round += 1)
    text = text.replaceAll(ENCODED_ASCII, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return text
    .toLowerCase()
    .replaceAll('\\', '/')
    .split('/')
    .map((written) => written.replace(/;.*$/s, ''))
    .filter((segment) => segment !== '' && segment !== '.');
}

function joined(segments: readonly string[]): string {
  return segments.map((segment) => `/${segment}`).join('');
}
