// What a framework gets from a tool: its data, or an error that the framework tells the model.
import { errorOfRefusal } from '../errors/gateway-error.ts';
import { fromValue } from '../loop/dialect.ts';
import { textOfAnswer, type Toolbox } from '../loop/toolbox.ts';

/** Thrown where a framework expects it: its message is what a model reads. */
export class ToolCallFailed extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'ToolCallFailed';
  }
}

export async function resultFor(
  tools: Toolbox,
  name: string,
  input: unknown,
  signal?: AbortSignal,
): Promise<unknown> {
  const { arguments: args, problem } = fromValue(input);
  if (args === undefined) throw new ToolCallFailed(problem ?? 'The arguments cannot be read.', undefined);
  const envelope = await tools.call(name, args, { signal });
  if (envelope.ok) return envelope.data;
  throw new ToolCallFailed(textOfAnswer(envelope), errorOfRefusal(envelope));
}
