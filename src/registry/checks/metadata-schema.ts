// What an operator may write under `metadata` of a tool.
import { z } from 'zod';
import { INTERACTION_MODES } from '../../contract/tool/tool-spec.ts';
import { icons } from './icons-schema.ts';

export const sentence = z.string().regex(/\S/, 'expected some text');

export const metadata = z.strictObject({
  version: z
    .string('expected a version in quotes such as "1.0.0"')
    .regex(/^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/, 'expected a version such as 1.0.0')
    .default('1.0.0')
    .describe('Semantic version of the tool.'),
  category: sentence
    .optional()
    .describe(
      'retrieval, action, utility, or a word of your own. Retrieval implies read_only and idempotent.',
    ),
  permissions: z
    .array(z.string().regex(/^\S+$/, 'expected a permission such as math:use'))
    .default([])
    .describe("What the caller's key must hold."),
  risk_level: z
    .enum(['low', 'medium', 'high', 'critical'])
    .default('low')
    .describe('High and critical make the tool unsafe.'),
  is_dangerous: z
    .boolean()
    .default(false)
    .describe('Makes the tool unsafe: it needs an approval, unless the policy says otherwise.'),
  requires_approval: z.boolean().optional().describe('A human must approve each call. False when left out.'),
  requiresConfirmation: z
    .boolean()
    .optional()
    .describe('The same as requires_approval, as older definitions spell it.')
    .meta({ deprecated: true }),
  read_only: z
    .boolean()
    .optional()
    .describe('Changes nothing. False when left out, true for the category retrieval.'),
  idempotent: z
    .boolean()
    .optional()
    .describe('May run again with the same arguments without a second effect: the condition for retries.'),
  modes: z
    .array(z.enum(INTERACTION_MODES))
    .min(1)
    .default(['voice', 'text'])
    .describe('Where the tool may be called. What serves voice serves live_call, too.'),
  tags: z.array(sentence).default([]).describe('For filtering lists.'),
  cost: z
    .number()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe('What one call costs, in a unit of your own: counted against budgets. Nothing when left out.'),
  legacy_execute: z
    .boolean()
    .optional()
    .describe('With actions: also answers to its own name with {action, details}, marked deprecated.'),
  title: z
    .string()
    .regex(/\S/, 'expected some text')
    .max(120)
    .optional()
    .describe(
      'What people are shown in place of the name, by clients of MCP. Left out: the title of the input schema.',
    ),
  icons: icons.optional().describe('Pictures that clients of MCP may show beside the tool.'),
  internal: z
    .boolean()
    .optional()
    .describe(
      'Called by other tools alone (composites, handlers): in no list, and not to be called from outside.',
    ),
  tenants: z
    .array(sentence.max(200))
    .min(1)
    .max(100)
    .optional()
    .describe('Of these tenants alone: to every other one there is no such tool. Left out: of all.'),
  summary: sentence.optional().describe('Two to four lines that are always in prompts.'),
  documentation: sentence.optional().describe('The full text, served on demand.'),
});
