// Compiles what was built of one tool, for sets that are to be called: its extensions prepare their layers here.
import type { CompiledTool, ToolCompiler } from '../contract/tool/compiled-tool.ts';
import type { Built } from './build-tool.ts';

export interface Ready extends Built {
  /** Of the functions with the same index; none where there is a problem. */
  readonly tools: readonly CompiledTool[];
}

/** What an extension finds wrong with the tool is its problem. */
export function compileBuilt(built: Built, compiler: ToolCompiler): Ready {
  if (built.problem !== undefined) return { ...built, tools: [] };
  const { spec, declaration } = built.checked;
  const tools: CompiledTool[] = [];
  try {
    for (const [index, fn] of built.functions.entries()) {
      const prepared = built.prepared[index];
      // The legacy form comes last.
      tools.push(
        prepared === undefined ? compiler.compileLegacy(fn, [...tools]) : compiler.compile(fn, prepared),
      );
    }
    return { ...built, tools };
  } catch (error) {
    const path = 'extensions';
    const message = (error as Error).message;
    return {
      ...built,
      tools: [],
      problem: { ...declaration.locate([path]), tool: spec.name, path, message },
    };
  }
}
