// What a caller hears when a tool's own code throws: that it did, and nothing of what it said. That goes to the log.
import { ToolFailure } from './tool-failure.ts';

const MESSAGE =
  'The tool ended with an exception that it did not handle. Its operator finds the cause in the log, under the call id.';

/** A tool says what callers may read in an error of its own: `ToolError` in Python, a `type` of the closed list in JavaScript. */
export function exceptionFailure(cause: unknown): ToolFailure {
  return new ToolFailure('PERMANENT', MESSAGE, { origin: 'tool', reason: 'EXCEPTION', cause });
}
