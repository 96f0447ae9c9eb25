import { expect, it } from 'vitest';
import { patternWeightProblems } from './pattern-weight.ts';

const node = (pattern: string, path: string) => ({ schema: { pattern }, path }) as never;
const large = (index: number) => `^${'ab'.repeat(index + 1)}[a-z]{1,900}$`;

it('takes hundreds of patterns that people write', () => {
  const nodes = Array.from({ length: 300 }, (_, index) => node(`^[a-z]{2,8}-${index}$`, `/${index}`));
  expect(patternWeightProblems(nodes)).toEqual([]);
});

it('names the place from which on large ones are too many, once', () => {
  const nodes = Array.from({ length: 100 }, (_, index) => node(large(index), `/${index}`));
  const [problem, ...others] = patternWeightProblems(nodes);
  expect(others).toEqual([]);
  expect(problem?.message).toContain('too many large patterns');
  const at = Number(problem?.path.slice(1));
  expect(patternWeightProblems(nodes.slice(0, at))).toEqual([]);
});

it('counts one that stands in many places once, and what is no pattern not at all', () => {
  const same = Array.from({ length: 1_000 }, (_, index) => node(large(0), `/${index}`));
  expect(patternWeightProblems([...same, node('(', '/broken')])).toEqual([]);
});
