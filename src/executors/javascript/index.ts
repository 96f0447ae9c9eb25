// The javascript executor: a tool is an exported function of an operator's own module, run in this process.
import { z } from 'zod';
import type { JsonObject } from '../../contract/json.ts';
import type { Executor, ExecutorPlugin, ExecutorTarget, PreparedFunction } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/tool-call.ts';
import type { ToolFunction } from '../../contract/tool-function.ts';
import type { ToolResult } from '../../contract/tool-response.ts';
import type { Log } from '../../ports/log.ts';
import { HandlerContext } from './handler-context.ts';
import { loadHandler, type HandlerModule } from './load-handler.ts';
import { failureOfThrown, readReturned } from './read-outcome.ts';

const optionsSchema = z.strictObject({
  handler: z
    .string()
    .min(1)
    .describe('Path of an ES module (.js or .mjs), from the folder of the definition.'),
  export: z
    .string()
    .min(1)
    .optional()
    .describe('Name of the exported function; the action\'s name or "execute" when left out.'),
  trusted: z.literal(true, {
    error:
      'Handlers run inside the gateway process: say trusted: true (worker threads for untrusted ones are not in this version).',
  }),
});

export type JsOptions = z.output<typeof optionsSchema>;

type Handler = (args: JsonObject, context: HandlerContext) => unknown;

export const javascriptExecutor: ExecutorPlugin<JsOptions, { log: Log }> = {
  name: 'javascript',
  summary: 'Calls a function of an ES module inside the gateway process; for trusted code only.',
  optionsSchema,
  create: ({ log }) => new JavascriptExecutor(log),
};

class JavascriptExecutor implements Executor<JsOptions> {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  async prepare({ function: fn, options }: ExecutorTarget<JsOptions>): Promise<PreparedFunction> {
    const handler = handlerOf(await loadHandler(options.handler, fn.spec.baseDir), options, fn);
    return { execute: (call, emit) => run(handler, call, new HandlerContext(call, fn, emit, this.#log)) };
  }
}

async function run(handler: Handler, call: ToolCall, context: HandlerContext): Promise<ToolResult> {
  let returned: unknown;
  try {
    returned = await handler(copyOf(call.arguments), context);
  } catch (thrown) {
    // A handler that gave up because its call did: the call's own reason says it better.
    throw call.signal.aborted ? call.signal.reason : failureOfThrown(thrown);
  }
  return readReturned(returned);
}

/** A handler may change its arguments; a retry, the audit and the cache key must not see that. */
function copyOf(args: JsonObject): JsonObject {
  const copy = { ...args };
  for (const [name, value] of Object.entries(copy)) {
    if (typeof value === 'object' && value !== null) copy[name] = structuredClone(value);
  }
  return copy;
}

function handlerOf(module: HandlerModule, options: JsOptions, { action }: ToolFunction): Handler {
  const byDefault = action === undefined ? ['execute'] : [action.name, 'execute'];
  const names = options.export === undefined ? byDefault : [options.export];
  for (const name of names) {
    const exported = Object.hasOwn(module, name) ? module[name] : undefined;
    if (typeof exported === 'function') return exported as Handler;
  }
  throw new Error(
    `handler: ${options.handler} exports no function named ${names.join(' or ')}; it exports ${listOf(module)}.`,
  );
}

function listOf(module: HandlerModule): string {
  return Object.keys(module).join(', ') || 'nothing';
}
