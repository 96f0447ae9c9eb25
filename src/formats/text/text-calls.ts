// The calls in what a model wrote, for models without function calling: JSON objects anywhere in a text, fenced or bare.
import { isJsonObject, type JsonObject } from '../../contract/json.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { parseWithLargeIntegers, StrictJsonError } from '../../lib/json/strict-json.ts';
import { MendableText } from '../../lib/json/mended/mended-json.ts';
import type { BrokenObject, Mend, MendedObject } from '../../lib/json/mended/mended-object.ts';
import { TextPlaces } from '../../lib/text/text-places.ts';
import type { ProviderCall } from '../provider-call.ts';
import { checkProviderCall, findProviderCall } from '../read-provider-call.ts';
import { looksLikeCall, ownCall } from './own-call.ts';
import { thinkingIn, type Span } from './unsaid.ts';

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

/** How much of a text may be looked into again, behind objects that break off: its length as often as this. */
const SECOND_LOOKS = 4;
const NONE: readonly string[] = Object.freeze([]);
const NOTHING = { arguments: Object.freeze({}), largeIntegers: NONE } as const;
const FENCE = /^[ \t]*(?:```|~~~)/my;
const OBJECT = /\{(?=[ \t\n\r\u00a0\ufeff]*["'}/#\w$])/g;
const WRAPPERS = ['tool_calls', 'calls'];

/**
 * In the order of the text, `most` and one more at the most. An object that is no call is passed over whole, unless it holds
 * a list of calls. What is broken and was to be a call is one with a refusal; what follows inside it is not looked at.
 * Never throws; takes time in proportion to the text.
 */
export function findTextCalls(text: string, most = Number.MAX_SAFE_INTEGER): readonly TextCall[] {
  const calls: TextCall[] = [];
  const places = new TextPlaces(text);
  const mendable = new MendableText(text);
  const thoughts = thinkingIn(text);
  let thought = 0;
  let spare = SECOND_LOOKS * text.length;
  let at = nextObject(text, 0);
  while (at >= 0 && calls.length <= most) {
    while ((thoughts[thought]?.end ?? Infinity) <= at) thought += 1;
    const { start = Infinity, end = Infinity } = thoughts[thought] ?? {};
    if (start <= at) {
      at = nextObject(text, end);
      continue;
    }
    const found = mendable.objectAt(at);
    if (!found.whole && !looksLikeCall(found.names)) {
      // It may have been a brace of the prose. Beyond the spare time, what it ran through is not looked at again.
      spare -= found.at - at;
      at = nextObject(text, spare > 0 ? at + 1 : Math.max(at + 1, found.at));
      continue;
    }
    const { call, next } = found.whole ? wholeAt(at, found) : brokenAt(text, at, found, places);
    if (call !== undefined) calls.push(call);
    at = nextObject(text, next);
  }
  return calls;
}

/** Below 0: there is none. Braces that nothing of an object follows are passed over. */
function nextObject(text: string, from: number): number {
  OBJECT.lastIndex = from;
  return OBJECT.exec(text)?.index ?? -1;
}

interface Found {
  readonly call?: TextCall;
  /** Where to go on. */
  readonly next: number;
}

function wholeAt(start: number, { end, json, mends }: MendedObject): Found {
  const read = strictly(json);
  if (read instanceof StrictJsonError) {
    // Strict JSON refuses it for what it holds: whether it was to be a call, its text alone can tell.
    if (!/"(?:tool|functionCall|args|arguments|parameters)"\s*:/.test(json)) return { next: end };
    return { call: { ...NOTHING, tool: '', start, end, mends, refusal: refusedBy(read, start) }, next: end };
  }
  const { value, largeIntegers } = read;
  if (!isJsonObject(value)) return { next: end };
  const said = ownCall(value) ?? findProviderCall(value);
  if (said === undefined || typeof said.name.value !== 'string') {
    return { next: WRAPPERS.some((name) => Array.isArray(value[name])) ? start + 1 : end };
  }
  return { call: { start, end, mends, ...callOf(said, said.name.value, largeIntegers, start) }, next: end };
}

function callOf(said: ProviderCall, tool: string, largeIntegers: readonly string[], start: number) {
  try {
    const { arguments: args, argumentsAt, id, largeIntegers: inText, refusal } = checkProviderCall(said);
    const prefix = `${argumentsAt}/`;
    const own = largeIntegers
      .filter((each) => each.startsWith(prefix))
      .map((each) => each.slice(argumentsAt.length));
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

function brokenAt(text: string, start: number, broken: BrokenObject, places: TextPlaces): Found {
  const end = endOfBroken(text, broken);
  const { at, expected } = broken;
  const { line, column } = places.of(at);
  const character = text.codePointAt(at);
  const found =
    character === undefined ? 'the end of the text' : JSON.stringify(String.fromCodePoint(character));
  const message = `expected ${expected}, found ${found}`;
  const refusal = toolFailure(
    'CALL_NOT_JSON',
    `The call is broken in line ${line}, column ${column}: ${message}.`,
    {
      details: { violations: [{ pointer: '', message }], position: at },
    },
  );
  return {
    call: { ...NOTHING, tool: nameIn(text.slice(start, at)), start, end, mends: [], refusal },
    next: end,
  };
}

/** The tool that a call which broke off was for, where that was written before. */
function nameIn(json: string): string {
  return /["']?\b(?:tool|name)["']?\s*:\s*["']([\w.-]{1,128})["']/.exec(json)?.[1] ?? '';
}

/** Behind its last bracket; before the next fence, or at the end of the text, where that is not there. */
function endOfBroken(text: string, { at: from, depth: open }: BrokenObject): number {
  let depth = open;
  let quoted = false;
  for (let at = from; at < text.length; at += 1) {
    const found = text[at];
    if (found === '\\') at += 1;
    else if (found === '\n') {
      // A text that does not end on its line may be what broke the object.
      quoted = false;
      FENCE.lastIndex = at + 1;
      if (FENCE.test(text)) return at + 1;
    } else if (found === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (found === '{' || found === '[') depth += 1;
    else if (found === '}' || found === ']') {
      depth -= 1;
      if (depth <= 0) return at + 1;
    }
  }
  return text.length;
}

function strictly(json: string) {
  try {
    return parseWithLargeIntegers(json);
  } catch (error) {
    if (error instanceof StrictJsonError) return error;
    throw error;
  }
}

function refusedBy({ message, pointer, reason }: StrictJsonError, position: number): ToolFailure {
  return new ToolFailure('VALIDATION', `The call is not acceptable JSON: ${message}.`, {
    reason: reason === 'SYNTAX' ? 'CALL_NOT_JSON' : reason,
    details: { violations: [{ pointer, message }], position },
  });
}
