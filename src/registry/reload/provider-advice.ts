// What model providers refuse of the tools in force: found once for each tool, and placed where an operator wrote it.
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import { functionsOf, type ToolFunction } from '../../contract/tool/tool-function.ts';
import { Slices } from '../../lib/concurrency/in-slices.ts';
import type { CheckedTool, SpecRules } from '../spec-rules.ts';
import { type Fault, type Path } from '../../lib/faults/faults.ts';
import { problemOf } from '../checks/problem-of.ts';

export interface ProviderAdvice {
  readonly shown: readonly Problem[];
  /** How many more there are. */
  readonly more: number;
}

export const NO_ADVICE: ProviderAdvice = { shown: [], more: 0 };

const MOST_SHOWN = 100;

export class ProviderAdvisor {
  readonly #advise: SpecRules['advise'];
  /** A tool that stays as it is keeps its identity over reloads. */
  readonly #known = new WeakMap<CheckedTool, readonly Fault[]>();

  constructor({ advise }: Pick<SpecRules, 'advise'>) {
    this.#advise = advise;
  }

  async of(tools: readonly CheckedTool[]): Promise<ProviderAdvice> {
    const shown: Problem[] = [];
    let count = 0;
    const slices = new Slices();
    for (const checked of tools) {
      await slices.next();
      const faults = this.#faultsOf(checked);
      count += faults.length;
      for (const fault of faults.slice(0, MOST_SHOWN - shown.length))
        shown.push(problemOf(checked.declaration, checked.spec.name, fault));
    }
    return { shown, more: count - shown.length };
  }

  #faultsOf(checked: CheckedTool): readonly Fault[] {
    const advise = this.#advise;
    if (advise === undefined) return [];
    let faults = this.#known.get(checked);
    if (faults === undefined) {
      const functions = functionsOf(checked.spec).filter(({ byAction }) => byAction === undefined);
      faults = functions.flatMap((fn) =>
        advise(fn).map(({ path, message }) => ({ path: placeOf(fn, path), message })),
      );
      this.#known.set(checked, faults);
    }
    return faults;
  }
}

/** In the declaration; `path` starts from the function's input schema, or is its description. */
function placeOf({ action, spec }: ToolFunction, path: Path): Path {
  const [first, name, ...rest] = path;
  if (action === undefined)
    return first === 'description' && path.length === 1 ? path : ['input_schema', ...path];
  const at = ['actions', spec.actions?.indexOf(action) ?? 0];
  if (first === 'description' && path.length === 1) return [...at, 'description'];
  const parameter = action.parameters.findIndex((each) => each.name === name);
  return first === 'properties' && parameter >= 0 ? [...at, 'parameters', parameter, ...rest] : at;
}
