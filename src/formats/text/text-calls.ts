// The calls in what a model wrote, for models without function calling: JSON objects anywhere in a text, fenced or bare.
import { isJsonObject, type JsonObject } from '../../contract/json.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { parseWithLargeIntegers, StrictJsonError } from '../../lib/json/strict-json.ts';
import { faultInWords } from '../../lib/json/strict-json-error.ts';
import { MendableText } from '../../lib/json/mended/mended-json.ts';
import type { BrokenObject, Mend, MendedObject } from '../../lib/json/mended/mended-object.ts';
import { TextPlaces } from '../../lib/text/text-places.ts';
import type { ProviderCall } from '../provider-call.ts';
import { checkProviderCall, findProviderCall } from '../read-provider-call.ts';
import { NamedBefore } from './named-before.ts';
import { looksLikeCall, ownCall } from './own-call.ts';
import { Thoughts } from './thoughts.ts';

interface Span {
  /** In UTF-16 units; `end` is behind it. */
  readonly start: number;
  readonly end: number;
}

export interface TextCall extends Span {
  /** As the model spelled it. Empty where the call broke off before that. */
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Pointers into the arguments. */
  readonly largeIntegers: readonly string[];
  readonly id?: string;
  readonly mends: readonly Mend[];
  /** Set where it cannot be run: VALIDATION, with what the model has to write otherwise and `details.position`. */
  readonly refusal?: ToolFailure;
}

