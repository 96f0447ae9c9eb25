// The types that an expression is checked with, and what a JSON Schema says of a value in their words.

export type CelKind = 'int' | 'double' | 'string' | 'bool' | 'null' | 'list' | 'map' | 'dyn';

/** A type as the check asks for it: parts are made when they are looked at, since a schema may hold itself. */
export interface CelType {
  readonly kind: CelKind;
  /** Of a list; dyn where nothing is known. */
  item?(): CelType;
  /** Of a map. Undefined: it can have no such field. */
  field?(name: string): CelType | undefined;
  /** The fields that are known of a map, for "did you mean". */
  readonly names?: readonly string[];
}

export const DYN: CelType = { kind: 'dyn' };
export const BOOL: CelType = { kind: 'bool' };
export const INT: CelType = { kind: 'int' };
export const DOUBLE: CelType = { kind: 'double' };
export const STRING: CelType = { kind: 'string' };
export const NULL: CelType = { kind: 'null' };

export function listOf(item: CelType): CelType {
  return { kind: 'list', item: () => item };
}

export function mapOf(fields: Readonly<Record<string, CelType>>): CelType {
  return {
    kind: 'map',
    names: Object.keys(fields),
    field: (name) => (Object.hasOwn(fields, name) ? fields[name] : undefined),
  };
}
