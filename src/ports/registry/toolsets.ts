// Toolsets: those in force, made of the tools in force. Answered from memory.
import type { CompiledTool } from '../../contract/tool/compiled-tool.ts';
import type { Toolset } from '../../contract/tool/toolset.ts';

export interface Toolsets {
  find(name: string): ToolsetInForce | undefined;
  /** Runs after each change of tools, kill switches or toolsets, once the toolsets are those of it. The returned function ends it. */
  onChange(listener: () => void): () => void;
}

export interface ToolsetInForce extends Toolset {
  readonly search?: { find(name: string): CompiledTool | undefined };
}
