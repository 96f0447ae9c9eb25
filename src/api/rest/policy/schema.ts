// What policies would decide about a call, on the wire.
import { z } from 'zod';
import { VERSION_SOURCES } from '../../../contract/call/version-source.ts';
import { ErrorTypes } from '../execute/envelope.ts';
import { ToolContext } from '../execute/tool-context.ts';
import { json, route } from '../route/route.ts';
import { list, named, object, oneOf, shape, strictBody, text, textOf } from '../route/shapes.ts';

const LIKE = '{"tool": "transfer", "arguments": {…}, "context": {…}}';
const LONGEST_NAME = 256;

const PolicyQuestion = named('PolicyQuestion', () =>
  strictBody(LIKE, {
    tool: textOf(1, LONGEST_NAME).describe('As it would be called.'),
    arguments: object('As they would be sent.').optional(),
    context: ToolContext().optional(),
    key_id: textOf(1, LONGEST_NAME)
      .optional()
      .describe('Whose call it would be: a key of the same tenant. Left out: that of the key that asks.'),
  }),
);

const AskedRule = named('AskedPolicyRule', () =>
  z.object({
    rule: text('Its name.'),
    outcome: oneOf(['true', 'false', 'error', 'other tenants', 'not asked']).describe(
      '`other tenants`: it is not for the tenant of the caller. `not asked`: one before it decided.',
    ),
  }),
);

/** What the extension `policy` tells. */
export const PolicyDecision = shape(() =>
  z.object({
    decision: oneOf(['none', 'allow', 'deny', 'require_approval', 'cap', 'error', 'refused']).describe(
      '`none`: no rule is true. `error`: a rule could not be evaluated, which refuses the call. `refused`: the call would be refused before rules are asked, see `refusal`.',
    ),
    rule: text('The one that decided.').nullable(),
    message: text('What the rule tells a caller that it refuses.').optional(),
    timeout_ms: z.int().min(1).optional().describe('Of `cap`.'),
    error: text('Of `error`: of what kind it is. It holds no value of the call.').optional(),
    rules: list(AskedRule()).describe('All that are for the tool, in their order.'),
  }),
);

/** What the core tells of the version. */
export const ChosenVersion = named('ChosenVersion', () =>
  z.object({
    tool: text('The tool that would run; another one where a canary does.'),
    version: text('What its writer calls it; or as it was asked for, where it is gone.'),
    content_hash: text().nullable(),
    source: oneOf([...VERSION_SOURCES, 'current']).describe(
      'Why: `call` or `session` name it, it is assigned to the `user`, `agent` or `tenant`, it is the `canary`, or the one in force.',
    ),
  }),
);

export const PolicyExplanation = named('PolicyExplanation', () =>
  z.object({
    tool: text('As it was asked for.'),
    ...PolicyDecision().shape,
    version: ChosenVersion()
      .nullable()
      .describe('Null where the call would be refused before one is chosen.'),
    refusal: z
      .object({ type: ErrorTypes(), reason: text(), message: text(), details: object() })
      .nullable()
      .describe('What the caller would be told.'),
  }),
);

export const explainPolicy = route({
  operationId: 'explainPolicy',
  method: 'post',
  path: '/v1/policy/explain',
  tag: 'admin',
  summary: 'Which rule would decide about a call',
  description:
    'Credential, tool, mode, permissions and arguments are checked as for a call, then the rules are asked. Nothing runs, and no limit is used up.',
  body: { shape: PolicyQuestion, example: { tool: 'calculate_sum', arguments: { a: 1, b: 2 } } },
  answers: { 200: json('The decision, and the way to it.', PolicyExplanation) },
  problems: [400, 404],
});
