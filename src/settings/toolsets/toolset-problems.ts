// What toolsets of gateway.yaml say that is well-formed and still cannot be. Looks at the text's own values, so that these faults are
// told together with those of their form.
import { SEARCH_NAMES } from '../../contract/tool/toolset.ts';

export interface ToolsetProblem {
  readonly path: readonly string[];
  readonly message: string;
}

type Words = Readonly<Record<string, unknown>>;

export function toolsetProblems(toolsets: unknown): readonly ToolsetProblem[] {
  return Object.entries(asWords(toolsets)).flatMap(([name, said]) => {
    const { overrides, listing } = asWords(said);
    return problemsOf(asWords(overrides), listing === 'search').map(({ path, message }) => ({
      path: ['toolsets', name, 'overrides', ...path],
      message,
    }));
  });
}

function problemsOf(overrides: Words, isSearched: boolean): readonly ToolsetProblem[] {
  const taken = new Map<string, string>();
  const keeping = Object.entries(overrides).filter(([, said]) => asWords(said)['name'] === undefined);
  for (const [tool] of keeping) taken.set(tool, tool);
  return Object.entries(overrides).flatMap(([tool, said]) => {
    const { name, fixed, hidden } = asWords(said);
    return [...ofName(tool, name, taken, isSearched), ...ofParameters(tool, asWords(fixed), hidden)];
  });
}

function ofName(
  tool: string,
  name: unknown,
  taken: Map<string, string>,
  isSearched: boolean,
): readonly ToolsetProblem[] {
  if (typeof name !== 'string') return [];
  const path = [tool, 'name'];
  if (isSearched && SEARCH_NAMES.includes(name))
    return [{ path, message: `"${name}" is one of the tools that search this toolset: give another name` }];
  const other = taken.get(name);
  taken.set(name, tool);
  if (other === undefined || other === tool) return [];
  return [
    { path, message: `"${name}" is the name of ${other} here already: give each tool a name of its own` },
  ];
}

function ofParameters(tool: string, fixed: Words, hidden: unknown): readonly ToolsetProblem[] {
  if (!Array.isArray(hidden)) return [];
  return hidden.flatMap((name: unknown, index) => {
    const path = [tool, 'hidden', String(index)];
    if (typeof name !== 'string') return [];
    if (Object.hasOwn(fixed, name))
      return [
        { path, message: `"${name}" is fixed as well: say one of them, since what is fixed is hidden` },
      ];
    return [];
  });
}

function asWords(value: unknown): Words {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Words) : {};
}
