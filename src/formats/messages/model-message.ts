// ModelMessage: what a model said in its provider's form: the calls that it asks for, how it ended, and how they are answered.
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import type { Part, ProviderCall } from '../provider-call.ts';
import type { FileRules, ResultPart } from './result-parts.ts';

/** `tool_calls`: it waits for answers. `length`: it was cut off. `pause`: the provider wants the same messages once more. */
export const FINISH_REASONS = ['tool_calls', 'stop', 'length', 'refusal', 'pause'] as const;
export type FinishReason = (typeof FINISH_REASONS)[number];

export interface ModelMessage {
  /** In their order, with pointers from the message's root on. Nothing in them is checked yet. */
  readonly calls: readonly ProviderCall[];
  readonly finish: FinishReason;
  /** True: the last of the calls may be the beginning of what the model was to write. */
  readonly cutsLast?: boolean;
  /** Indexes of calls that the provider itself calls unfinished. */
  readonly unfinished?: ReadonlySet<number>;
  readonly answers: AnswerForm;
}

/** Throws ToolFailure VALIDATION, with a pointer, for what is no message of this provider. `at`: where it stands. */
export type MessageReader = (said: JsonValue, at: string) => ModelMessage;

/** How the answers are written: one entry for each call, and what stands around all of them. */
export interface AnswerForm {
  /** True: a call without an id cannot be answered. */
  readonly needsId: boolean;
  readonly files: FileRules;
  /** Text before the entries, which are joined by commas, and behind them: a list of messages. */
  readonly frame: readonly [before: string, behind: string];
  entry(answer: CallAnswer): JsonObject;
}

export interface CallAnswer {
  /** As the model spelled it; empty where it named none. */
  readonly name: string;
  readonly id: string | undefined;
  readonly isError: boolean;
  /** At least one. */
  readonly parts: readonly ResultPart[];
}

/** Of an answer that is refused nothing runs: what a filter left of it is nobody's wish. */
export function endedBy(
  finish: FinishReason | undefined,
  calls: readonly ProviderCall[],
): Pick<ModelMessage, 'calls' | 'finish'> {
  if (finish === 'refusal') return { calls: [], finish };
  return { calls, finish: finish ?? (calls.length > 0 ? 'tool_calls' : 'stop') };
}

export function wrongMessage(pointer: string, message: string): ToolFailure {
  return toolFailure('MALFORMED_CALL', `${pointer || 'the message'} ${message}.`, {
    details: { violations: [{ pointer, message }] },
  });
}

export function objectAt(value: JsonValue | undefined, pointer: string, expected: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw wrongMessage(pointer, expected);
}

/** The role of a message, where it says one, is the model's: what others say is run by nobody. */
export function heldToRole({ role }: JsonObject, expected: string, at: string): void {
  if (role !== undefined && role !== null && role !== expected)
    throw wrongMessage(
      `${at}/role`,
      `must be ${expected}: what the model said is sent, and no other message`,
    );
}

/** The only entry of a list of answers, with its pointer. */
export function onlyOne(list: JsonValue, at: string): readonly [entry: JsonObject, at: string] {
  if (Array.isArray(list) && list.length === 1)
    return [objectAt(list[0], `${at}/0`, 'must be an object'), `${at}/0`];
  throw wrongMessage(at, 'must hold one answer of the model: of several, send the one that you go on with');
}

/** The same call, with pointers from further out. */
export function callAt({ name, arguments: args, id }: ProviderCall, at: string): ProviderCall {
  const moved = ({ value, pointer }: Part): Part => ({ value, pointer: `${at}${pointer}` });
  return { name: moved(name), arguments: moved(args), id: moved(id) };
}
