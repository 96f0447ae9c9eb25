// What a tool's declaration may say about a tool on trial in its place.
import { z } from 'zod';

export const canarySchema = z.strictObject({
  tool: z
    .string()
    .min(1)
    .max(128)
    .describe(
      'Name of the tool on trial, with the same arguments, actions and permissions. It is not listed.',
    ),
  percent: z
    .number()
    .min(0)
    .max(100)
    .describe('Of the tenants or agents, always the same ones. 0 switches it off.'),
  by: z.enum(['tenant', 'agent']).default('tenant').describe('Whose calls go together.'),
});
