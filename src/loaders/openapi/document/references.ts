// References: what `$ref` leads to, inside the document and nowhere else. No file is read and no URL is fetched.
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import { fromPointer } from '../../../lib/json/json-pointer.ts';
import { below, pointerOf, shown, Unusable, type Place } from '../unusable.ts';

export interface Found {
  readonly value: JsonValue;
  readonly place: Place | undefined;
}

const MAX_HOPS = 16;

/** Throws Unusable for a reference out of the document, and for one that leads nowhere. */
export function followReference(root: JsonObject, ref: JsonValue | undefined, at: Place | undefined): Found {
  if (typeof ref !== 'string') throw new Unusable(`has a $ref that is no text, at ${pointerOf(at)}`);
  if (!ref.startsWith('#')) {
    const message = `refers to ${shown(ref)} at ${pointerOf(at)}: only references inside the document are followed`;
    throw new Unusable(message);
  }
  const steps = stepsOf(ref);
  let value: JsonValue | undefined = steps && root;
  for (const step of steps ?? []) {
    const inside: JsonValue | undefined = value;
    const isInner: boolean = typeof inside === 'object' && inside !== null && Object.hasOwn(inside, step);
    value = isInner ? (inside as JsonObject)[step] : undefined;
  }
  if (value === undefined)
    throw new Unusable(`refers to ${shown(ref)} at ${pointerOf(at)}, which is not there`);
  return { value, place: below(undefined, ...(steps ?? [])) };
}

/** The object that stands at a place, or that references there lead to. Throws Unusable where there is none. */
export function dereference(root: JsonObject, found: Found): { value: JsonObject; place: Place | undefined } {
  let { value, place } = found;
  for (let hops = 0; hops < MAX_HOPS; hops += 1) {
    if (!isJsonObject(value)) throw new Unusable(`has no object at ${pointerOf(place)}`);
    if (value['$ref'] === undefined) return { value, place };
    ({ value, place } = followReference(root, value['$ref'], place));
  }
  throw new Unusable(`has a chain of references without an end at ${pointerOf(found.place)}`);
}

function stepsOf(ref: string): readonly string[] | undefined {
  if (!ref.startsWith('#/')) return undefined;
  try {
    return fromPointer(ref.slice(1).split('/').map(decodeURIComponent).join('/'));
  } catch {
    return undefined;
  }
}
