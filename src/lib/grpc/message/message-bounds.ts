// MessageBounds: how much is read of an answer, in all its messages together: values and names, whoever sent it.
import { WireType, type BinaryReader } from '@bufbuild/protobuf/wire';
import { MOST_NAMES, MOST_VALUES } from '../../json/json-bounds.ts';
import { MessageError } from './message-error.ts';

/** Values that are read in one go. */
const SLICE = 500;
/** Levels of messages that are only skipped. */
const MOST_UNKNOWN_LEVELS = 100;

export class MessageBounds {
  readonly #names = new Set<string>();
  #values = 0;
  #pause = SLICE;

  /** True: it is the turn of others. Throws MessageError. */
  count(values = 1): boolean {
    this.#values += values;
    if (this.#values > MOST_VALUES)
      throw new MessageError('TOO_MANY_VALUES', `The answer holds more than ${MOST_VALUES} values.`);
    if (this.#values < this.#pause) return false;
    this.#pause = this.#values + SLICE;
    return true;
  }

  name(text: string): string {
    this.#names.add(text);
    if (this.#names.size > MOST_NAMES)
      throw new MessageError('TOO_MANY_NAMES', `The answer holds more than ${MOST_NAMES} different names.`);
    return text;
  }

  /** Goes over a field that nobody asks for. What is in a group counts like what is read. */
  *skip(reader: BinaryReader, type: WireType, number: number, level = 0): Generator<void, void> {
    if (type !== WireType.StartGroup) {
      reader.skip(type, number);
      return;
    }
    if (level === MOST_UNKNOWN_LEVELS) throw new RangeError('groups are nested too deeply');
    for (;;) {
      const [inner, of] = reader.tag();
      if (of === WireType.EndGroup) {
        if (inner !== number) throw new RangeError('a group ends that has not begun');
        return;
      }
      yield* this.skip(reader, of, inner, level + 1);
      if (this.count()) yield;
    }
  }
}
