// Probes on the wire.
import { z } from 'zod';
import { json, route } from '../rest/route/route.ts';
import { named, object, oneOf, text } from '../rest/route/shapes.ts';

const TAG = 'health';

export const Part = named('Part', () =>
  z.object({
    kind: text('What it is in this gateway.').meta({ examples: ['embedded'] }),
    state: oneOf(['ok', 'degraded', 'away']).describe('`away`: nothing can be done with it now.'),
    effect: text('What it means for calls; left out where all is well.').optional(),
  }),
);

const Health = named('Health', () =>
  z.object({
    status: oneOf(['ok', 'degraded', 'unavailable']),
    reason: text('Why it takes no calls.').optional(),
    degraded: z
      .record(z.string(), z.string())
      .optional()
      .describe('What it does without now: a sentence for each component of `ute_degraded`.'),
    notes: z
      .record(z.string(), z.string())
      .optional()
      .describe('What the settings do without, as long as they are so: a sentence for each component.'),
    parts: z
      .record(z.string(), Part())
      .describe('database, redis, queue, sandbox, loaders, audit and doors.')
      .optional(),
    sandbox: object('What confines commands on this machine.').optional(),
    executors: object('What executors tell of themselves, by name.').optional(),
  }),
);

export const livez = route({
  operationId: 'livez',
  method: 'get',
  path: '/livez',
  tag: TAG,
  summary: 'Whether the process is alive',
  answers: { 200: json('Alive.', Health) },
});

export const readyz = route({
  operationId: 'readyz',
  method: 'get',
  path: '/readyz',
  tag: TAG,
  summary: 'Whether the process takes calls',
  answers: { 200: json('Ready, perhaps degraded.', Health), 503: json('Not ready, and why.', Health) },
});
