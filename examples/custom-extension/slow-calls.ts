// slow-calls: notes calls that took long, and calls that failed. An extension as a class with hooks, with a priority.
import type {
  ExtensionModule,
  HookMethods,
  Log,
  ToolCall,
  ToolRefusal,
  ToolResponse,
} from 'unified-tool-executor/plugin';

interface Limit {
  readonly longer_than_ms: number;
}

class SlowCalls implements HookMethods<Limit> {
  // What it notes is worth less than the call: a defect of it stops nothing.
  readonly onFailure = 'continue';
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** May return a changed copy of the call, or throw a ToolFailure to refuse it. */
  before_execute(call: ToolCall): ToolCall {
    return { ...call, context: { ...call.context, turnId: call.context.turnId ?? call.id } };
  }

  /** Sees every answer, refusals too; may return another one. */
  after_execute(call: ToolCall, response: ToolResponse, { longer_than_ms: limitMs }: Limit): void {
    const { tool, durationMs } = response.meta;
    if (durationMs > limitMs) this.#log.warn({ callId: call.id, tool, durationMs }, 'a call took long');
  }

  /** Sees refusals only, before after_execute. */
  on_error(call: ToolCall, { error }: ToolRefusal): void {
    this.#log.info({ callId: call.id, type: error.type, reason: error.reason }, 'a call did not succeed');
  }
}

export const plugin: ExtensionModule<Limit, ['log']> = ({ z }) => ({
  name: 'slow-calls',
  summary: 'Notes calls that took long, and calls that failed.',
  // Among the extensions of one's own, higher is further out; gateway.yaml may say otherwise.
  priority: 10,
  optionsSchema: z.strictObject({ longer_than_ms: z.number().min(0).default(1000) }),
  needs: ['log'],
  create: ({ log }) => new SlowCalls(log),
});
