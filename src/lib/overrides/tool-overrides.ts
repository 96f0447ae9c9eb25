// Overrides: what an operator says of tools that a loader makes of somebody else's words, by name or glob.
import { z } from 'zod';
import type { JsonObject } from '../json/json-value.ts';
import { globMatcher } from '../text/glob.ts';
import { rateLimit } from './limit-fields.ts';

export const permissionList = z.array(
  z.string().regex(/^\S+$/, { error: 'Expected a permission such as files:read.' }),
);

/** The words of declarations, which lib does not know. */
interface Words<Risk extends string, Mode extends string> {
  readonly riskLevels: readonly [Risk, ...Risk[]];
  readonly modes: readonly [Mode, ...Mode[]];
  /** What the names of an entry are matched with. */
  readonly matches: string;
}

/** The field `overrides` of a loader's entry. */
export function toolOverrides<Risk extends string, Mode extends string>(words: Words<Risk, Mode>) {
  const { riskLevels, modes, matches } = words;
  const override = z.strictObject({
    off: z.boolean().optional(),
    description: z.string().regex(/\S/, { error: 'Expected some text.' }).optional(),
    risk_level: z.enum(riskLevels).optional(),
    is_dangerous: z.boolean().optional(),
    requires_approval: z.boolean().optional(),
    read_only: z.boolean().optional(),
    idempotent: z.boolean().optional(),
    modes: z.array(z.enum(modes)).min(1).optional(),
    permissions: permissionList.optional(),
    timeout_ms: z.int().min(1).max(600_000).optional(),
    rate_limits: z.array(rateLimit).optional(),
  });
  return z
    .record(z.string().min(1).max(512), override)
    .default({})
    .describe(
      `What the operator knows of single tools: off, description, risk_level, is_dangerous, requires_approval, read_only, idempotent, modes, permissions, timeout_ms, rate_limits. By ${matches}; * stands for any characters. Where several fit, each field is of the last of them, and a name without a star goes before all globs.`,
    );
}

export type ToolOverride = z.output<ReturnType<typeof toolOverrides<string, string>>>[string];
export type ToolOverrides = { readonly [pattern: string]: ToolOverride };

/** `names`: what a tool may be called in an entry. */
export function overrideFor(overrides: ToolOverrides, names: readonly string[]): ToolOverride {
  const isGlob = (pattern: string) => /[*?]/.test(pattern);
  const fits = Object.keys(overrides).filter((pattern) => names.some(globMatcher([pattern])));
  const inOrder = [...fits.filter(isGlob), ...fits.filter((pattern) => !isGlob(pattern))];
  return Object.assign({}, ...inOrder.map((pattern) => overrides[pattern])) as ToolOverride;
}

/** Entries that fit none of the tools, each with its names: mistakes, most likely. */
export function unusedOverrides(
  overrides: ToolOverrides,
  tools: readonly (readonly string[])[],
): readonly string[] {
  return Object.keys(overrides).filter((pattern) => {
    const isNamed = globMatcher([pattern]);
    return !tools.some((names) => names.some(isNamed));
  });
}

/** What an override says, as parts of a declaration; `off` is for the loader. */
export function declaredBy({ off: _off, description, timeout_ms, rate_limits, ...metadata }: ToolOverride): {
  readonly fields: JsonObject;
  readonly metadata: JsonObject;
} {
  return {
    fields: said({ description, timeout_ms, rate_limits }),
    metadata: said(metadata),
  };
}

function said(fields: { readonly [name: string]: unknown }): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
}
