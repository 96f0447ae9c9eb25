// run: the dialog loop. The model speaks, its calls are run, the answers go back, until it calls no more or a limit is met.
import { ConfirmationRequiredError, errorOfRefusal } from '../errors/gateway-error.ts';
import { openai } from '../adapters/openai.ts';
import { callOf, type AnsweredCall, type GenerateRequest, type Loose, type Model, type ModelTurn, type Usage } from './dialect.ts'; // oxfmt-ignore
import { refused, type Toolbox } from './toolbox.ts';

export interface Limits {
  /** How often the model is asked; ten when left out. */
  readonly turns?: number;
  /** Tokens that the model says it has used, of its input and output together. */
  readonly tokens?: number;
  readonly timeMs?: number;
  /** Calls of tools in all. */
  readonly calls?: number;
}

export interface RunOptions {
  readonly limits?: Limits;
  readonly signal?: AbortSignal;
  /**
   * What becomes of a call that a human has to approve: the model is told (`tell`, when left out), the loop waits for the decision
   * (`wait`), or it stops (`stop`) with `approval_required`.
   */
  readonly approvals?: 'tell' | 'wait' | 'stop';
  readonly onApproval?: (asked: ConfirmationRequiredError) => void;
  readonly onTurn?: (turn: { readonly text: string; readonly calls: ModelTurn<unknown>['calls'] }) => void;
  readonly onAnswer?: (answered: AnsweredCall) => void;
}

export type StopReason =
  /** The model called no more tool: `text` is its answer. */
  'answered' | 'turn_limit' | 'token_limit' | 'time_limit' | 'call_limit' | 'approval_required' | 'cancelled';

export interface RunResult<Message> {
  readonly reason: StopReason;
  /** What the model said last. */
  readonly text: string;
  /** All of them, the given ones first. No call in them is without an answer: another run may go on from here. */
  readonly messages: Message[];
  readonly turns: number;
  readonly calls: number;
  readonly usage: Usage;
  /** With `approval_required`: what a human has to approve. Each is redeemed by its token. */
  readonly approvals: readonly (AnsweredCall & { readonly asked: ConfirmationRequiredError })[];
}

/** A model may be any function from messages of OpenAI's form to a turn. */
export type ModelFunction = (request: GenerateRequest<Loose>) => Promise<Partial<ModelTurn<Loose>>>;

const DEFAULT_TURNS = 10;

export function run(
  model: ModelFunction,
  tools: Toolbox,
  messages: readonly Loose[],
  options?: RunOptions,
): Promise<RunResult<Loose>>;
export function run<Message>(
  model: Model<Message>,
  tools: Toolbox,
  messages: readonly Message[],
  options?: RunOptions,
): Promise<RunResult<Message>>;
export async function run(
  model: ModelFunction | Model<Loose>,
  tools: Toolbox,
  messages: readonly Loose[],
  options: RunOptions = {},
): Promise<RunResult<Loose>> {
  const dialog = new Dialog(
    typeof model === 'function' ? fromFunction(model) : model,
    tools,
    messages,
    options,
  );
  return dialog.run();
}

class Dialog {
  readonly #model: Model<Loose>;
  readonly #tools: Toolbox;
  readonly #options: RunOptions;
  readonly #messages: Loose[];
  readonly #signal: AbortSignal;
  readonly #time: AbortSignal | undefined;
  #turns = 0;
  #calls = 0;
  #usage: Usage = { inputTokens: 0, outputTokens: 0 };
  #text = '';
  #approvals: RunResult<Loose>['approvals'] = [];

  constructor(model: Model<Loose>, tools: Toolbox, messages: readonly Loose[], options: RunOptions) {
    const { signal, limits: { timeMs } = {} } = options;
    this.#model = model;
    this.#tools = tools;
    this.#options = options;
    this.#messages = [...messages];
    this.#time = timeMs === undefined ? undefined : AbortSignal.timeout(timeMs);
    this.#signal = AbortSignal.any([signal, this.#time].filter((each) => each !== undefined));
  }

