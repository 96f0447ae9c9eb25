// The path of an operation as it is sent. Some documents tell operations of one path apart by a fragment, which is never sent, or by
// a query, which always is.
import { shown, Unusable } from './unusable.ts';

export interface SentPath {
  readonly path: string;
  /** Parameters that are part of the path as written: names and templates of values. */
  readonly query: readonly (readonly [name: string, value: string])[];
}

/** Throws Unusable for a query that cannot be read. */
export function sentPath(written: string): SentPath {
  const [whole = ''] = written.split('#', 1);
  const [path = '', ...rest] = whole.split('?');
  const query = rest
    .join('?')
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', ...value] = pair.split('=');
      try {
        return [decodeURIComponent(name), decodeURIComponent(value.join('='))] as const;
      } catch {
        throw new Unusable(`has a path that is not sent as written: ${shown(written)}`);
      }
    });
  if (query.some(([name]) => /[{}]/.test(name)))
    throw new Unusable(`has a path that is not sent as written: ${shown(written)}`);
  return { path, query };
}

/** Names in braces, in order. */
export function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name);
}

/** Arguments aside, nothing in it may be resolved away, or end it early. `names`: argument by the name in braces. */
export function pathTemplate(
  written: string,
  base: string | undefined,
  names: ReadonlyMap<string, string>,
): string {
  const { path } = sentPath(written);
  const sample = path.replaceAll(/\{[^{}]*\}/g, 'x');
  const whole = (base ?? 'http://upstream.invalid') + sample;
  const url = URL.parse(whole);
  const isNormal = url !== null && url.origin + url.pathname === whole && !/%(?![0-9A-Fa-f]{2})/.test(whole);
  if (!isNormal || /[{}]/.test(sample))
    throw new Unusable(`has a path that is not sent as written: ${shown(written)}`);
  return filledNames(path, names);
}

export function filledNames(text: string, names: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\{([^{}]*)\}/g, (_written, name: string) => `{${names.get(name) ?? ''}}`);
}
