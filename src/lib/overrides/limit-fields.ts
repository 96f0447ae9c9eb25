// The words of a limit on calls, wherever an operator writes one: in a declaration, and over what a loader brings.
import { z } from 'zod';
import { parseDuration } from '../text/duration.ts';

export const limitScope = z
  .enum(['tool', 'tenant', 'agent', 'user'])
  .default('tool')
  .describe('Whom it counts: everybody together (tool), or each tenant, agent or user apart.');

export const onStoreFailure = z
  .enum(['local', 'open', 'closed'])
  .optional()
  .describe(
    "Without Redis: local = the replica's share of the limit, open = no limit (only read_only tools), closed = no calls. Left out: local, and closed for unsafe tools.",
  );

export const rateLimit = z.strictObject({
  per: limitScope,
  rate: z.int().min(1).max(1_000_000_000).describe('Calls per period.'),
  period: z
    .string()
    .refine(
      (text) => parseDuration(text) !== undefined,
      'expected a duration such as 500ms, 10s, 1m, 1h or 1d',
    )
    .describe('Duration such as 500ms, 10s, 1m, 1h or 1d.'),
  burst: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .describe('Calls that may come at once. As rate when left out.'),
  on_store_failure: onStoreFailure,
  mode: z
    .enum(['enforce', 'shadow'])
    .default('enforce')
    .describe('shadow counts whom it would refuse and refuses nobody.'),
});
