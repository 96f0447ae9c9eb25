// BoundedFields: what stands in a message of an upstream that nobody vouches for, one level of it, at a bounded price.
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** Of one answer, with what it holds: a few milliseconds. A byte or two make a field, whatever an answer weighs. */
const MOST_FIELDS = 100_000;

/** There are too many, or it is no message. */
export class FieldsError extends Error {}

export class BoundedFields {
  #left = MOST_FIELDS;

  /** Those of this number that have a length, in their order. Throws FieldsError. */
  bytes(message: Uint8Array, wanted: number): readonly Uint8Array[] {
    const found: Uint8Array[] = [];
    this.#each(message, (number, type, reader) => {
      if (number !== wanted || type !== WireType.LengthDelimited) return false;
      found.push(reader.bytes());
      return true;
    });
    return found;
  }

  texts(message: Uint8Array, wanted: number): readonly string[] {
    return this.bytes(message, wanted).map((bytes) => Buffer.from(bytes).toString('utf8'));
  }

  text(message: Uint8Array, wanted: number): string {
    return this.texts(message, wanted)[0] ?? '';
  }

  /** 0 where there is none. */
  number(message: Uint8Array, wanted: number): number {
    let found = 0;
    this.#each(message, (number, type, reader) => {
      if (number !== wanted || type !== WireType.Varint) return false;
      found = reader.int32();
      return true;
    });
    return found;
  }

  /** `take` gives false where it has read nothing. */
  #each(message: Uint8Array, take: (number: number, type: WireType, reader: BinaryReader) => boolean): void {
    try {
      const reader = new BinaryReader(message);
      while (reader.pos < reader.len) {
        this.#left -= 1;
        if (this.#left < 0) throw new FieldsError(`it holds more than ${MOST_FIELDS} fields`);
        const [number, type] = reader.tag();
        if (take(number, type, reader)) continue;
        // What is in a group is not counted.
        if (type === WireType.StartGroup) throw new FieldsError('it holds a group');
        reader.skip(type, number);
      }
    } catch (cause) {
      if (cause instanceof FieldsError) throw cause;
      throw new FieldsError('it is no message', { cause });
    }
  }
}
