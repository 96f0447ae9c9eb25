// The query of a request: fixed names, values from arguments; arrays repeat the name, what was left out is left out.
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { parseTemplate, soleName } from '../../lib/template.ts';
import { compileText, inQuery, isAbsent, type Violation } from './argument-text.ts';
import { remainingArguments } from './compile-body.ts';
import type { QueryValue } from './options-schema.ts';

type WritePairs = (args: JsonObject, pairs: string[], violations: Violation[]) => void;

/** Gives the query with its `?`, or an empty text. */
export function compileQuery(
  query: 'remaining' | { readonly [name: string]: QueryValue },
  used: ReadonlySet<string>,
): (args: JsonObject, violations: Violation[]) => string {
  const writers: readonly WritePairs[] =
    query === 'remaining'
      ? [remainingPairs(used)]
      : Object.entries(query).map(([name, value]) => pairsOf(encodeURIComponent(name), value));
  return (args, violations) => {
    const pairs: string[] = [];
    for (const write of writers) write(args, pairs, violations);
    return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
  };
}

function pairsOf(name: string, value: QueryValue): WritePairs {
  if (typeof value === 'object') return argumentPairs(name, value.from);
  const template = parseTemplate(String(value));
  const argument = soleName(template);
  if (argument !== undefined) return argumentPairs(name, argument);
  const fill = compileText(template, inQuery, encodeURIComponent);
  return (args, pairs, violations) => {
    const text = fill(args, violations);
    if (text !== undefined) pairs.push(`${name}=${text}`);
  };
}

function argumentPairs(name: string, argument: string): WritePairs {
  return (args, pairs, violations) => addValue(name, args[argument], argument, pairs, violations);
}

function remainingPairs(used: ReadonlySet<string>): WritePairs {
  return (args, pairs, violations) => {
    for (const [argument, value] of Object.entries(remainingArguments(args, used))) {
      addValue(inQuery(argument, argument, violations), value, argument, pairs, violations);
    }
  };
}

function addValue(
  name: string,
  value: JsonValue | undefined,
  argument: string,
  pairs: string[],
  violations: Violation[],
): void {
  if (isAbsent(value)) return;
  for (const item of Array.isArray(value) ? value : [value]) {
    pairs.push(`${name}=${inQuery(item, argument, violations)}`);
  }
}
