// What gateway.yaml may say of the order in which a session calls tools.
import { z } from 'zod';
import { whole } from '../../lib/settings/whole.ts';

const patterns = (what: string) =>
  z.array(z.string().min(1).max(200)).min(1).max(20).describe(`${what} "*" stands for any characters.`);

const rule = z
  .strictObject({
    name: z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9_.-]{0,63}$/,
        'expected lower-case letters, digits, ".", "_" and "-", 64 at most',
      )
      .describe('Names the rule to callers it refuses, and in the metrics.'),
    tools: patterns('Names of the tools or functions that the rule holds back.'),
    after: patterns(
      'They run only where the session has called each of these with success; of a pattern, one that it matches.',
    ).optional(),
    within_ms: whole(1_000, 86_400_000)
      .optional()
      .describe('Of after: no longer ago than this. Left out: a day.'),
    not_after: patterns(
      'They are refused once the session has called one of these, whatever came of it.',
    ).optional(),
    message: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe('What a caller is told that is refused. Left out: what was to be called before.'),
  })
  .superRefine(({ after, not_after: notAfter, within_ms: withinMs }, context) => {
    if (after === undefined && notAfter === undefined)
      context.addIssue({ code: 'custom', path: ['after'], message: 'or not_after is needed' });
    if (withinMs !== undefined && after === undefined)
      context.addIssue({ code: 'custom', path: ['within_ms'], message: 'is for after, which is not said' });
  });

export const chainingOptionsSchema = z.strictObject({
  rules: z
    .array(rule)
    .max(100)
    .default([])
    .superRefine((rules, context) => {
      for (const [index, { name }] of rules.entries())
        if (rules.findIndex((other) => other.name === name) !== index)
          context.addIssue({
            code: 'custom',
            path: [index, 'name'],
            message: `there is a rule "${name}" already`,
          });
    })
    .describe('In gateway.yaml alone. All that are for a tool must let its call through.'),
});
export type ChainingOptions = z.infer<typeof chainingOptionsSchema>;
export type ChainingRule = ChainingOptions['rules'][number];
