// ProviderCall: a call as a model asked for it, in its provider's own form, found in what came; nothing in it is checked yet.
import type { JsonObject, JsonValue } from '../contract/json.ts';

export interface ProviderCall {
  readonly name: Part;
  /** An object, or an object written as JSON text. */
  readonly arguments: Part;
  /** The provider's own id of the call, by which the answer is matched to it. Not every provider gives one. */
  readonly id: Part;
}

export interface Part {
  /** Undefined: it is not there. */
  readonly value: JsonValue | undefined;
  /** JSON Pointer to where it stands, or would. */
  readonly pointer: string;
}

/** Undefined: `said` is no call of this provider. */
export type ProviderCallReader = (said: JsonObject) => ProviderCall | undefined;

/** `at`: pointer to the object that holds it. */
export function partOf(holder: JsonObject, member: string, at = ''): Part {
  return { value: holder[member], pointer: `${at}/${member}` };
}
