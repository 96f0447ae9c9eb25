// What an operator may write under `routes` of a tool.
import { z } from 'zod';
import { ROUTE_METHODS } from '../../../contract/tool/tool-route.ts';

const deprecated = z.strictObject({
  since: z.iso.date('expected a date such as 2026-01-31').describe('Since when, for the header Deprecation.'),
  successor: z
    .string()
    .regex(/^\/[A-Za-z0-9._~/{}-]*$/, 'expected a path that begins with "/"')
    .max(200)
    .optional()
    .describe('Where to go instead, for the header Link. Left out: the path that every tool has.'),
});

export const routes = z
  .array(
    z.strictObject({
      method: z.enum(ROUTE_METHODS).describe('GET is for tools that are read_only.'),
      path: z
        .string()
        .min(2)
        .describe(
          'Such as /orders/{id}: what stands in braces is an argument. None of the gateway’s own paths.',
        ),
      answer: z
        .enum(['envelope', 'data'])
        .default('envelope')
        .describe(
          'envelope: as every call. data: the data of a success alone, and an error as application/problem+json.',
        ),
      deprecated: deprecated.optional().describe('Answers say that callers should go elsewhere.'),
    }),
  )
  .min(1)
  .max(8)
  .optional()
  .describe('Paths of REST that the tool is served at besides its own, with all that holds for its calls.');
