// Slots: what one argument may hold at its place in a command. Values come from a language model.
import { isJsonObject, type JsonSchema, type JsonValue } from '../../contract/json.ts';
import { int64Of } from '../../lib/json/int64.ts';
import type { SlotOptions } from './options-schema.ts';

export type Slot =
  | { readonly type: 'path' | 'slug' | 'url' | 'text' | 'string' }
  | { readonly type: 'int'; readonly min?: number | undefined; readonly max?: number | undefined }
  | { readonly type: 'enum'; readonly values: readonly string[] };

/** Text for its place, or what is wrong with the value. */
export type Filled = { readonly text: string } | { readonly wrong: string };

const MAX_ARGUMENT_BYTES = 32_768;
const SLUG = /^[A-Za-z0-9][\w.-]{0,127}$/;
const CONTROL = /[\x00-\x1f\x7f]/;
/** Tabs and line ends are text. */
const CONTROL_IN_TEXT = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/;
/** How options, and what programs take for one, begin. */
const LIKE_OPTION = /^[-+@(]/;

/** What the options say, or what the input schema says of the argument. */
export function slotOf(
  name: string,
  slots: { readonly [name: string]: SlotOptions },
  schema: JsonSchema,
): Slot {
  const said = Object.hasOwn(slots, name) ? slots[name] : undefined;
  if (said !== undefined) return typeof said === 'string' ? { type: said } : said;
  const properties = schema['properties'];
  const property = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (!isJsonObject(property)) return { type: 'string' };
  const values = property['enum'];
  if (Array.isArray(values) && values.length > 0) return { type: 'enum', values: values.map(String) };
  if (property['type'] === 'integer') return { type: 'int' };
  return { type: 'string' };
}

/** `afterOptions`: behind `--` or in `--flag=`, where nothing is taken for an option. */
export function fillSlot(slot: Slot, value: JsonValue, afterOptions: boolean): Filled {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    return { wrong: 'must be a string, a number or a boolean in a command' };
  }
  const text = String(value);
  if (!text.isWellFormed()) return { wrong: 'must be well-formed Unicode' };
  if (Buffer.byteLength(text) > MAX_ARGUMENT_BYTES)
    return { wrong: `must be at most ${MAX_ARGUMENT_BYTES} bytes` };
  switch (slot.type) {
    case 'path':
      return pathOf(text);
    case 'enum':
      return slot.values.includes(text) ? { text } : { wrong: `must be one of ${slot.values.join(', ')}` };
    case 'int':
      return integerOf(value, slot, afterOptions);
    case 'slug':
      return SLUG.test(text)
        ? { text }
        : { wrong: 'must be letters, digits, "_", "." and "-", beginning with one of the first two' };
    case 'url':
      return urlOf(text);
    case 'text':
      return textOf(text);
    case 'string':
      break;
  }
  return lineOf(text, afterOptions);
}

/** One line that no program takes for an option. */
function lineOf(text: string, afterOptions: boolean): Filled {
  if (CONTROL.test(text)) return { wrong: 'must not hold control characters or line ends' };
  if (!afterOptions && LIKE_OPTION.test(text)) return { wrong: 'must not begin with "-", "+", "@" or "("' };
  return afterOptions || text !== '' ? { text } : { wrong: 'must not be empty' };
}

/** For stdin and the contents of files: everything that is text. */
export function textOf(text: string): Filled {
  return CONTROL_IN_TEXT.test(text)
    ? { wrong: 'must not hold control characters besides tab and line end' }
    : { text };
}

/** `./` before it: no name can be taken for an option. Where it really leads, the sandbox's mounts decide. */
function pathOf(text: string): Filled {
  const path = text.normalize('NFC');
  if (CONTROL.test(path)) return { wrong: 'must not hold control characters' };
  if (path.startsWith('/')) return { wrong: 'must be a path below the workspace, without "/" at its start' };
  const names = path.replace(/^\.\//, '').replace(/\/$/, '').split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..')) {
    return { wrong: 'must not be empty or hold "..", "." or "//"' };
  }
  return { text: `./${names.join('/')}` };
}

function integerOf(
  value: string | number | boolean,
  { min, max }: { readonly min?: number | undefined; readonly max?: number | undefined },
  afterOptions: boolean,
): Filled {
  const integer = exactly(value);
  if (integer === undefined) return { wrong: 'must be an integer' };
  // Who says how far below zero it may go has thought of the sign.
  const least = min ?? (afterOptions ? -Infinity : 0);
  if (integer < least || integer > (max ?? Infinity)) {
    return { wrong: `must be from ${least} to ${max ?? 'the largest integer'}` };
  }
  return { text: String(integer) };
}

/** An integer beyond 2^53 arrives as its digits. */
function exactly(value: string | number | boolean): bigint | undefined {
  if (typeof value === 'string') return /^-?\d{1,15}$/.test(value) ? BigInt(value) : int64Of(value);
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}

function urlOf(text: string): Filled {
  const url = URL.canParse(text) && !CONTROL.test(text) ? new URL(text) : undefined;
  if (
    url === undefined ||
    !['http:', 'https:'].includes(url.protocol) ||
    url.username !== '' ||
    url.password !== ''
  ) {
    return { wrong: 'must be an http or https URL without a user or password' };
  }
  return { text: url.href };
}