/** How much of a text may be looked into again, behind braces of the prose: its length as often as this. */
const SECOND_LOOKS = 4;
const NONE: readonly string[] = Object.freeze([]);
const NOTHING = { arguments: Object.freeze({}), largeIntegers: NONE } as const;
/** Lines that end what was before: of fences, and of those who put each call between tags. */
const BOUNDARY = /^[ \t]*(?:```|~~~|<\/?tool_call>)/gm;
const OBJECT = /\{(?=[ \t\n\r\u00a0\ufeff]*["'}/#\w$])/g;
const WRAPPERS = ['tool_calls', 'calls'];

/**
 * In the order of the text, `most` and one more at the least where there are more. An object that is no call is passed over
 * whole, but for the entries of a list of calls. What is broken and was to be a call is one with a refusal; what follows it
 * may be text of its arguments, so that calls are looked for again behind the next fence alone. Never throws; takes time in
 * proportion to the text.
 */
export function findTextCalls(text: string, most = Number.MAX_SAFE_INTEGER): readonly TextCall[] {
  let calls: TextCall[] = [];
  const places = new TextPlaces(text);
  const mendable = new MendableText(text);
  const thoughts = new Thoughts(text);
  const named = new NamedBefore(text);
  let spare = SECOND_LOOKS * text.length;
  let at = 0;
  let doneWith = 0;
  while (calls.length <= most) {
    const start = nextObject(text, at);
    const thought = thoughts.between(at, start);
    if (thought !== undefined) {
      if (thought.fromStart) calls = [];
      at = thought.end;
      doneWith = at;
      continue;
    }
    if (start === text.length) break;
    const found = mendable.objectAt(start);
    const name = named.of(start, doneWith);
    if (found.whole) {
      calls.push(...(name === undefined ? callsIn(start, found) : [callNamed(name, start, found)]));
      at = found.end;
      doneWith = at;
    } else if (found.hasText || name !== undefined) {
      at = nextBoundary(text, found.at);
      doneWith = at;
      if (name !== undefined || looksLikeCall(found.names))
        calls.push(brokenCall(text, { start, end: at }, found, { places, name }));
    } else {
      // A brace of the prose. Beyond the spare time, what it ran through is not looked at again.
      spare -= found.at - start;
      at = spare > 0 ? start + 1 : Math.max(start + 1, found.at);
    }
  }
  return calls;
}

/** The text's length: there is none. Braces that nothing of an object follows are passed over. */
function nextObject(text: string, from: number): number {
  OBJECT.lastIndex = from;
  return OBJECT.exec(text)?.index ?? text.length;
}

/** The text's length: there is none. */
function nextBoundary(text: string, from: number): number {
  BOUNDARY.lastIndex = from;
  return BOUNDARY.exec(text)?.index ?? text.length;
}

function callsIn(start: number, { end, json, mends }: MendedObject): readonly TextCall[] {
  const read = strictly(json);
  if (read instanceof StrictJsonError) {
    // Strict JSON refuses it for what it holds: whether it was to be a call, its text alone can tell.
    if (!/"(?:tool|tool_name|functionCall|action_input|args|arguments|parameters)"\s*:/.test(json)) return [];
    return [{ ...NOTHING, tool: nameIn(json), start, end, mends, refusal: refusedBy(read, start) }];
  }
  const { value, largeIntegers } = read;
  if (!isJsonObject(value)) return [];
  const own = saidIn(value, largeIntegers, start);
  if (own !== undefined) return [{ start, end, mends, ...own }];
  return WRAPPERS.flatMap((name) => {
    const entries = value[name];
    if (!Array.isArray(entries)) return [];
    return entries.flatMap((entry, index) => {
      const inside = inPart(largeIntegers, `/${name}/${index}`);
      const said = isJsonObject(entry) ? saidIn(entry, inside, start) : undefined;
      return said === undefined ? [] : [{ start, end, mends, ...said }];
    });
  });
}

/** Its arguments are all of the object, whatever that looks like. */
function callNamed(name: string, start: number, { end, json, mends }: MendedObject): TextCall {
  const read = strictly(json);
  if (read instanceof StrictJsonError)
    return { ...NOTHING, tool: name, start, end, mends, refusal: refusedBy(read, start) };
  const none = { value: undefined, pointer: '' };
  const said = {
    name: { value: name, pointer: '' },
    arguments: { value: isJsonObject(read.value) ? read.value : undefined, pointer: '' },
    id: none,
  };
  return { start, end, mends, ...callOf(said, name, read.largeIntegers, start) };
}

/** Undefined: the object is no call. */
function saidIn(value: JsonObject, largeIntegers: readonly string[], start: number) {
  const said = ownCall(value) ?? findProviderCall(value);
  if (said === undefined || typeof said.name.value !== 'string') return undefined;
  return callOf(said, said.name.value, largeIntegers, start);
}

/** Pointers into a part, of those into the whole. */
function inPart(pointers: readonly string[], at: string): readonly string[] {
  return pointers.filter((each) => each.startsWith(`${at}/`)).map((each) => each.slice(at.length));
}

function callOf(said: ProviderCall, tool: string, largeIntegers: readonly string[], start: number) {
  try {
    const { arguments: args, argumentsAt, id, largeIntegers: inText, refusal } = checkProviderCall(said);
    const own = inPart(largeIntegers, argumentsAt);
    return {
      tool,
      arguments: args,
      largeIntegers: inText.length > 0 ? inText : own,
      ...(id !== undefined && { id }),
      ...(refusal !== undefined && { refusal: placed(refusal, start) }),
    };
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return { ...NOTHING, tool, refusal: placed(error, start) };
  }
}

/** Where the model finds it again: a place inside the arguments' own text is told as it was. */
function placed(refusal: ToolFailure, start: number): ToolFailure {
  const { type, message, reason, details } = refusal;
  return new ToolFailure(type, message, { reason, details: { position: start, ...details } });
}

function brokenCall(
  text: string,
  { start, end }: Span,
  { at, expected }: BrokenObject,
  {
    places,
    name = nameIn(text.slice(start, at)),
  }: { readonly places: TextPlaces; readonly name: string | undefined },
): TextCall {
  const { line, column } = places.of(at);
  const character = text.codePointAt(at);
  const found =
    character === undefined ? 'the end of the text' : JSON.stringify(String.fromCodePoint(character));
  const message = `expected ${expected}, found ${found}`;
  const refusal = toolFailure(
    'CALL_NOT_JSON',
    `The call is broken in line ${line}, column ${column}: ${message}.`,
    { details: { violations: [{ pointer: '', message }], position: at } },
  );
  return { ...NOTHING, tool: name, start, end, mends: [], refusal };
}

/** The tool that a call which broke off was for, where that was written before. */
function nameIn(json: string): string {
  return /["']?\b(?:tool|tool_name|name|action)["']?\s*:\s*["']([\w.-]{1,128})["']/.exec(json)?.[1] ?? '';
}

function strictly(json: string) {
  try {
    return parseWithLargeIntegers(json);
  } catch (error) {
    if (error instanceof StrictJsonError) return error;
    throw error;
  }
}

function refusedBy(error: StrictJsonError, position: number): ToolFailure {
  const { message, pointer, reason } = error;
  return new ToolFailure('VALIDATION', `The call is not acceptable JSON: ${faultInWords(error)}.`, {
    reason: reason === 'SYNTAX' ? 'CALL_NOT_JSON' : reason,
    details: { violations: [{ pointer, message }], position },
  });
}
