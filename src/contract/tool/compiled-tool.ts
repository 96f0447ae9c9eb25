// CompiledTool: one function, compiled once at load: its chain for each phase of a call. In force, pinned or on trial alike.
import type { Next, PreparedFunction } from '../plugin.ts';
import type { ShownTo, ToolFunction } from './tool-function.ts';

export interface CompiledTool {
  readonly function: ToolFunction;
  /** A call that is executed at once: the whole tool stage, then the executor. */
  readonly run: Next;
  /** A call that is to run later: the extensions that have a say before it is accepted. */
  readonly admit: Next;
  /** A call that was admitted before: what is left of the tool stage, then the executor. */
  readonly resume: Next;
  /** A call that nobody makes: the extensions that tell how they would decide it. */
  readonly explain: Next;
  readonly isShownTo?: ShownTo;
}

/** Handed to the registry, which compiles what it loads. Both throw what an extension says is wrong with the tool. */
export interface ToolCompiler {
  compile(fn: ToolFunction, prepared: PreparedFunction): CompiledTool;
  /** The deprecated form of a tool with actions: each of its calls becomes one of these. */
  compileLegacy(fn: ToolFunction, actions: readonly CompiledTool[]): CompiledTool;
}
