// Objects of the gateway as their shapes have them on the wire: each field is the property of its name in camelCase.
import type { z } from 'zod';
import { camelCase, type CamelCase } from '../../../lib/settings/camel-keys.ts';
import type { Shape, WireOf } from './shapes.ts';

/** A time may still be a Date. */
type Unwritten<Value> = string extends Value ? Value | Date : Value;
type Unwired<Of extends Shape> = {
  readonly [Field in keyof WireOf<Of> as CamelCase<Field & string>]: Unwritten<WireOf<Of>[Field]>;
};

/** Each field with the property that it is taken from. */
const fields = new WeakMap<z.ZodObject, readonly (readonly [field: string, property: string])[]>();

/** What the shape does not name stays inside. */
export function wire<Of extends Shape<z.ZodObject>>(of: Of, object: Unwired<Of>): WireOf<Of> {
  const values = object as { readonly [property: string]: unknown };
  const written: { [field: string]: unknown } = {};
  for (const [field, property] of fieldsOf(of())) {
    const value = values[property];
    if (value !== undefined) written[field] = value instanceof Date ? value.toISOString() : value;
  }
  return written as WireOf<Of>;
}

function fieldsOf(schema: z.ZodObject) {
  let known = fields.get(schema);
  if (known === undefined) {
    known = Object.keys(schema.shape).map((field) => [field, camelCase(field)] as const);
    fields.set(schema, known);
  }
  return known;
}
