// The request headers of a call, as the document shows them.
import { z } from 'zod';

export const IdempotencyKey = () =>
  z
    .string('must be a string of 1 to 512 characters')
    .min(1)
    .max(512)
    .optional()
    .describe('The same key with the same call gives the same answer: the tool runs once.');

export const callHeaders = () =>
  z.object({
    'X-Request-Timeout-Ms': z
      .int()
      .min(1)
      .optional()
      .describe('How long the caller waits. The smallest of this and the limits of gateway and tool counts.'),
    'Idempotency-Key': IdempotencyKey(),
  });

export const preferHeader = () =>
  z
    .string()
    .optional()
    .describe(
      '`respond-async`: the call is checked and accepted now (202, `meta.status: accepted`, Location) and runs later.',
    )
    .meta({ examples: ['respond-async'] });
