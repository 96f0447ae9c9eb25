// The operations of a document, and which of them an entry of gateway.yaml asks for.
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import { didYouMean } from '../../../lib/text/did-you-mean.ts';
import type { OpenApiOptions } from '../options.ts';
import { dereference } from './references.ts';
import { below, shown, Unusable, type Place } from '../unusable.ts';

const OPENAPI_METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;

export interface Operation {
  readonly method: string;
  readonly path: string;
  /** As written; undefined where there is none. */
  readonly id: string | undefined;
  readonly place: Place | undefined;
  readonly tags: readonly string[];
  readonly value: JsonObject;
  /** What stands beside the methods: parameters and servers of all of them. */
  readonly item: JsonObject;
}

/** An operation, or a path, that cannot be read at all. */
export interface Unreadable {
  readonly label: string;
  readonly place: Place | undefined;
  readonly reason: string;
}

export function listOperations(root: JsonObject): { operations: Operation[]; unreadable: Unreadable[] } {
  const operations: Operation[] = [];
  const unreadable: Unreadable[] = [];
  const paths = isJsonObject(root['paths']) ? root['paths'] : {};
  for (const [path, written] of Object.entries(paths)) {
    if (!path.startsWith('/')) continue;
    const place = below(undefined, 'paths', path);
    try {
      operations.push(...operationsOf(root, path, written, place));
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      unreadable.push({ label: shown(path), place, reason: error.message });
    }
  }
  return { operations, unreadable };
}

function operationsOf(
  root: JsonObject,
  path: string,
  written: JsonValue,
  at: Place | undefined,
): readonly Operation[] {
  const { value: item, place } = dereference(root, { value: written, place: at });
  return OPENAPI_METHODS.flatMap((method) => {
    const value = item[method];
    if (!isJsonObject(value)) return [];
    const { operationId: id, tags } = value;
    return [
      {
        method: method.toUpperCase(),
        path,
        id: typeof id === 'string' && id !== '' ? id : undefined,
        place: below(place, method),
        tags: Array.isArray(tags)
          ? tags.filter((tag) => typeof tag === 'string' && /\S/.test(tag)).map(String)
          : [],
        value,
        item,
      },
    ];
  });
}

export interface Wanted {
  readonly operations: readonly Operation[];
  /** Words of the options that name nothing in the document: mistakes, most likely. */
  readonly problems: readonly string[];
}

export function wantedOperations(operations: readonly Operation[], options: OpenApiOptions): Wanted {
  const { tags, operations: names, methods, path_prefix: prefix } = options;
  const keep = (list: readonly string[] | undefined, of: readonly string[]): boolean =>
    list === undefined || of.some((word) => list.includes(word));
  return {
    operations: operations.filter(
      (operation) =>
        keep(tags, operation.tags) &&
        keep(names, namesOf(operation)) &&
        keep(methods, [operation.method]) &&
        (prefix === undefined || operation.path.startsWith(prefix)),
    ),
    problems: [
      ...unmatched('tags', tags, [...new Set(operations.flatMap((operation) => operation.tags))]),
      ...unmatched('operations', names, operations.flatMap(namesOf)),
    ],
  };
}

/** What an entry of gateway.yaml may call it. */
export function namesOf({ id, method, path }: Operation): readonly string[] {
  return [...(id === undefined ? [] : [id]), `${method} ${path}`];
}

function unmatched(
  option: string,
  words: readonly string[] = [],
  known: readonly string[],
): readonly string[] {
  return words
    .filter((word) => !known.includes(word))
    .map((word) => {
      const near = didYouMean(word, known);
      const hint = near === undefined ? '' : `; did you mean ${shown(near)}?`;
      return `the option ${option} names ${shown(word)}, which the document does not have${hint}`;
    });
}
