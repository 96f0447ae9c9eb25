// Rules: what is looked for, and what becomes of a text that has it. Read from the options of an extension, compiled once.
import { z } from 'zod';
import { BUILT_IN_NAMES, builtIn } from './built-in.ts';
import type { Detector } from './detector.ts';
import { patternDetector } from './pattern-detector.ts';
import { wordDetector } from './word-detector.ts';

export const MAX_PATTERN_LENGTH = 512;

const name = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,31}$/, 'must be lower-case letters, digits and _, with a letter first')
  .optional()
  .describe('What the rule is called in masks, errors and series.');

function ruleSchema<Action extends string>(actions: readonly [Action, ...Action[]]) {
  const action = z.enum(actions).describe('What becomes of a text in which it is found.');
  return z.union([
    z.strictObject({ detect: z.enum(BUILT_IN_NAMES).describe('A built-in detector.'), action }),
    z.strictObject({
      words: z
        .array(z.string().min(1).max(200))
        .min(1)
        .max(1_000)
        .describe('Whole words and phrases, in any case.'),
      name,
      action,
    }),
    z.strictObject({
      patterns: z
        .array(z.string().min(1).max(MAX_PATTERN_LENGTH))
        .min(1)
        .max(50)
        .describe('Regular expressions of RE2.'),
      name,
      action,
    }),
  ]);
}

const MAX_RULES = 32;

export const argumentRules = z
  .array(ruleSchema(['mask', 'refuse', 'ask']))
  .max(MAX_RULES)
  .default([]);
export const resultRules = z
  .array(ruleSchema(['mask', 'refuse']))
  .max(MAX_RULES)
  .default([]);

export type Action = 'mask' | 'refuse' | 'ask';
export type RuleOptions = z.infer<typeof argumentRules>[number];

export interface Rule {
  readonly name: string;
  readonly action: Action;
  readonly mask: string;
  readonly detectors: readonly Detector[];
}

export interface RuleFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** The rules of one direction, by what they do. */
export type RuleSet = { readonly [action in Action]: readonly Rule[] };

/** Of a tool that nobody checked. Throws Error with the first of `faultsOf`. */
export function checkedRules(extension: string, rules: readonly RuleOptions[]): RuleSet {
  const [fault] = faultsOf(rules);
  if (fault !== undefined)
    throw new Error(`extensions.${extension}.${fault.path.join('.')}: ${fault.message}`);
  return compileRules(rules);
}

/** Throws Error where a rule cannot be compiled: `faultsOf` says all that is wrong. */
export function compileRules(rules: readonly RuleOptions[]): RuleSet {
  const compiled = rules.map(compiledRule);
  const doing = (action: Action) => compiled.filter((rule) => rule.action === action);
  return { mask: doing('mask'), refuse: doing('refuse'), ask: doing('ask') };
}

function compiledRule(rule: RuleOptions): Rule {
  const known = nameOf(rule);
  return { name: known, action: rule.action, mask: `[${known}]`, detectors: detectorsOf(rule) };
}

export function faultsOf(rules: readonly RuleOptions[]): readonly RuleFault[] {
  const compiled: Rule[] = [];
  const faults: RuleFault[] = [];
  for (const [index, rule] of rules.entries()) {
    try {
      compiled.push(compiledRule(rule));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      faults.push({ path: ['rules', index], message: `cannot be used: ${message}` });
    }
  }
  const masks = compiled.filter(({ action }) => action === 'mask').map(({ mask }) => mask);
  for (const { name: finder, detectors } of compiled) {
    const mask = masks.find((each) => detectors.some((detector) => detector.find(each, 0, each.length)));
    if (mask === undefined) continue;
    faults.push({
      path: ['rules'],
      message: `the rule "${finder}" finds the mask ${mask}: give that rule another name`,
    });
  }
  return faults;
}

function nameOf(rule: RuleOptions): string {
  if ('detect' in rule) return rule.detect;
  return rule.name ?? ('words' in rule ? 'words' : 'pattern');
}

function detectorsOf(rule: RuleOptions): readonly Detector[] {
  if ('detect' in rule) return [builtIn(rule.detect)];
  if ('words' in rule) return [wordDetector(rule.words)];
  return rule.patterns.map((pattern) => patternDetector(pattern));
}
