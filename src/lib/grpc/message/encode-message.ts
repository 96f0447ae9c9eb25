// From JSON to a message on the wire, as the proto3 mapping has it.
import { fromJson, toBinary, type DescMessage, type Registry } from '@bufbuild/protobuf';
import type { JsonValue } from '../../json/json-value.ts';
import { MessageError } from './message-error.ts';

const MOST_REASON_CHARS = 300;

/** Throws MessageError, which names the field and what was expected. */
export function encodeMessage(desc: DescMessage, value: JsonValue, types: Registry): Uint8Array {
  try {
    return toBinary(desc, fromJson(desc, value, { registry: types }));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new MessageError(
      'INVALID',
      `The arguments are no ${desc.typeName}: ${reason.slice(0, MOST_REASON_CHARS)}.`,
      { cause },
    );
  }
}
