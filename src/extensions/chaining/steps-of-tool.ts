// Which steps a tool's calls are, and which of them its rules ask for. A step is a pattern of a rule: whatever tool it matches.
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { globMatcher } from '../../lib/text/glob.ts';
import type { ChainingOptions, ChainingRule } from './options.ts';

export interface StepsOfTool {
  /** That hold the tool back. */
  readonly rules: readonly ChainingRule[];
  /** All that these rules ask for. */
  readonly asked: readonly string[];
  /** What a call is, before it runs. */
  readonly called: readonly string[];
  /** What it is once it has succeeded. */
  readonly succeeded: readonly string[];
}

export const calledStep = (pattern: string) => `called ${pattern}`;
export const succeededStep = (pattern: string) => `succeeded ${pattern}`;

/** Undefined: no rule is about the tool. Throws Error where one is, and not about its canary. */
export function stepsOf(fn: ToolFunction, { rules }: ChainingOptions): StepsOfTool | undefined {
  refuseMissedByCanary(fn, rules);
  const { name, spec } = fn;
  const isNamed = (patterns: readonly string[]) => [name, spec.name].some(globMatcher(patterns));
  const own = rules.filter(({ tools }) => isNamed(tools));
  const of = (patterns: readonly string[]) => [...new Set(patterns)].filter((pattern) => isNamed([pattern]));
  const called = of(rules.flatMap(({ not_after: notAfter = [] }) => notAfter)).map(calledStep);
  const succeeded = of(rules.flatMap(({ after = [] }) => after)).map(succeededStep);
  if (own.length + called.length + succeeded.length === 0) return undefined;
  const asked = own.flatMap(({ after = [], not_after: notAfter = [] }) => [
    ...after.map(succeededStep),
    ...notAfter.map(calledStep),
  ]);
  return { rules: own, asked: [...new Set(asked)], called, succeeded };
}

/** A share of the calls would get round such a rule: those that the canary takes in the tool's place. */
function refuseMissedByCanary({ name, spec }: ToolFunction, rules: readonly ChainingRule[]): void {
  const canary = spec.canary?.tool;
  if (canary === undefined) return;
  const itsName = canary + name.slice(spec.name.length);
  for (const rule of rules)
    for (const pattern of [...rule.tools, ...(rule.after ?? []), ...(rule.not_after ?? [])]) {
      const isOf = globMatcher([pattern]);
      if ((isOf(name) || isOf(spec.name)) && !isOf(itsName) && !isOf(canary))
        throw new Error(
          `the chaining rule "${rule.name}" names ${pattern}, which is ${name} and not ${itsName}, its canary: let it match both`,
        );
    }
}
