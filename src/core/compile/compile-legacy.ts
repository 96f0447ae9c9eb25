// Compiles the deprecated form `execute(action, details)`: it has no chain of its own, but hands each call to the action's.
import type { Next } from '../../contract/plugin.ts';
import type { CompiledTool } from '../../contract/tool/compiled-tool.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { refusalOf } from '../settle.ts';
import { resolveLegacyAction } from './resolve-legacy-action.ts';

/** `actions`: of the same tool. Throws Error where one that the form stands for is not among them. */
export function compileLegacy(fn: ToolFunction, actions: readonly CompiledTool[]): CompiledTool {
  const { byAction = new Map<string, ToolFunction>() } = fn;
  const compiled = new Map(actions.map((each) => [each.function, each]));
  const toolOf = (target: ToolFunction): CompiledTool => {
    const tool = compiled.get(target);
    if (tool === undefined) throw new Error(`${target.name} is not compiled`);
    return tool;
  };
  for (const target of byAction.values()) toolOf(target);
  const as =
    (phase: 'run' | 'admit' | 'resume' | 'explain'): Next =>
    async (call) => {
      try {
        const typed = resolveLegacyAction(call, byAction);
        return await toolOf(typed.function)[phase](typed);
      } catch (error) {
        return refusalOf(call, error);
      }
    };
  return {
    function: fn,
    run: as('run'),
    admit: as('admit'),
    resume: as('resume'),
    explain: as('explain'),
    isShownTo: (viewer) => actions.some(({ isShownTo }) => isShownTo?.(viewer) !== false),
  };
}
