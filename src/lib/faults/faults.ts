// Faults: what is wrong at a path of a declaration or of the settings, and how a schema's refusal becomes a sentence for its writer.
import type { z } from 'zod';
import { didYouMean } from '../text/did-you-mean.ts';
import { keysAt } from './schema-keys.ts';

export type Path = readonly (string | number)[];

export interface Fault {
  readonly path: Path;
  readonly message: string;
  /** The key itself is wrong, not its value. */
  readonly isKey?: boolean;
}

export interface Parsed {
  readonly schema: z.core.$ZodType;
  readonly value: unknown;
  /** Where the value stands in its declaration. */
  readonly base?: Path;
  /** Where what was found may be a secret: its kind is told, and no more. */
  readonly isSecret?: (path: Path, found: unknown) => boolean;
}

/** Of one declaration: who wrote thousands of wrong keys mends the first, and sees the next. */
export const MOST_FAULTS = 100;

export function faultsOf(error: z.core.$ZodError, parsed: Parsed): readonly Fault[] {
  return error.issues.slice(0, MOST_FAULTS).flatMap((issue) => faultsOfIssue(issue, parsed));
}

type Issue = z.core.$ZodIssue;

function faultsOfIssue(issue: Issue, parsed: Parsed): readonly Fault[] {
  const inner = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
  const path = [...(parsed.base ?? []), ...inner];
  const found = valueAt(parsed.value, inner);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .slice(0, MOST_FAULTS)
      .map((key) => unknownKey([...path, key], key, keysAt(parsed.schema, inner)));
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const branch = likeliest(issue.errors);
    if (branch.some((nested) => nested.path.length > 0)) {
      return branch.flatMap((nested) =>
        faultsOfIssue({ ...nested, path: [...inner, ...nested.path] }, parsed),
      );
    }
  }
  // What is wrong with a name stands inside.
  const [name] = issue.code === 'invalid_key' ? issue.issues : [];
  if (name !== undefined)
    return [{ path, isKey: true, message: hasOwnWords(name) ? name.message : expectedBy(name) }];
  const own = hasOwnWords(issue);
  const expected = own ? issue.message : expectedBy(issue);
  if (found === undefined && issue.code !== 'custom') return [{ path, message: `is required: ${expected}` }];
  const isOpen = !own || (/^expected (?!.*found)/.test(expected) && !expected.endsWith('.'));
  const rest = isOpen ? `, ${foundText(found, parsed.isSecret?.(inner, found))}${hintFor(issue, found)}` : '';
  return [{ path, message: expected + rest }];
}

export function unknownKey(path: Path, key: string, known: readonly string[]): Fault {
  const near = didYouMean(key, known);
  const hint =
    near === undefined
      ? known.length > 0
        ? `; known: ${known.join(', ')}`
        : ''
      : `; did you mean "${near}"?`;
  return { path, isKey: true, message: `unknown key "${key}"${hint}` };
}

/** The message was written for this schema, not by zod for all. */
function hasOwnWords({ code, message }: Issue): boolean {
  return code === 'custom' || !/^(?:Invalid|Too (?:big|small):|Unrecognized) ?/.test(message);
}

function expectedBy(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${KINDS[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `expected ${anyOf(issue.values.map((value) => JSON.stringify(value)))}`;
    case 'invalid_union':
      return `expected ${anyOf(wordsOfUnion(issue))}`;
    case 'too_small':
      return `expected ${boundText(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)}`;
    case 'too_big':
      return `expected ${boundText(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)}`;
    case 'invalid_format':
      return `expected ${issue.format === 'regex' ? `text that matches ${issue.pattern}` : `a valid ${issue.format}`}`;
    case 'not_multiple_of':
      return `expected a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      break;
  }
  return issue.message;
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  object: 'a map',
  record: 'a map',
  array: 'a list',
  null: 'null',
};

function wordsOfUnion(issue: Issue & { readonly code: 'invalid_union' }): readonly string[] {
  if (issue.errors.length === 0)
    return (issue as { options?: readonly unknown[] }).options?.map((one) => JSON.stringify(one)) ?? [];
  const words = issue.errors.flatMap((branch) =>
    branch.map((nested) => expectedBy(nested).replace(/^expected /, '')),
  );
  return [...new Set(words)];
}

/** Of a union's refusals, the one that got furthest into the value: the form its writer most likely meant. */
function likeliest(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const depth = (branch: readonly Issue[]) =>
    Math.min(...branch.map((issue) => issue.path.length + (issue.code === 'unrecognized_keys' ? 1 : 0)));
  return branches.toSorted((a, b) => depth(b) - depth(a) || a.length - b.length)[0] ?? [];
}

function boundText(origin: string, relation: string, bound: number | bigint): string {
  if (origin === 'string') return `${relation} ${bound} ${bound === 1 ? 'character' : 'characters'}`;
  if (origin === 'array' || origin === 'set') return `${relation} ${bound} ${bound === 1 ? 'item' : 'items'}`;
  return `${relation} ${bound}`;
}

function anyOf(words: readonly string[]): string {
  return words.length < 2
    ? (words[0] ?? 'something else')
    : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

function hintFor(issue: Issue, found: unknown): string {
  if (issue.code !== 'invalid_value' || typeof found !== 'string') return '';
  const near = didYouMean(
    found,
    issue.values.filter((value) => typeof value === 'string'),
  );
  return near === undefined ? '' : `; did you mean "${near}"?`;
}

const LONGEST_SHOWN = 60;

export function foundText(value: unknown, isSecret = false): string {
  if (Array.isArray(value)) return 'found a list';
  if (value === null) return 'found nothing (null)';
  if (typeof value === 'object') return 'found a map';
  if (isSecret) return `found a ${typeof value}`;
  const text = JSON.stringify(value) ?? 'nothing';
  return `found ${text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text}`;
}

function valueAt(value: unknown, path: Path): unknown {
  let at: unknown = value;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Record<string | number, unknown>)[step];
  }
  return at;
}