  async run(): Promise<RunResult<Loose>> {
    try {
      const listed = await this.#tools.as(this.#model.format, this.#signal);
      for (;;) {
        const reason = await this.#turn(listed);
        if (reason !== undefined) return this.#result(reason);
      }
    } catch (error) {
      // What the signal ends may be told in whatever words.
      if (!this.#signal.aborted) throw error;
      return this.#result(this.#time?.aborted === true ? 'time_limit' : 'cancelled');
    }
  }

  /** Undefined: go on. */
  async #turn(tools: unknown): Promise<StopReason | undefined> {
    const { turns = DEFAULT_TURNS } = this.#options.limits ?? {};
    if (this.#turns >= turns) return 'turn_limit';
    this.#signal.throwIfAborted();
    const turn = await this.#model.generate({ messages: this.#messages, tools, signal: this.#signal });
    this.#turns += 1;
    this.#text = turn.text;
    this.#count(turn.usage);
    this.#options.onTurn?.({ text: turn.text, calls: turn.calls });
    if (turn.calls.length === 0) {
      this.#messages.push(...turn.messages);
      return 'answered';
    }
    const answered = await this.#answer(turn.calls, this.#limitBefore(turn.calls.length));
    // Only together: a call without its answer is a message list that no provider takes.
    this.#messages.push(...turn.messages, ...this.#model.results(answered.calls));
    return answered.stopped;
  }

  /** What keeps the calls of a turn from being run. */
  #limitBefore(count: number): StopReason | undefined {
    const { tokens = Infinity, calls = Infinity } = this.#options.limits ?? {};
    if (this.#usage.inputTokens + this.#usage.outputTokens >= tokens) return 'token_limit';
    return this.#calls + count > calls ? 'call_limit' : undefined;
  }

  async #answer(
    calls: ModelTurn<Loose>['calls'],
    limit: StopReason | undefined,
  ): Promise<{ readonly calls: AnsweredCall[]; readonly stopped: StopReason | undefined }> {
    if (limit !== undefined) {
      const envelope = refused(
        'CANCELLED',
        limit.toUpperCase(),
        'The call was not run: the dialog has met its limit.',
      );
      return { calls: calls.map((call) => ({ call, envelope })), stopped: limit };
    }
    const { approvals = 'tell', onApproval, onAnswer } = this.#options;
    this.#calls += calls.length;
    const terms = {
      signal: this.#signal,
      ...(approvals === 'wait' && { waitForApproval: true, ...(onApproval && { onApproval }) }),
    };
    const answered = await Promise.all(
      calls.map(async (call) => {
        const each = { call, envelope: await callOf(this.#tools, call, terms) };
        onAnswer?.(each);
        return each;
      }),
    );
    if (approvals !== 'wait') this.#noteApprovals(answered);
    const stops = approvals === 'stop' && this.#approvals.length > 0;
    return { calls: answered, stopped: stops ? 'approval_required' : undefined };
  }

  #noteApprovals(answered: readonly AnsweredCall[]): void {
    this.#approvals = answered.flatMap((each) => {
      if (each.envelope.ok) return [];
      const asked = errorOfRefusal(each.envelope);
      return asked instanceof ConfirmationRequiredError ? [{ ...each, asked }] : [];
    });
    for (const { asked } of this.#approvals) this.#options.onApproval?.(asked);
  }

  #count(usage: Usage | undefined): void {
    const { inputTokens, outputTokens } = this.#usage;
    this.#usage = {
      inputTokens: inputTokens + (usage?.inputTokens ?? 0),
      outputTokens: outputTokens + (usage?.outputTokens ?? 0),
    };
  }

  #result(reason: StopReason): RunResult<Loose> {
    return {
      reason,
      text: this.#text,
      messages: this.#messages,
      turns: this.#turns,
      calls: this.#calls,
      usage: this.#usage,
      approvals: reason === 'approval_required' ? this.#approvals : [],
    };
  }
}

/** Its calls become a message of OpenAI's form, unless it gives messages itself. */
function fromFunction(model: ModelFunction): Model<Loose> {
  return {
    format: 'openai',
    results: (answered) => openai.results(answered),
    async generate(request) {
      const { text = '', calls = [], messages, usage } = await model(request);
      const toolCalls = calls.map(({ id, name, arguments: args = {} }) => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(args) },
      }));
      const own = { role: 'assistant', content: text, ...(calls.length > 0 && { tool_calls: toolCalls }) };
      return { text, calls, messages: messages ?? [own], usage };
    },
  };
}
