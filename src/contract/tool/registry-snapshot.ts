// RegistrySnapshot: one set of tools as the registry publishes it, ready to be called.
import type { CompiledTool } from './compiled-tool.ts';
import type { ToolSet } from './tool-set.ts';

export interface RegistrySnapshot extends ToolSet {
  find(name: string): CompiledTool | undefined;
}
