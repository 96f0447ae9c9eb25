// ProviderRules: what a model provider takes as tools, by what it publishes. One table each, beside the provider's own files.
import type { JsonValue } from '../contract/json.ts';

export interface ProviderRules {
  /** As people call it. */
  readonly title: string;
  /** When they were last read at their sources; providers change them. */
  readonly asOf: string;
  readonly sources: readonly string[];
  /** Most characters of a tool's description. Left out: none is published. */
  readonly descriptionLength?: number;
  /** The names that a property may have. Left out: any. */
  readonly propertyName?: RegExp;
  readonly schema: SchemaRules;
  /** Left out: it has no strict mode. */
  readonly strict?: StrictRules;
}

/** What a schema below its root may say. The root is one plain object for every provider. */
export interface SchemaRules {
  accepts(keyword: string, value: JsonValue): boolean;
  /**
   * Only some keywords are known, `$ref` stands alone and points at an entry of the root's `$defs`, and a schema is never
   * `true` or `false`.
   */
  readonly isSubset: boolean;
  /** True: an array says what it holds. */
  readonly needsItems?: boolean;
  /** True: a schema is an object, also where `true` and `false` would say it. */
  readonly needsObjects?: boolean;
  /** True: `enum` lists texts, and `type: string` stands beside it. */
  readonly listsTextsOnly?: boolean;
  /** True: `required` names nothing but what `properties` declares. */
  readonly requiresDeclared?: boolean;
  /** True: a schema leads back to itself only through properties that are not required. */
  readonly opensCycles?: boolean;
}

/** Every object is closed. */
export interface StrictRules extends SchemaRules {
  /** Every property is required; absence is said with null. */
  readonly requiresAll: boolean;
  /** A schema may lead back to itself. */
  readonly takesCycles: boolean;
  /** A schema with keywords of one type names that type alone; several types are alternatives. */
  readonly oneType: boolean;
  readonly most: StrictLimits;
  /** Over all strict tools of one request; those beyond are not strict. */
  readonly perRequest?: StrictCost;
}

/** Of one schema. */
export interface StrictLimits {
  readonly properties: number;
  readonly depth: number;
  readonly enumValues: number;
  /** Characters of the texts in one enum of more than `longEnumValues` values. */
  readonly longEnumCharacters: number;
  readonly longEnumValues: number;
  /** Of all names of properties and definitions, and all values of enums. */
  readonly characters: number;
}

export interface StrictCost {
  readonly tools: number;
  readonly optionalProperties: number;
  readonly unions: number;
}

export function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}
