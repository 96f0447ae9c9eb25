// Rules of gateway.yaml whose tools or categories are those of no tool: a misspelt name would leave a tool without its rule, in silence.
import type { OptionFault } from '../../contract/plugin.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolSet } from '../../contract/tool/tool-set.ts';
import { didYouMean } from '../../lib/text/did-you-mean.ts';
import { globMatcher } from '../../lib/text/glob.ts';
import type { PolicyOptions } from './options.ts';

interface Known {
  readonly tools: ReadonlySet<string>;
  readonly categories: ReadonlySet<string>;
}

const WILD = /[*?]/;
const WHAT = { tools: 'tool or function', categories: 'category' } as const;

/** Enough to see what is wrong: each of them was compared with every name. */
const MOST_FAULTS = 50;

/** Yields after each pattern. Paths start from the extension's options. The first of them, where there are many. */
export function* unmatchedRules({ rules }: PolicyOptions, set: ToolSet): Generator<void, OptionFault[]> {
  const known: Known = {
    tools: new Set(set.functions.flatMap(namesOf)),
    categories: new Set(set.specs.map(({ metadata }) => metadata.category ?? '')),
  };
  const faults: OptionFault[] = [];
  for (const [index, rule] of rules.entries()) {
    const { tools = [], categories = [] } = rule;
    const patterns = [
      ...tools.map((pattern, at) => ({ list: 'tools' as const, pattern, at })),
      ...categories.map((pattern, at) => ({ list: 'categories' as const, pattern, at })),
    ];
    for (const { list, pattern, at } of patterns) {
      yield;
      if (isOne(pattern, known[list])) continue;
      const message = `there is no ${WHAT[list]} "${pattern}", so the rule "${rule.name}" holds for none of that name`;
      faults.push({ path: ['rules', index, list, at], message: message + hintOf(pattern, known[list]) });
      if (faults.length === MOST_FAULTS) return faults;
    }
  }
  return faults;
}

function hintOf(pattern: string, known: ReadonlySet<string>): string {
  const near = WILD.test(pattern) ? undefined : didYouMean(pattern, known);
  return near === undefined ? '' : `; did you mean "${near}"?`;
}

function isOne(pattern: string, known: ReadonlySet<string>): boolean {
  if (!WILD.test(pattern)) return known.has(pattern);
  const isMatch = globMatcher([pattern]);
  for (const name of known) if (isMatch(name)) return true;
  return false;
}

/** Its tool's, and those of the tool that is on trial in its place. */
function namesOf({ name, spec }: ToolFunction): readonly string[] {
  const canary = spec.canary?.tool;
  const own = [name, spec.name];
  return canary === undefined ? own : [...own, canary, canary + name.slice(spec.name.length)];
}
