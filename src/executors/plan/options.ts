// What a tool of type plan may say: whether it proposes plans or takes them away, and the bounds of what is proposed.
import { z } from 'zod';
import { whole } from '../../lib/settings/whole.ts';

export const optionsSchema = z.strictObject({
  does: z
    .enum(['propose', 'withdraw'])
    .describe(
      'propose: makes a tool of the tenant out of the steps that the call names, once a human has approved it. withdraw: takes such a tool away.',
    ),
  max_steps: whole(1, 50).default(20).describe('Most steps of one plan, those of groups counted.'),
  max_plans: whole(1, 500).default(50).describe('Most plans that a tenant has at a time.'),
});

export type PlanOptions = z.output<typeof optionsSchema>;
