// Options: what an entry `type: postgres` of gateway.yaml may say.
import { z } from 'zod';
import { parseDuration } from '../../lib/text/duration.ts';

const SHORTEST_INTERVAL_MS = 500;
const LONGEST_INTERVAL_MS = 3_600_000;
const NAME = /^(?:\*|[A-Za-z0-9_.-]{1,128})$/;

const interval = z.string().transform((text, context): number => {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= SHORTEST_INTERVAL_MS && ms <= LONGEST_INTERVAL_MS) return ms;
  context.addIssue({ code: 'custom', message: `Expected a duration from 500ms to 1h; found "${text}".` });
  return z.NEVER;
});

export const optionsSchema = z.strictObject({
  interval: interval
    .prefault('5s')
    .describe('Longest time between two looks for changes, from 500ms to 1h; each comes a little earlier.'),
  max_tools: z.int().min(1).max(10_000).default(1_000).describe('More tools than this are not taken.'),
  tool_types: z
    .array(z.string().min(1))
    .min(1)
    .default(['http', 'composite'])
    .describe(
      'What its tools may be. With javascript, python or shell, whoever holds specs:write runs code on this machine.',
    ),
  connections: z
    .array(z.string().regex(NAME, 'Expected the name of a connection, or "*" for all.'))
    .default([])
    .describe(
      "Connections of other loaders that its tools may use, and with them this gateway's credentials; * for all.",
    ),
});

export type PostgresLoaderOptions = z.output<typeof optionsSchema>;
