// The cookies of a request: fixed names, values from arguments, beside those of the connection.
import type { JsonObject } from '../../../contract/json.ts';
import type { RequestOptions } from '../options-schema.ts';
import { pairWriter } from './compile-query.ts';
import type { Violation } from './argument-text.ts';

/** `connection`: the cookies that the connection sends; no argument can send one of the same name. */
export function compileCookies(
  cookies: NonNullable<RequestOptions['cookies']>,
  connection: string,
): (args: JsonObject, violations: Violation[]) => string {
  const owned = connection.split(';').map((pair) => pair.split('=', 1)[0]?.trim() ?? '');
  const taken = Object.keys(cookies).find((name) => owned.includes(name));
  if (taken !== undefined) throw new Error(`cookies.${taken}: the connection sets this cookie already.`);
  const reserved = new Set([...owned, ...Object.keys(cookies)]);
  const writers = Object.entries(cookies).map(([name, value]) => pairWriter(name, value, reserved));
  return (args, violations) => {
    const pairs: string[] = connection === '' ? [] : [connection];
    for (const write of writers) write(args, pairs, violations);
    return pairs.join('; ');
  };
}
