// What gateway.yaml and a tool may say of policies, and what of it is wrong whatever the tool is.
import { z } from 'zod';
import { BOOL, DYN, listOf, mapOf, STRING, type CelType } from '../../lib/cel/cel-type.ts';
import { faultOfExpression, MAX_EXPRESSION_LENGTH } from '../../lib/cel/expression.ts';
import { whole } from '../../lib/settings/whole.ts';

const patterns = z.array(z.string().min(1).max(200)).min(1).max(100);

const rule = {
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_.-]{0,63}$/, 'expected lower-case letters, digits, ".", "_" and "-", 64 at most')
    .describe('Names the rule to callers it refuses, in the audit record and in the metrics.'),
  when: z
    .string()
    .min(1)
    .max(MAX_EXPRESSION_LENGTH)
    .default('true')
    .superRefine((text, context) => {
      const message = faultOfExpression(text, ANY_TOOL);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .describe(
      'A CEL expression over args, context, caller and tool. The rule decides where it is true. Left out: always.',
    ),
  decision: z
    .enum(['allow', 'deny', 'require_approval', 'cap'])
    .describe(
      'allow: no further rule is asked. deny: the call is refused. require_approval: a human has to approve it. cap: it may go on, with less time.',
    ),
  message: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe('What a caller is told that deny refuses. Left out: the name of the rule.'),
  timeout_ms: whole(1, 3_600_000)
    .optional()
    .describe('Of cap: the most time that the tool may take, counted from when the call came in.'),
};

const fitting = (
  value: { decision: string; timeout_ms?: number | undefined; message?: string | undefined },
  context: z.RefinementCtx,
) => {
  if ((value.decision === 'cap') !== (value.timeout_ms !== undefined))
    context.addIssue({
      code: 'custom',
      path: ['timeout_ms'],
      message: 'is for decision: cap, which needs it',
    });
  if (value.message !== undefined && value.decision !== 'deny')
    context.addIssue({
      code: 'custom',
      path: ['message'],
      message: 'is for decision: deny, the only one that refuses',
    });
};

const toolRule = z.strictObject(rule).superRefine(fitting);
const platformRule = z
  .strictObject({
    ...rule,
    tools: patterns
      .optional()
      .describe('Names of tools or functions; "*" stands for any characters. Left out: all.'),
    categories: patterns.optional().describe('metadata.category of the tools. Left out: all.'),
    tenants: patterns.optional().describe('Tenants of the callers. Left out: all.'),
  })
  .superRefine(fitting);

export const policyOptionsSchema = z.strictObject({
  rules: z
    .array(platformRule)
    .max(500)
    .default([])
    .superRefine(differentNames)
    .describe('In gateway.yaml alone: rules for all tools, in order. The first that is true decides.'),
  tool_rules: z
    .array(toolRule)
    .max(50)
    .default([])
    .superRefine(differentNames)
    .describe('In a tool’s declaration alone: rules of its own, asked after those of gateway.yaml.'),
});
export type PolicyOptions = z.infer<typeof policyOptionsSchema>;
export type PolicyRule = z.infer<typeof platformRule>;

/** Besides `args`, whose type is the tool's input_schema. */
export const VARIABLES: Readonly<Record<string, CelType>> = {
  context: mapOf({
    mode: STRING,
    agent_id: STRING,
    user_id: STRING,
    tenant_id: STRING,
    session_id: STRING,
    dry_run: BOOL,
  }),
  caller: mapOf({ id: STRING, tenant_id: STRING, user_id: STRING, roles: listOf(STRING) }),
  tool: mapOf({
    name: STRING,
    version: STRING,
    category: STRING,
    risk_level: STRING,
    read_only: BOOL,
    tags: listOf(STRING),
  }),
};

/** Whatever the tool takes: the names of its arguments are looked at when there is a tool. */
const ANY_TOOL: ReadonlyMap<string, CelType> = new Map([['args', DYN], ...Object.entries(VARIABLES)]);

function differentNames(rules: readonly { readonly name: string }[], context: z.RefinementCtx): void {
  for (const [index, { name }] of rules.entries()) {
    if (rules.findIndex((other) => other.name === name) === index) continue;
    context.addIssue({ code: 'custom', path: [index, 'name'], message: `there is a rule "${name}" already` });
  }
}
