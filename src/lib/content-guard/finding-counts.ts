// What was found, for those who look after the rules: how often by which rule, and never a word of it.
import type { Rule, RuleSet } from './rules.ts';

export type Direction = 'arguments' | 'result';

/** Labels are bound once, at load. */
interface Counted {
  with(...labels: string[]): { add(amount?: number): void };
}

/** Counts what one function's rules found, and gives it as it stands in an audit note. */
export type CountFindings = (counts: ReadonlyMap<Rule, number>) => { [rule: string]: number };

export function findingCounts(
  counted: Counted,
  direction: Direction,
): (tool: string, rules: RuleSet) => CountFindings {
  return (tool, rules) => {
    const counters = new Map(
      Object.values(rules)
        .flat()
        .map((rule) => [rule, counted.with(tool, direction, rule.name, rule.action)] as const),
    );
    return (counts) => {
      const shown: { [rule: string]: number } = {};
      for (const [rule, count] of counts) {
        counters.get(rule)?.add(count);
        shown[rule.name] = (shown[rule.name] ?? 0) + count;
      }
      return shown;
    };
  };
}

/** For a log line: there, what stands behind a name such as `api_key` is hidden, whatever it is. */
export function foundIn(counts: { readonly [rule: string]: number }): readonly string[] {
  return Object.entries(counts).map(([rule, count]) => `${rule} ${count}`);
}
