// Name and value pairs of a query, a form or a cookie: lists and objects in OpenAPI's styles, deepObject to any depth.
import { isJsonObject, type JsonValue } from '../../../contract/json.ts';
import { inQuery, isAbsent, refuse, type Violation } from './argument-text.ts';

export interface PairStyle {
  readonly style?: 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject' | 'json' | undefined;
  readonly explode?: boolean | undefined;
  /** How deepObject writes the items of a list: a[0]=, a[]= or a=. */
  readonly lists?: 'indices' | 'brackets' | 'repeat' | undefined;
}

export interface PairPlace {
  /** Encoded. */
  readonly name: string;
  readonly argument: string;
  /** Members of an exploded object may not be called so: they are parameters of their own. */
  readonly reserved: ReadonlySet<string>;
}

/** Between the items of a list that is one pair. Inside items they are encoded, and so cannot be mistaken. */
const SEPARATORS = { form: ',', spaceDelimited: '%20', pipeDelimited: '|' } as const;

/** Whatever the value is. A list or an object inside one that a style has no place for is JSON text. */
export function writePairs(
  { name, argument, reserved }: PairPlace,
  value: JsonValue,
  said: PairStyle,
  pairs: string[],
  violations: Violation[],
): void {
  if (isAbsent(value)) return;
  const { style = 'form', explode = style === 'form' } = said;
  const scalar = (item: JsonValue): string => inQuery(item, argument, violations);
  const text = (item: JsonValue): string =>
    said.style !== undefined && typeof item === 'object' && item !== null && !JSON.isRawJSON(item)
      ? encodeURIComponent(JSON.stringify(item).toWellFormed())
      : scalar(item);
  if (style === 'json') {
    pairs.push(`${name}=${encodeURIComponent(JSON.stringify(value).toWellFormed())}`);
  } else if (style === 'deepObject') {
    writeDeep(name, value, said.lists ?? 'indices', scalar, pairs);
  } else if (Array.isArray(value)) {
    const items = value.filter((item) => !isAbsent(item)).map(text);
    if (explode) pairs.push(...items.map((item) => `${name}=${item}`));
    else if (items.length > 0) pairs.push(`${name}=${items.join(SEPARATORS[style])}`);
  } else if (!isJsonObject(value) || JSON.isRawJSON(value) || said.style === undefined) {
    // Only who says how an object is to be written gets one written.
    pairs.push(`${name}=${scalar(value)}`);
  } else {
    const members = Object.entries(value).filter(([, item]) => !isAbsent(item));
    if (!explode) {
      const flat = members.flatMap(([key, item]) => [text(key), text(item)]);
      if (flat.length > 0) pairs.push(`${name}=${flat.join(SEPARATORS[style])}`);
      return;
    }
    for (const [key, item] of members) {
      if (reserved.has(key))
        refuse(violations, argument, `must not hold "${key}", which is a parameter of its own`);
      else pairs.push(`${text(key)}=${text(item)}`);
    }
  }
}

function writeDeep(
  name: string,
  value: JsonValue,
  lists: 'indices' | 'brackets' | 'repeat',
  text: (item: JsonValue) => string,
  pairs: string[],
): void {
  if (isAbsent(value)) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const step = lists === 'indices' ? `[${index}]` : lists === 'brackets' ? '[]' : '';
      writeDeep(name + step, item, lists, text, pairs);
    }
  } else if (isJsonObject(value) && !JSON.isRawJSON(value)) {
    for (const [key, item] of Object.entries(value))
      writeDeep(`${name}[${text(key)}]`, item, lists, text, pairs);
  } else {
    pairs.push(`${name}=${text(value)}`);
  }
}
