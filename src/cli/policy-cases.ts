// The cases of `ute policy test`: calls in YAML, and what the rules should decide about each.
import { z } from 'zod';
import type { JsonObject } from '../contract/json.ts';
import type { Problem } from '../contract/tool/loaded-tools.ts';
import { didYouMean } from '../lib/text/did-you-mean.ts';
import { readSource, positionOf } from '../settings/settings-source.ts';

export const DECISIONS = ['none', 'allow', 'deny', 'require_approval', 'cap', 'error', 'refused'] as const;

const one = z.strictObject({
  name: z.string().min(1).max(200),
  tool: z.string().min(1),
  arguments: z.record(z.string(), z.json()).default({}),
  context: z.record(z.string(), z.union([z.string(), z.boolean()])).default({}),
  caller: z
    .strictObject({
      key: z.string().min(1).default('case'),
      tenant: z.string().min(1).default('default'),
      user: z.string().min(1).optional(),
      roles: z.array(z.string()).default(['agent']),
    })
    .prefault({}),
  expect: z.enum(DECISIONS),
  /** Of what was decided by a rule. */
  rule: z.string().optional(),
  /** Of what was refused before. */
  reason: z.string().optional(),
});
const casesFile = z.strictObject({ cases: z.array(one).min(1).max(10_000) });

export type PolicyCase = Omit<z.output<typeof one>, 'arguments'> & { readonly arguments: JsonObject };

export interface ReadCases {
  readonly cases: readonly PolicyCase[];
  readonly problems: readonly Problem[];
}

/** Everything that is wrong with the file, each with its place. */
export function readPolicyCases(file: string): ReadCases {
  const source = readSource(file, true);
  if (source.problems.length > 0) return { cases: [], problems: source.problems };
  const parsed = casesFile.safeParse(source.values);
  if (parsed.success) return { cases: parsed.data.cases, problems: [] };
  const problems = parsed.error.issues.flatMap((issue): readonly Problem[] => {
    const at = (path: readonly PropertyKey[], message: string) => {
      const names = path.map(String);
      return { ...positionOf(names, source, {}), path: names.join('.'), message };
    };
    if (issue.code !== 'unrecognized_keys') return [at(issue.path, issue.message)];
    return issue.keys.map((key) => at([...issue.path, key], unknownKey(key, issue.path.length)));
  });
  return { cases: [], problems };
}

function unknownKey(key: string, depth: number): string {
  const known = depth === 0 ? ['cases'] : Object.keys(depth === 2 ? one.shape : CALLER);
  const near = didYouMean(key, known);
  return `is not known here${near === undefined ? '' : `; did you mean "${near}"?`}`;
}

const CALLER = { key: '', tenant: '', user: '', roles: '' };
