// Dialect: how a provider writes a model's turn and takes the answers of tools. The same for its SDK and for the loop.
import type { Envelope } from '../generated/gateway.ts';
import { refused, type ProviderFormat, type Toolbox } from './toolbox.ts';

/** A call that a model asks for. */
export interface ModelCall {
  readonly id: string;
  readonly name: string;
  /** Undefined: `problem` says what is wrong with them. */
  readonly arguments: object | undefined;
  readonly problem?: string;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface ModelTurn<Message> {
  /** To be appended, as the provider wrote it. */
  readonly messages: readonly Message[];
  readonly text: string;
  readonly calls: readonly ModelCall[];
  readonly usage?: Usage | undefined;
}

export interface AnsweredCall {
  readonly call: ModelCall;
  readonly envelope: Envelope;
}

export interface Dialect<Message> {
  readonly format: ProviderFormat;
  /** What the provider answered. */
  readonly read: (response: unknown) => ModelTurn<Message>;
  /** The messages that take the answers back to the model. */
  readonly results: (answered: readonly AnsweredCall[]) => Message[];
}

export interface GenerateRequest<Message> {
  readonly messages: readonly Message[];
  /** In the form of `format`. */
  readonly tools: unknown;
  readonly signal: AbortSignal;
}

/** What the loop asks for the next turn. */
export interface Model<Message> extends Pick<Dialect<Message>, 'format' | 'results'> {
  readonly generate: (request: GenerateRequest<Message>) => Promise<ModelTurn<Message>>;
}

/** Runs the calls of a response, in parallel, and gives all messages to append. */
export async function answerCalls<Message>(
  dialect: Dialect<Message>,
  tools: Toolbox,
  response: unknown,
): Promise<Message[]> {
  const { messages, calls } = dialect.read(response);
  if (calls.length === 0) return [...messages];
  const answered = await Promise.all(
    calls.map(async (call) => ({ call, envelope: await callOf(tools, call) })),
  );
  return [...messages, ...dialect.results(answered)];
}

export async function callOf(
  tools: Toolbox,
  call: ModelCall,
  options: Parameters<Toolbox['call']>[2] = {},
): Promise<Envelope> {
  if (call.arguments === undefined)
    return refused('VALIDATION', 'ARGUMENTS_NOT_JSON', call.problem ?? 'The arguments cannot be read.');
  return tools.call(call.name, call.arguments, options);
}

/** Arguments as a text of JSON, the way OpenAI and its likes write them. */
export function fromText(text: unknown): Pick<ModelCall, 'arguments' | 'problem'> {
  if (typeof text !== 'string' || text.trim() === '') return { arguments: {} };
  try {
    return fromValue(JSON.parse(text, exactly));
  } catch (error) {
    return { arguments: undefined, problem: `The arguments cannot be read: ${(error as Error).message}` };
  }
}

/** What a double does not hold would be another number, or none, at the gateway. */
function exactly(key: string, value: unknown): unknown {
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER)
    throw new RangeError(`the number of "${key}" is too large to be exact`);
  return value;
}

export function fromValue(value: unknown): Pick<ModelCall, 'arguments' | 'problem'> {
  if (value === undefined || value === null) return { arguments: {} };
  if (typeof value === 'object' && !Array.isArray(value)) return { arguments: value };
  return { arguments: undefined, problem: 'The arguments are not a JSON object.' };
}

/** Members of something that a provider wrote; nothing of it is sure. */
export type Loose = { readonly [member: string]: unknown };

export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Loose)[name] : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textMember(value: unknown, name: string): string {
  const found = member(value, name);
  return typeof found === 'string' ? found : '';
}

export function countOf(value: unknown, ...names: readonly string[]): number {
  return names.reduce((sum, name) => sum + (Number(member(value, name) ?? 0) || 0), 0);
}
