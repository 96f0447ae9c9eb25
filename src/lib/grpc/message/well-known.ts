// Well-known types, which have a JSON of their own: what their fields were read as becomes what they stand for.
import { fromBinary, toJson, type DescMessage } from '@bufbuild/protobuf';
import { DurationSchema, FieldMaskSchema, TimestampSchema } from '@bufbuild/protobuf/wkt';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { emptyOf } from './scalar-json.ts';
import { MessageError } from './message-error.ts';

export const WKT = 'google.protobuf.';

/** Those that are one text. */
export const TEXTS: ReadonlyMap<string, DescMessage> = new Map<string, DescMessage>(
  [TimestampSchema, DurationSchema, FieldMaskSchema].map((schema) => [schema.typeName, schema]),
);

const WRAPPED = /^google\.protobuf\.(?:Double|Float|U?Int(?:64|32)|Bool|String|Bytes)Value$/;
const UNWRAPPED = new Set(['Struct', 'ListValue', 'Value'].map((name) => WKT + name));

export function isWrapper({ typeName }: DescMessage): boolean {
  return WRAPPED.test(typeName);
}

/** What of its own fields is not seen in its JSON. */
export function isUnwrapped({ typeName }: DescMessage): boolean {
  return UNWRAPPED.has(typeName);
}

/** Any of them but Any and those that are a text. `members`: its fields, as those of any message. */
export function wellKnown(desc: DescMessage, members: JsonObject): JsonValue {
  if (desc.typeName === `${WKT}Struct`) return members['fields'] ?? {};
  if (desc.typeName === `${WKT}ListValue`) return members['values'] ?? [];
  if (desc.typeName === `${WKT}Value`) return Object.values(members)[0] ?? null;
  if (!isWrapper(desc)) return members;
  return members['value'] ?? emptyOf(desc.fields[0]?.scalar);
}

/** A FieldMask has the longest: the library takes 20 ms for one of this size. */
const MOST_TEXT_BYTES = 1 << 16;

export function textOf(schema: DescMessage, bytes: Uint8Array): JsonValue {
  if (bytes.length > MOST_TEXT_BYTES)
    throw new MessageError(
      'TOO_MANY_VALUES',
      `The answer holds a ${schema.typeName} of more than ${MOST_TEXT_BYTES} bytes.`,
    );
  try {
    return toJson(schema, fromBinary(schema, bytes));
  } catch (cause) {
    throw new MessageError('INVALID', `The message holds a ${schema.typeName} that is none.`, { cause });
  }
}
