// What runs when a function is called: more than its declaration's text, and what a human agrees to when approving a call.
import type { KnownTools, ToolFunction } from './tool-function.ts';

export async function whatRuns(fn: ToolFunction, tools: KnownTools): Promise<string | undefined> {
  return fn.whatRuns === undefined ? fn.spec.contentHash : fn.whatRuns(tools);
}
