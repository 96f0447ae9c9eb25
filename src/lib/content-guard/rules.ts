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
  .describe('What a rule of words or patterns is called in masks, errors and series.');

/** Told where it stands, and not when the first tool is loaded. */
const usable = (detector: (text: string) => unknown) => (text: string, context: z.RefinementCtx) => {
  // That it is empty is told already.
  if (text === '') return;
  try {
    detector(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    context.addIssue({ code: 'custom', message: `cannot be used: ${message}`, continue: false });
  }
};

const LOOKED_FOR = ['detect', 'words', 'patterns'] as const;

function ruleSchema<Action extends string>(actions: readonly [Action, ...Action[]]) {
  return z
    .strictObject({
      detect: z
        .enum(BUILT_IN_NAMES)
        .optional()
        .describe('A built-in detector. A rule has one of `detect`, `words` and `patterns`.'),
      words: z
        .array(
          z
            .string()
            .min(1)
            .max(200)
            .superRefine(usable((word) => wordDetector([word]))),
        )
        .min(1)
        .max(1_000)
        .optional()
        .describe('Whole words and phrases, in any case.'),
      patterns: z
        .array(
          z
            .string()
            .min(1)
            .max(MAX_PATTERN_LENGTH)
            .superRefine(usable((pattern) => patternDetector(pattern))),
        )
        .min(1)
        .max(50)
        .optional()
        .describe('Regular expressions of RE2.'),
      name,
      action: z.enum(actions).describe('What becomes of a text in which it is found.'),
    })
    .superRefine((rule, context) => {
      const said = LOOKED_FOR.filter((each) => rule[each] !== undefined);
      if (said.length !== 1)
        context.addIssue({
          code: 'custom',
          message: `must have one of detect, words and patterns, found ${said.join(' and ') || 'none of them'}`,
          continue: false,
        });
      if (rule.detect !== undefined && rule.name !== undefined)
        context.addIssue({
          code: 'custom',
          path: ['name'],
          message: 'is for words and patterns: a built-in detector has its own',
        });
    });
}

const MAX_RULES = 32;

const argumentRule = ruleSchema(['mask', 'refuse', 'ask']);
export const argumentRules = z.array(argumentRule).max(MAX_RULES).superRefine(refuseFoundMasks).default([]);
export const resultRules = z
  .array(ruleSchema(['mask', 'refuse']))
  .max(MAX_RULES)
  .superRefine(refuseFoundMasks)
  .default([]);

export type Action = 'mask' | 'refuse' | 'ask';
export type RuleOptions = z.infer<typeof argumentRule>;

export interface Rule {
  readonly name: string;
  readonly action: Action;
  readonly mask: string;
  readonly detectors: readonly Detector[];
}

/** The rules of one direction, by what they do. */
export type RuleSet = { readonly [action in Action]: readonly Rule[] };

/** Of options that the schema has let through. */
export function compileRules(rules: readonly RuleOptions[]): RuleSet {
  const compiled = rules.map(compiledRule);
  const doing = (action: Action) => compiled.filter((rule) => rule.action === action);
  return { mask: doing('mask'), refuse: doing('refuse'), ask: doing('ask') };
}

function compiledRule(rule: RuleOptions): Rule {
  const known = nameOf(rule);
  return { name: known, action: rule.action, mask: `[${known}]`, detectors: detectorsOf(rule) };
}

/** What has been masked is looked through again: a rule that finds a mask would find it in every text. */
function refuseFoundMasks(rules: readonly RuleOptions[], context: z.RefinementCtx): void {
  const compiled = rules.map(compiledRule);
  const masks = compiled.filter(({ action }) => action === 'mask').map(({ mask }) => mask);
  for (const [index, { name: finder, detectors }] of compiled.entries()) {
    const mask = masks.find((each) => detectors.some((detector) => detector.find(each, 0, each.length)));
    if (mask === undefined) continue;
    const message = `the rule "${finder}" finds the mask ${mask}: give that rule another name`;
    context.addIssue({ code: 'custom', path: [index], message });
  }
}

function nameOf({ detect, name: own, words }: RuleOptions): string {
  return detect ?? own ?? (words === undefined ? 'pattern' : 'words');
}

/** One of the three, by the schema. */
function detectorsOf({ detect, words, patterns = [] }: RuleOptions): readonly Detector[] {
  if (detect !== undefined) return [builtIn(detect)];
  if (words !== undefined) return [wordDetector(words)];
  return patterns.map((pattern) => patternDetector(pattern));
}
