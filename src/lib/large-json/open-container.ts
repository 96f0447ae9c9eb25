// OpenContainer: an array or object of which only some members were read. Its text is cut at commas; what stands between
// two cuts is parsed as a container of its own, so that JSON.parse judges every character but the commas cut at.
import type { JsonValue } from '../json/json-value.ts';
import { LargeJsonError, notJson } from './limits.ts';

type Parse = (text: string) => JsonValue;
type Members = { [name: string]: JsonValue };

/** JSON's own, and no more: trim() knows others. */
const BLANK = /^[ \t\r\n]*$/;

export class OpenContainer {
  readonly isArray: boolean;
  readonly start: number;
  /** Where its text begins that was not parsed yet. */
  from: number;
  /** The last comma between its own members since `from`, or -1. */
  lastComma = -1;
  readonly #maxNames: number;
  /** What must stand at `from`: a first member or none, the comma behind a member, or a member. */
  #expects: 'anything' | 'comma' | 'member' = 'anything';
  #items: JsonValue[] | undefined;
  #members: Members | undefined;
  #names = 0;
  /** Of the member whose value is being read by itself. */
  #name = '';

  constructor(isArray: boolean, start: number, maxNames: number) {
    this.isArray = isArray;
    this.start = start;
    this.from = start + 1;
    this.#maxNames = maxNames;
  }

  /** True once it is a value of its own; before, it is only text of the container around it. */
  get hasBegun(): boolean {
    return this.#items !== undefined || this.#members !== undefined;
  }

  /** True between a value that was read by itself and what must follow it. */
  get expectsComma(): boolean {
    return this.#expects === 'comma';
  }

  begin(): void {
    if (this.isArray) this.#items = [];
    else this.#members = {};
  }

  /** `text`: from `from` to the last comma. */
  members(text: string, parse: Parse): void {
    if (!BLANK.test(text)) this.#add(text, parse);
    else if (this.#expects !== 'comma') throw notJson();
    this.from = this.lastComma + 1;
    this.lastComma = -1;
    this.#expects = 'member';
  }

  /** `text`: from `from` to where a value begins that is read by itself. */
  open(text: string, parse: Parse): void {
    if (this.#expects === 'comma') throw notJson();
    if (this.isArray) {
      if (!BLANK.test(text)) throw notJson();
      return;
    }
    const colon = text.lastIndexOf(':');
    const name = colon < 0 || !BLANK.test(text.slice(colon + 1)) ? null : parse(text.slice(0, colon));
    if (typeof name !== 'string') throw notJson();
    this.#name = name;
  }

  /** The value that was read by itself; it ends before `end`. */
  take(value: JsonValue, end: number): void {
    if (this.isArray) this.#items?.push(value);
    else this.#set(this.#name, value);
    this.from = end;
    this.#expects = 'comma';
  }

  /** `text`: what is left, up to the closing bracket. */
  end(text: string, parse: Parse): JsonValue {
    if (!BLANK.test(text)) this.#add(text, parse);
    else if (this.#expects === 'member') throw notJson();
    return (this.#items ?? this.#members) as JsonValue;
  }

  #add(text: string, parse: Parse): void {
    if (this.#expects === 'comma') throw notJson();
    if (this.isArray) {
      for (const item of parse(`[${text}]`) as JsonValue[]) this.#items?.push(item);
      return;
    }
    const read = parse(`{${text}}`) as Members;
    for (const name of Object.keys(read)) this.#set(name, read[name] as JsonValue);
  }

  #set(name: string, value: JsonValue): void {
    this.#names += 1;
    if (this.#names > this.#maxNames) throw new LargeJsonError('TOO_MANY_NAMES');
    const members = this.#members as Members;
    if (name !== '__proto__') members[name] = value;
    // As JSON.parse does it: a member like any other.
    else
      Object.defineProperty(members, name, { value, writable: true, enumerable: true, configurable: true });
  }
}
