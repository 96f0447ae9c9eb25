// Property names that some model provider refuses, and what it is shown instead. Callers may use either.
import { childPointer, fromPointer } from '../json/json-pointer.ts';
import { assignSpellings } from '../text/spellings.ts';
import { placesOf, type Place } from './value-places.ts';

type Members = { readonly [name: string]: unknown };

/** What every provider takes: Gemini is the strictest. */
const ACCEPTED_BY_ALL = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/**
 * The names of the schema's properties that some provider refuses, each with the spelling that every one takes. One spelling
 * stands for one name in the whole schema: `X-Request-Id` is `X_Request_Id`, `filter[name]` is `filter_name_`, with a hash
 * behind where that is taken or too long. Most schemas have none.
 */
export function propertySpellings(schema: object): ReadonlyMap<string, string> {
  const names = new Set<string>();
  collect(schema, names);
  const refused = [...names].filter((name) => !ACCEPTED_BY_ALL.test(name));
  if (refused.length === 0) return NONE;
  const spellings = assignSpellings([...names], {
    accepted: ACCEPTED_BY_ALL,
    write: (name) => name.replaceAll(/[^A-Za-z0-9_]/g, '_'),
    // Letters of other alphabets would all be written alike.
    isReadable: (name) => /[A-Za-z0-9]/.test(name) && /^[\x21-\x7e]*$/.test(name),
  });
  return new Map(refused.map((name) => [name, spellings.get(name) ?? name]));
}

const NONE: ReadonlyMap<string, string> = new Map();

/** Wherever the word `properties` has an object: a name too many does no harm. */
function collect(value: unknown, names: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value as Members)) {
    if (key === 'properties' && isMembers(inner)) for (const name of Object.keys(inner)) names.add(name);
    collect(inner, names);
  }
}

export interface NamedArguments {
  readonly args: { readonly [name: string]: unknown };
  /** Of a pointer into the arguments as they came. */
  readonly pointer: (asCame: string) => string;
}

/** Gives arguments the names that the schema declares. */
export type OwnNames = (args: Members) => NamedArguments;

/** The schema must have passed lintSchema. Undefined: every name of it is accepted everywhere. */
export function ownNamesOf(schema: object): OwnNames | undefined {
  const spellings = propertySpellings(schema);
  if (spellings.size === 0) return undefined;
  const start = placesOf(schema, {
    counts: ({ properties }) =>
      isMembers(properties) && Object.keys(properties).some((n) => spellings.has(n)),
    mark: (schemas) => namesBySpelling(schemas, spellings),
  });
  if (start === undefined) return undefined;
  return (args) => ({ args: renamed(args, start) as Members, pointer: (at) => pointerOf(at, args, start) });
}

type Names = ReadonlyMap<string, string>;

/** Those that are declared at one place: elsewhere the same word may be a name of the caller's own. */
function namesBySpelling(schemas: readonly Members[], spellings: Names): Names {
  const names = new Map<string, string>();
  for (const { properties } of schemas) {
    for (const name of isMembers(properties) ? Object.keys(properties) : []) {
      const spelling = spellings.get(name);
      if (spelling !== undefined) names.set(spelling, name);
    }
  }
  return names;
}

/** The same value where nothing in it has another name. */
function renamed(value: unknown, place: Place<Names> | undefined): unknown {
  if (place === undefined || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => renamed(item, place.item(index)));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  let isSame = true;
  const entries = Object.entries(value).map(([key, member]: [string, unknown]) => {
    const name = ownName(key, value, place);
    const inner = renamed(member, place.member(name));
    isSame &&= name === key && inner === member;
    return [name, inner] as const;
  });
  return isSame ? value : Object.fromEntries(entries);
}

/** Under both names at once, it is left as it came. */
function ownName(key: string, members: object, { mark }: Place<Names>): string {
  const name = mark.get(key);
  return name === undefined || Object.hasOwn(members, name) ? key : name;
}

function pointerOf(asCame: string, root: unknown, start: Place<Names>): string {
  let pointer = '';
  let value = root;
  let place: Place<Names> | undefined = start;
  for (const step of fromPointer(asCame)) {
    const isList = Array.isArray(value);
    const name: string =
      place === undefined || isList || !isMembers(value) ? step : ownName(step, value, place);
    pointer = childPointer(pointer, name);
    value = typeof value === 'object' && value !== null ? (value as Members)[step] : undefined;
    place = isList ? place?.item(Number(step)) : place?.member(name);
  }
  return pointer;
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
