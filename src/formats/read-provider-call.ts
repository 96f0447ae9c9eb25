// A call in the form of any provider that is known, checked: by its members alone, since nobody says which provider it is.
import { toolFailure } from '../contract/call/failure.ts';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import { isJsonObject, type JsonObject } from '../contract/json.ts';
import { parseWithLargeIntegers, StrictJsonError } from '../lib/json/strict-json.ts';
import { syntaxFault } from '../lib/json/syntax-fault.ts';
import { anthropicCall } from './anthropic/call.ts';
import { bedrockCall } from './bedrock/call.ts';
import { geminiCall } from './gemini/call.ts';
import { langChainCall } from './langchain/call.ts';
import { openAiCall } from './openai/call.ts';
import type { Part, ProviderCall, ProviderCallReader } from './provider-call.ts';

export interface ReadProviderCall {
  /** The provider's spelling of the tool's name; left out where it says none, which is a refusal. */
  readonly name?: string;
  readonly arguments: JsonObject;
  /** JSON Pointer to the arguments, in what was read. */
  readonly argumentsAt: string;
  /** Of integers beyond 2^53 in arguments that were written as text: pointers into the arguments. */
  readonly largeIntegers: readonly string[];
  readonly id?: string;
  /** Set where it cannot be read, and has no arguments then: the answer still belongs to this call of the model. */
  readonly refusal?: ToolFailure;
}

const READERS: readonly ProviderCallReader[] = [
  openAiCall,
  anthropicCall,
  geminiCall,
  bedrockCall,
  langChainCall,
];
const NONE: readonly string[] = Object.freeze([]);
const NOTHING = Object.freeze({ arguments: Object.freeze({}), largeIntegers: NONE });
const LONGEST_ID = 512;

/**
 * Undefined: it is in no provider's form. Members that are not known are the provider's own business, and let be.
 * Throws ToolFailure VALIDATION where it has an id that is none. A name or arguments that cannot be read are a refusal:
 * ARGUMENTS_NOT_JSON for text that is no JSON.
 */
export function readProviderCall(said: JsonObject): ReadProviderCall | undefined {
  const call = findProviderCall(said);
  return call === undefined ? undefined : checkProviderCall(call);
}

/** Undefined: it is in no provider's form. What the call holds is not looked at yet. */
export function findProviderCall(said: JsonObject): ProviderCall | undefined {
  for (const reader of READERS) {
    const call = reader(said);
    if (call !== undefined) return call;
  }
  return undefined;
}

/** Throws as readProviderCall. */
export function checkProviderCall({ name, arguments: args, id }: ProviderCall): ReadProviderCall {
  const read = { argumentsAt: args.pointer, ...named(name, args) };
  if (id.value === undefined || id.value === null) return read;
  if (typeof id.value !== 'string' || id.value.length > LONGEST_ID)
    throw wrong(id, `must be a text of at most ${LONGEST_ID} characters`);
  return { ...read, id: id.value };
}

function named(name: Part, args: Part): Arguments & Pick<ReadProviderCall, 'name'> {
  if (typeof name.value === 'string') return { name: name.value, ...orRefused(args) };
  return { ...NOTHING, refusal: wrong(name, 'must be the name of a tool') };
}

type Arguments = Pick<ReadProviderCall, 'arguments' | 'largeIntegers' | 'refusal'>;

function orRefused(args: Part): Arguments {
  try {
    return argumentsOf(args);
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return { ...NOTHING, refusal: error };
  }
}

function argumentsOf(args: Part): Arguments {
  const { value } = args;
  // Models write nothing at all for a tool that takes nothing.
  if (value === undefined || value === null || value === '') return NOTHING;
  if (isJsonObject(value)) return { arguments: value, largeIntegers: NONE };
  if (typeof value !== 'string') throw wrong(args, 'must be an object, or one written as JSON text');
  const parsed = parse(value, args.pointer);
  if (!isJsonObject(parsed.value)) throw wrong(args, 'must be JSON text of an object');
  return { arguments: parsed.value, largeIntegers: parsed.largeIntegers };
}

function parse(text: string, at: string) {
  try {
    return parseWithLargeIntegers(text);
  } catch (error) {
    if (error instanceof StrictJsonError) throw notAcceptable(error, text, at);
    throw error;
  }
}

/** With what a model needs to write them again: where they stop being JSON. */
function notAcceptable({ reason, pointer, message }: StrictJsonError, text: string, at: string): ToolFailure {
  const position = reason === 'SYNTAX' ? syntaxFault(text) : undefined;
  const where = position === undefined ? message : `${message} from character ${position + 1} on`;
  return new ToolFailure('VALIDATION', `The arguments are not acceptable JSON: ${where}.`, {
    reason: reason === 'SYNTAX' ? 'ARGUMENTS_NOT_JSON' : reason,
    details: {
      // Inside a text that is no JSON there are no members yet.
      violations: [{ pointer: position === undefined ? `${at}${pointer}` : at, message: where }],
      ...(position !== undefined && { position }),
    },
  });
}

function wrong({ pointer }: Part, message: string): ToolFailure {
  const details = { violations: [{ pointer, message }] };
  return toolFailure('MALFORMED_CALL', `${pointer} ${message}.`, { details });
}
