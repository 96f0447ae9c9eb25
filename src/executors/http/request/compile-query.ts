// The query of a request: fixed names, values from arguments; lists and objects as OpenAPI writes them; what was left
// out is left out.
import type { JsonObject } from '../../../contract/json.ts';
import { soleName } from '../../../lib/text/template.ts';
import { compileText, inQuery, isAbsent, refuse, type Violation } from './argument-text.ts';
import { remainingArguments } from './compile-body.ts';
import { writePairs } from './value-pairs.ts';
import type { QueryArgument, QueryValue } from '../options-schema.ts';
import { requestTemplate } from './agent-values.ts';

type WritePairs = (args: JsonObject, pairs: string[], violations: Violation[]) => void;
type Query = 'remaining' | { readonly [name: string]: QueryValue };

/**
 * Gives the query with its `?`, or an empty text. `owned` are names that the connection sets: no argument, whatever
 * it holds, can add a second one.
 */
export function compileQuery(
  query: Query,
  used: ReadonlySet<string>,
  owned: ReadonlySet<string>,
): (args: JsonObject, violations: Violation[]) => string {
  const writers = query === 'remaining' ? [remainingPairs(used, owned)] : declaredPairs(query, owned);
  return (args, violations) => {
    const pairs: string[] = [];
    for (const write of writers) write(args, pairs, violations);
    return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
  };
}

function declaredPairs(
  query: { readonly [name: string]: QueryValue },
  owned: ReadonlySet<string>,
): readonly WritePairs[] {
  const taken = Object.keys(query).find((name) => owned.has(name));
  if (taken !== undefined) throw new Error(`query.${taken}: the connection sets this parameter already.`);
  const reserved = new Set([...owned, ...Object.keys(query)]);
  return Object.entries(query).map(([name, value]) => pairWriter(name, value, reserved));
}

/** Writes one parameter: a template, or an argument in a style. `reserved`: names that no member of an object may take. */
export function pairWriter(name: string, value: QueryValue, reserved: ReadonlySet<string>): WritePairs {
  if (typeof value === 'object') return argumentPairs(name, value, reserved);
  const template = requestTemplate(String(value));
  const argument = soleName(template);
  if (argument !== undefined) return argumentPairs(name, { from: argument }, reserved);
  const fill = compileText(template, inQuery, encodeURIComponent);
  const encoded = encodeURIComponent(name);
  return (args, pairs, violations) => {
    const text = fill(args, violations);
    if (text !== undefined) pairs.push(`${encoded}=${text}`);
  };
}

function argumentPairs(name: string, said: QueryArgument, reserved: ReadonlySet<string>): WritePairs {
  const { from: argument } = said;
  const place = { name: encodeURIComponent(name), argument, reserved };
  return (args, pairs, violations) => {
    const value = args[argument];
    if (!isAbsent(value)) writePairs(place, value, said, pairs, violations);
  };
}

function remainingPairs(used: ReadonlySet<string>, owned: ReadonlySet<string>): WritePairs {
  return (args, pairs, violations) => {
    for (const [argument, value] of Object.entries(remainingArguments(args, used))) {
      if (isAbsent(value)) continue;
      if (owned.has(argument)) {
        refuse(violations, argument, 'is a query parameter that cannot be given');
        continue;
      }
      const name = inQuery(argument, argument, violations);
      for (const item of Array.isArray(value) ? value : [value]) {
        pairs.push(`${name}=${inQuery(item, argument, violations)}`);
      }
    }
  };
}
