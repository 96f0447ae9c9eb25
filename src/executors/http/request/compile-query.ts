// The query of a request: fixed names, values from arguments; lists and objects as OpenAPI writes them; what was left
// out is left out.
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import { soleName } from '../../../lib/text/template.ts';
import { compileText, inQuery, isAbsent, refuse, type Violation } from './argument-text.ts';
import { remainingArguments } from './compile-body.ts';
import type { QueryArgument, QueryValue } from '../options-schema.ts';
import { requestTemplate } from './agent-values.ts';

type WritePairs = (args: JsonObject, pairs: string[], violations: Violation[]) => void;
type Query = 'remaining' | { readonly [name: string]: QueryValue };

/** Between the items of a list that is one pair. Inside items they are encoded, and so cannot be mistaken. */
const SEPARATORS = { form: ',', spaceDelimited: '%20', pipeDelimited: '|', deepObject: ',' } as const;

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
  return Object.entries(query).map(([name, value]) => pairsOf(name, value, reserved));
}

function pairsOf(name: string, value: QueryValue, reserved: ReadonlySet<string>): WritePairs {
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
  const { from, style = 'form', explode = style === 'form' } = said;
  const encoded = encodeURIComponent(name);
  return (args, pairs, violations) => {
    const value = args[from];
    if (isAbsent(value)) return;
    const text = (item: JsonValue): string => inQuery(item, from, violations);
    if (Array.isArray(value)) {
      if (explode) pairs.push(...value.map((item) => `${encoded}=${text(item)}`));
      else if (value.length > 0) pairs.push(`${encoded}=${value.map(text).join(SEPARATORS[style])}`);
      return;
    }
    // Only who says how an object is to be written gets one written.
    if (!isJsonObject(value) || said.style === undefined) {
      pairs.push(`${encoded}=${text(value)}`);
      return;
    }
    const members = Object.entries(value)
      .filter(([, item]) => !isAbsent(item))
      .map(([key, item]) => ({ key, name: text(key), value: text(item) }));
    if (style === 'deepObject') {
      pairs.push(...members.map((member) => `${encoded}[${member.name}]=${member.value}`));
    } else if (!explode) {
      const flat = members.flatMap((member) => [member.name, member.value]);
      if (flat.length > 0) pairs.push(`${encoded}=${flat.join(SEPARATORS[style])}`);
    } else {
      for (const member of members) {
        if (reserved.has(member.key)) {
          refuse(violations, from, `must not hold "${member.key}", which is a query parameter of its own`);
        } else pairs.push(`${member.name}=${member.value}`);
      }
    }
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
