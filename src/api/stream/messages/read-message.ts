// Reads one message of a client: JSON text into a message of its kind, or what is wrong with it, field by field.
import { isJsonObject } from '../../../contract/json.ts';
import type { LargeIntegers } from '../../../contract/call/tool-call.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { parseWithLargeIntegers, StrictJsonError } from '../../../lib/json/strict-json.ts';
import { faultInWords } from '../../../lib/json/strict-json-error.ts';
import { didYouMean } from '../../../lib/text/did-you-mean.ts';
import { refuseLargeIntegers } from '../../rest/route/json-text.ts';
import { invalid, refused, violationsOf } from '../../rest/route/violations.ts';
import {
  CLIENT_MESSAGES,
  CLIENT_TYPES,
  isClientType,
  type ClientMessage,
  type ClientMessageOf,
} from './client-messages.ts';

export type Inbound =
  | { readonly kind: 'message'; readonly message: Exclude<ClientMessage, { type: 'tool_call' }> }
  /** `refusal`: what is wrong with it. It is refused where calls are, known, counted and audited first. */
  | {
      readonly kind: 'call';
      readonly call: Partial<ClientMessageOf<'tool_call'>>;
      readonly largeIntegers: LargeIntegers;
      readonly refusal?: ToolFailure;
    }
  | { readonly kind: 'malformed'; readonly failure: ToolFailure };

/** Never throws ToolFailure: what is wrong is part of what is read. */
export function readMessage(text: string): Inbound {
  try {
    const { value, largeIntegers } = parseWithLargeIntegers(text);
    return readValue(value, largeIntegers);
  } catch (error) {
    if (error instanceof StrictJsonError) return { kind: 'malformed', failure: notJson(error) };
    if (error instanceof ToolFailure) return { kind: 'malformed', failure: error };
    throw error;
  }
}

/** The same of a value that was decoded elsewhere. Throws ToolFailure VALIDATION for what is no call. */
export function readValue(value: unknown, largeIntegers: LargeIntegers): Inbound {
  if (!isJsonObject(value)) throw invalid('', 'must be an object with a "type"');
  const { type } = value;
  if (!isClientType(type)) throw invalid('/type', unknownType(type));
  if (type === 'tool_call') return readToolCall(value, largeIntegers);
  refuseLargeIntegers(largeIntegers);
  return { kind: 'message', message: parsed(type, value) };
}

function readToolCall(value: object, largeIntegers: LargeIntegers): Inbound {
  try {
    return { kind: 'call', call: parsed('tool_call', value), largeIntegers };
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    const { tool_name: name, id } = value as { readonly tool_name?: unknown; readonly id?: unknown };
    const call = {
      ...(typeof name === 'string' && { tool_name: name.slice(0, 512) }),
      ...(isId(id) && { id }),
    };
    return { kind: 'call', call, largeIntegers: [], refusal: error };
  }
}

function isId(id: unknown): id is string {
  return typeof id === 'string' && id.length > 0 && id.length <= 128;
}

function parsed<Type extends ClientMessage['type']>(type: Type, value: object): ClientMessageOf<Type> {
  const schema = CLIENT_MESSAGES[type]();
  const result = schema.safeParse(value);
  if (result.success) return result.data as ClientMessageOf<Type>;
  const known = Object.keys(schema.shape);
  throw refused(violationsOf(result.error.issues, known, `field of a ${type}`));
}

function unknownType(type: unknown): string {
  const near = typeof type === 'string' ? didYouMean(type, CLIENT_TYPES) : undefined;
  const hint = near === undefined ? '' : `; did you mean "${near}"?`;
  return `must be one of ${CLIENT_TYPES.join(', ')}${hint}`;
}

function notJson(error: StrictJsonError): ToolFailure {
  const { reason, pointer, message } = error;
  return new ToolFailure('VALIDATION', `The message is not acceptable JSON: ${faultInWords(error)}.`, {
    reason,
    details: { violations: [{ pointer: pointer ?? '', message }] },
  });
}
