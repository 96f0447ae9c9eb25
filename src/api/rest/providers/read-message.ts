// Reads a body that holds a model's message into the calls to make: whose they are, with which key and token each.
import { hash } from 'node:crypto';
import type { LargeIntegers, ToolRequest } from '../../../contract/call/tool-call.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import { isProviderName, MESSAGE_READERS, PROVIDER_NAMES } from '../../../formats/messages/providers.ts';
import type { ModelMessage } from '../../../formats/messages/model-message.ts';
import { checkProviderCall, type ReadProviderCall } from '../../../formats/read-provider-call.ts';
import { childPointer } from '../../../lib/json/json-pointer.ts';
import { didYouMean } from '../../../lib/text/did-you-mean.ts';
import { agreedContext } from '../../agreed-context.ts';
import { readContext } from '../../read-context.ts';
import { readCall, type CallEnvironment } from '../execute/read-call.ts';
import { environmentOfPart } from '../execute/several-calls.ts';
import { parseCallBody } from '../route/json-text.ts';
import { invalid, refused, unknownName } from '../route/violations.ts';

const BESIDE = ['message', 'context', 'confirmation_tokens'];
/** Of a message that holds more, nothing is run: no provider asks for so many at once. */
const MOST_CALLS = 128;
const LONGEST_TOKEN = 512;
const KEY_HASH = 16;

export interface AskedMessage {
  readonly message: ModelMessage;
  readonly calls: readonly AskedCall[];
}

export interface AskedCall {
  /** As the model spelled it; empty where it named none. */
  readonly name: string;
  readonly id: string | undefined;
  /** By what the caller knows it: its id, or its place where the provider gave it none. */
  readonly key: string;
  readonly token: string | undefined;
  readonly request: ToolRequest;
}

/** Throws ToolFailure VALIDATION. `body` as it came. */
export function readMessage(provider: string, body: unknown, env: CallEnvironment): AskedMessage {
  if (!isProviderName(provider)) throw unknownProvider(provider);
  const { value, largeIntegers } = parseCallBody(body);
  if (!isJsonObject(value)) throw invalid('', 'must be an object: {"message": {…}, "context": {…}}');
  const isWrapped = value['message'] !== undefined;
  if (isWrapped) heldToMembers(value);
  const { context: said, confirmation_tokens: tokens, ...rest } = value;
  const message = MESSAGE_READERS[provider](
    isWrapped ? (value['message'] ?? null) : rest,
    isWrapped ? '/message' : '',
  );
  if (message.calls.length > MOST_CALLS)
    throw invalid(
      isWrapped ? '/message' : '',
      `must hold at most ${MOST_CALLS} calls, found ${message.calls.length}`,
    );
  const terms = termsOf(said, tokens, env);
  const calls = readCalls(message, terms, env, largeIntegers);
  heldToTokens(terms, calls);
  return { message, calls };
}

function unknownProvider(provider: string) {
  const near = didYouMean(provider, PROVIDER_NAMES);
  const hint = near === undefined ? '' : `; did you mean "${near}"?`;
  return invalid('/provider', `must be one of ${PROVIDER_NAMES.join(', ')}${hint}`);
}

function heldToMembers(body: JsonObject): void {
  const stray = Object.keys(body).filter((name) => !BESIDE.includes(name));
  if (stray.length > 0)
    throw refused(stray.map((name) => unknownName('', name, BESIDE, 'field of this body')));
}

/** What holds for all calls of the message. */
interface Terms {
  readonly context: JsonObject;
  readonly idempotencyKey: string | undefined;
  readonly tokens: ReadonlyMap<string, string>;
}

function termsOf(said: JsonValue | undefined, tokens: JsonValue | undefined, env: CallEnvironment): Terms {
  const { idempotencyKey: inHeader } = env.traced;
  const read = readContext(said);
  const beside = inHeader === undefined ? {} : { idempotencyKey: inHeader };
  const { idempotencyKey } = agreedContext(read, beside, 'header');
  if (read.confirmationToken !== undefined)
    throw invalid(
      '/context/confirmation_token',
      'belongs to one call: say confirmation_tokens, {"<id of the call>": "…"}',
    );
  // Each call has a part of the key, as its environment says.
  const { idempotency_key: _whole, ...context } = isJsonObject(said) ? said : {};
  return { context, idempotencyKey, tokens: tokensOf(tokens) };
}

