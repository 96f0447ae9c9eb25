// Fields of a message: which it has, what they are where they do not come, and their values on the wire. Undefined: a field does
// not stand there as such a field does.
import { ScalarType, type DescField, type DescMessage } from '@bufbuild/protobuf';
import type { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import type { JsonValue } from '../../json/json-value.ts';
import { emptyOf, enumName, readScalar, wireTypeOf } from './scalar-json.ts';

export function single(field: DescField, wireType: WireType, reader: BinaryReader): JsonValue | undefined {
  const type = field.scalar ?? ScalarType.INT32;
  return wireType === wireTypeOf(type) ? one(field, type, reader) : undefined;
}

export function one(field: DescField, type: ScalarType, reader: BinaryReader): JsonValue {
  return field.enum === undefined ? readScalar(reader, type) : enumName(field.enum, reader.int32());
}

/** How long its tag is on the wire. */
export function tagBytes({ number }: DescField): number {
  return Math.ceil((32 - Math.clz32(number) + 3) / 7);
}

const FIELDS = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>();

export function fieldsOf(desc: DescMessage): ReadonlyMap<number, DescField> {
  const known = FIELDS.get(desc);
  if (known !== undefined) return known;
  const made = new Map(desc.fields.map((field) => [field.number, field]));
  FIELDS.set(desc, made);
  return made;
}

const DEFAULTS = new WeakMap<DescMessage, ReadonlyMap<number, JsonValue>>();

/** What is meant where nothing stands on the wire, by number. */
export function defaultsOf(desc: DescMessage): ReadonlyMap<number, JsonValue> {
  const known = DEFAULTS.get(desc);
  if (known !== undefined) return known;
  const made = new Map<number, JsonValue>();
  for (const { fieldKind, presence, number, scalar, enum: values } of desc.fields) {
    if (presence !== FeatureSet_FieldPresence.IMPLICIT) continue;
    if (fieldKind === 'scalar') made.set(number, emptyOf(scalar));
    if (fieldKind === 'enum') made.set(number, enumName(values, 0));
  }
  DEFAULTS.set(desc, made);
  return made;
}
