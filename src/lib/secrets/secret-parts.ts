// What of a secret comes back without the rest of it: of a URL its password, its path and the values of its query.

const MIN_PATH = 8;
/** A shorter segment may be a word, which belongs in answers. */
const MIN_SEGMENT = 16;

/** The secret itself first. */
export function secretParts(secret: string): readonly string[] {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(secret) ? URL.parse(secret) : null;
  if (url === null) return [secret];
  const path = url.pathname + url.search;
  const segments = url.pathname.split('/').filter((segment) => segment.length >= MIN_SEGMENT);
  const parts = [url.password, ...url.searchParams.values(), ...segments, path.length < MIN_PATH ? '' : path];
  return [secret, ...new Set(parts.flatMap((part) => [part, decoded(part)]).filter((part) => part !== ''))];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
