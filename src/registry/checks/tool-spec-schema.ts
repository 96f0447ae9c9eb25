// What an operator may write for one tool: shapes, bounds, defaults and the words that the reference page shows.
import { z } from 'zod';
import { limitScope, onStoreFailure, rateLimit } from '../../lib/overrides/limit-fields.ts';
import { canarySchema } from './canary-schema.ts';
import { authFields } from './agents/auth-fields.ts';
import { metadata, sentence } from './metadata-schema.ts';
import { routes } from './routes/route-schema.ts';

const name = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,128}$/, 'expected 1 to 128 letters, digits, "_", "." or "-"')
  .describe('What agents call.');
const jsonSchema = z.record(z.string(), z.unknown());
const milliseconds = (most: number) => z.int().min(0).max(most);
const retries = z.strictObject({
  max_attempts: z.int().min(1).max(10).describe('Attempts in all, the first included.'),
  base_delay_ms: milliseconds(600_000)
    .default(100)
    .describe('Delay before the second attempt; it doubles from there, with jitter.'),
  max_delay_ms: milliseconds(600_000).default(10_000).describe('Longest delay between two attempts.'),
});

const slots = {
  limit: z.int().min(1).max(100_000).describe('Calls that run at the same time.'),
  max_queue: z
    .int()
    .min(0)
    .max(100_000)
    .default(100)
    .describe('Calls that may wait for a free slot; one more is refused at once.'),
  max_wait_ms: milliseconds(600_000)
    .optional()
    .describe('Longest wait for a slot. As timeout_ms when left out.'),
};

const concurrency = z.strictObject({
  ...slots,
  per: limitScope,
  on_store_failure: onStoreFailure,
  on_lease_lost: z
    .enum(['cancel', 'continue'])
    .optional()
    .describe(
      'What becomes of a running call whose slot another may have got. Left out: continue for read_only tools, else cancel.',
    ),
});

/** What a connection may say, whatever its type: it counts the calls of all tools over it. */
export const connectionLimitSchema = z
  .strictObject(slots)
  .describe('How many calls of all tools together run over this connection.');

const PARAMETER_TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object', 'datetime'] as const;

const parameter = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,64}$/, 'expected 1 to 64 letters, digits, "_", "." or "-"')
    .describe('Name of the argument.'),
  type: z.enum(PARAMETER_TYPES).describe('datetime is ISO 8601 with a time zone.'),
  description: sentence.optional().describe('What it does, for the agent.'),
  required: z.boolean().default(false).describe('The call is refused without it.'),
  default: z.unknown().optional().describe('Stands in when the argument is left out.'),
  default_from_config: sentence
    .optional()
    .describe('Field of config_schema whose value for the agent stands in, before the default does.'),
  items: jsonSchema.optional().describe('JSON Schema of what an array holds. Anything when left out.'),
  properties: z
    .record(z.string(), jsonSchema)
    .optional()
    .describe('JSON Schemas of the members of an object, by name.'),
  required_properties: z.array(z.string()).optional().describe('Members that an object must have.'),
  enum: z.array(z.unknown()).min(1).optional().describe('The only values allowed.'),
  min_value: z.number().optional().describe('Least value of an integer or number.'),
  max_value: z.number().optional().describe('Greatest value of an integer or number.'),
});

const action = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'expected 1 to 64 letters, digits, "_" or "-"')
    .describe('Called by agents as tool.action.'),
  description: sentence.describe('What it does, for the agent.'),
  parameters: z.array(parameter).default([]).describe('Its arguments, in order.'),
  returns: sentence.optional().describe('What it returns, for the agent.'),
});

export const toolDeclarationSchema = z.strictObject({
  name,
  description: sentence.describe('What the tool does, for the agent.'),
  tool_type: sentence.describe('The executor that runs it.'),
  input_schema: jsonSchema
    .optional()
    .describe('JSON Schema of the arguments, an object. Any object when left out. Not with actions.'),
  output_schema: jsonSchema
    .optional()
    .describe('JSON Schema that results are checked against. Not with actions.'),
  actions: z
    .array(action)
    .min(1)
    .optional()
    .describe('Several functions of one tool, instead of input_schema.'),
  implementation_config: z
    .record(z.string(), z.unknown())
    .prefault({})
    .describe('What the executor needs to run the tool.'),
  metadata: metadata
    .prefault({})
    .describe('What the tool is: its risk, effects, permissions and documentation.'),
  timeout_ms: z
    .int()
    .min(1)
    .max(600_000)
    .default(30_000)
    .describe('Longest time one call may take, retries included.'),
  priority: z
    .enum(['low', 'normal', 'high'])
    .optional()
    .describe(
      'When the gateway has too much to do, calls of low priority are refused first, of high priority last. Normal when left out.',
    ),
  retries: retries
    .optional()
    .describe('Left out: one attempt. Only for tools that are read_only or idempotent.'),
  concurrency: z
    .union([concurrency, z.array(concurrency).min(1).max(4)])
    .optional()
    .describe('How many calls run at the same time: one limit, or a list of them, each with another per.'),
  rate_limits: z.array(rateLimit).default([]).describe('All of them must allow a call.'),
  max_result_bytes: z
    .int()
    .min(256)
    .max(16_777_216)
    .optional()
    .describe('Most bytes of JSON in one answer; a longer list is cut at whole items, see meta.truncated.'),
  max_result_items: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe('Most items of the list in one answer. The rest can be asked for by meta.truncated.cursor.'),
  extensions: z
    .record(z.string(), z.record(z.string(), z.unknown()))
    .default({})
    .describe('Options by extension, over those of gateway.yaml.'),
  config_schema: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      'JSON Schema, or a map of properties, of what may be set per agent. Properties with x-ute-sensitive: true are kept encrypted.',
    ),
  ...authFields,
  routes,
  canary: canarySchema.optional().describe('Gives a share of the callers a new version on trial.'),
});

export type ToolDeclaration = z.output<typeof toolDeclarationSchema>;
export type ActionDeclaration = z.output<typeof action>;
export type ParameterDeclaration = z.output<typeof parameter>;
