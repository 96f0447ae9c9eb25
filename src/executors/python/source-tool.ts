// Tools whose Python stands in their declaration: run as it is there, in the sandbox, with nothing of it read from a file.
import { exceptionFailure, ToolFailure } from '../../contract/call/tool-failure.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { ProtocolViolation, readJson } from './worker/answer.ts';
import type { SandboxWish } from './settings.ts';

export const MOST_SOURCE_CHARS = 128 * 1024;

/** Throws a sentence for the operator. */
export function checkSourceTool({ action }: ToolFunction, sandbox: SandboxWish): void {
  if (action !== undefined)
    throw new Error('source: a tool with actions has no source: give each of them a tool of its own.');
  if (sandbox === 'off')
    throw new Error('a tool with `source` runs in the sandbox only, but executors.python.sandbox is off.');
}

/** Its last expression calls `execute`. The arguments are the text of one Python string, and become nothing else. */
export function sourceCall(source: string, args: JsonObject): string {
  // JSON writes a text as Python reads it.
  const text = JSON.stringify(JSON.stringify(args));
  return `${source}\n\n__import__('json').dumps(execute(**__import__('json').loads(${text})), allow_nan=False)\n`;
}

/** What `execute` returned. Throws ToolFailure. */
export function sourceResult(said: JsonValue): JsonValue {
  const { result = null, error = null } = isJsonObject(said) ? said : {};
  if (error !== null) throw exceptionFailure(error);
  if (typeof result !== 'string') throw exceptionFailure('the source ends in no call of execute');
  try {
    return readJson(Buffer.from(result));
  } catch (thrown) {
    if (thrown instanceof ToolFailure || !(thrown instanceof ProtocolViolation)) throw thrown;
    throw new ToolFailure(
      'OUTPUT_TOO_LARGE',
      'What the tool returned is larger, or nested deeper, than it may be.',
      {
        origin: 'tool',
        cause: thrown,
      },
    );
  }
}