function tokensOf(said: JsonValue | undefined): ReadonlyMap<string, string> {
  if (said === undefined || said === null) return new Map();
  if (!isJsonObject(said))
    throw invalid('/confirmation_tokens', 'must be an object: {"<id of the call>": "…"}');
  for (const [key, token] of Object.entries(said))
    if (typeof token !== 'string' || token.length === 0 || token.length > LONGEST_TOKEN)
      throw invalid(
        childPointer('/confirmation_tokens', key.slice(0, 64)),
        `must have 1 to ${LONGEST_TOKEN} characters`,
      );
  return new Map(Object.entries(said as Record<string, string>));
}

function readCalls(
  { calls, cutsLast, unfinished, answers }: ModelMessage,
  terms: Terms,
  env: CallEnvironment,
  largeIntegers: LargeIntegers,
): readonly AskedCall[] {
  const places = new Map<string, string>();
  return calls.map((call, index) => {
    const read = checkProviderCall(call);
    // Some say "" where they have none.
    const id = read.id === '' ? undefined : read.id;
    if (id === undefined && answers.needsId)
      throw invalid(call.id.pointer, 'must be the id of the call: without it nobody can answer');
    if (id === undefined && read.name === undefined)
      throw invalid(
        call.name.pointer,
        'must be the name of the tool: the answer to a call without an id goes by it',
      );
    const earlier = id === undefined ? undefined : places.get(id);
    if (earlier !== undefined) throw invalid(call.id.pointer, `must differ from ${earlier}`);
    if (id !== undefined) places.set(id, call.id.pointer);
    const isCut = (cutsLast === true && index === calls.length - 1) || unfinished?.has(index) === true;
    const key = id ?? String(index);
    const token = terms.tokens.get(key);
    const request = requestOf({ ...read, id }, { terms, env, largeIntegers, index, token, isCut });
    return { name: read.name ?? '', id, key, token, request };
  });
}

interface CallTerms {
  readonly terms: Terms;
  readonly env: CallEnvironment;
  readonly largeIntegers: LargeIntegers;
  readonly index: number;
  readonly token: string | undefined;
  readonly isCut: boolean;
}

type CheckedCall = Omit<ReadProviderCall, 'id'> & { readonly id: string | undefined };

function requestOf(
  { name = '', id, arguments: args, argumentsAt, largeIntegers: inText, refusal }: CheckedCall,
  { terms, env, largeIntegers, index, token, isCut }: CallTerms,
): ToolRequest {
  const own = largeIntegers.filter((pointer) => pointer.startsWith(`${argumentsAt}/`));
  const inside = inText.length > 0 ? inText : own.map((pointer) => pointer.slice(argumentsAt.length));
  const asCall = {
    tool: name,
    arguments: args,
    context: { ...terms.context, ...(token !== undefined && { confirmation_token: token }) },
  };
  const request = readCall(
    undefined,
    asCall,
    environmentOfCall(env, terms.idempotencyKey, id ?? index),
    inside.map((pointer) => `/arguments${pointer}`),
  );
  const wrong = request.refusal ?? (isCut ? cutOff() : refusal);
  return {
    ...request,
    ...(id !== undefined && { providerCallId: id }),
    ...(wrong !== undefined && { refusal: wrong }),
  };
}

/** A part of the key that is the call's own, also where the message comes again without another call of it. */
function environmentOfCall(
  env: CallEnvironment,
  key: string | undefined,
  call: string | number,
): CallEnvironment {
  const part = typeof call === 'number' ? call : hash('sha256', call).slice(0, KEY_HASH);
  return key === undefined ? env : environmentOfPart(env, part, key);
}

function cutOff() {
  return toolFailure(
    'CALL_CUT_OFF',
    'The answer of the model was cut off in this call, at its limit of tokens: it has not run. Make the whole call again.',
  );
}

/** Calls that have run already would run once more beside those that waited, unless a key says which they are. */
function heldToTokens({ tokens, idempotencyKey }: Terms, calls: readonly AskedCall[]): void {
  if (tokens.size === 0) return;
  const keys = calls.map(({ key }) => key);
  const stray = [...tokens.keys()].filter((key) => !keys.includes(key));
  if (stray.length > 0)
    throw refused(stray.map((key) => unknownName('/confirmation_tokens', key, keys, 'call of this message')));
  if (idempotencyKey === undefined && keys.some((key) => !tokens.has(key)))
    throw invalid(
      '/confirmation_tokens',
      'needs the header Idempotency-Key, the same as the first time: the other calls of the message would run again',
    );
}
