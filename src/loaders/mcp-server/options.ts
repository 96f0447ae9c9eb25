// Options: what an entry `type: mcp-server` of gateway.yaml may say: about the tools, and about the server as a connection does.
import { z } from 'zod';
import { INTERACTION_MODES, RISK_LEVELS } from '../../contract/tool/tool-spec.ts';
import { permissionList, toolOverrides } from '../../lib/overrides/tool-overrides.ts';
import { parseDuration } from '../../lib/text/duration.ts';
import { mcpConnectionSchema } from '../../lib/mcp/mcp-connection.ts';

const globs = z.array(z.string().min(1).max(128));

const ownFields = {
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,32}$/, { error: 'Expected 1 to 32 letters, digits, "_" or "-".' })
    .describe('Name of the server: its connection, and the namespace of its tools.'),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{0,64}$/, { error: 'Expected at most 64 letters, digits, "_", "." or "-".' })
    .optional()
    .describe('Begins the name of every tool. The name and a dot when left out: files.read_file.'),
  include: globs
    .min(1)
    .optional()
    .describe('Only these tools, by the names the server gives them; * stands for any characters.'),
  exclude: globs.default([]).describe('Not these tools, even where include names them.'),
  pin: z
    .enum(['on_first_use', 'review'])
    .default('on_first_use')
    .describe(
      'What the first list of a server means: its definitions are agreed to, or all of them wait for an approval. ' +
        'Later ones wait in any case.',
    ),
  trust_annotations: z
    .boolean()
    .default(false)
    .describe(
      'Believe readOnlyHint and idempotentHint: such tools may be retried, and their answers cached. Without it, all that ' +
        'annotations decide is the risk.',
    ),
  unannotated_risk: z
    .enum(RISK_LEVELS)
    .default('high')
    .describe(
      'risk_level of tools that do not say whether they destroy anything. To the protocol they do; lower it for a server that you know.',
    ),
  required: z
    .boolean()
    .default(true)
    .describe(
      'A server that cannot be asked, and of which no definitions are kept, keeps the gateway from starting. ' +
        'false: it waits two seconds at most, starts without these tools, and they come when the server does.',
    ),
  refresh_interval: z
    .string()
    .refine((text) => (parseDuration(text) ?? 0) >= 1_000, {
      error: 'Expected a duration from 1s on, such as 5m.',
    })
    .default('5m')
    .describe('How often to ask the server for its list, besides whenever it says that it changed.'),
  permissions: permissionList.default([]).describe('What a caller must hold for any of these tools.'),
  tags: z.array(z.string().min(1)).default([]).describe('Tags of every tool.'),
  timeout_ms: z.int().min(1).max(600_000).optional().describe('timeout_ms of every tool.'),
  overrides: toolOverrides({
    riskLevels: RISK_LEVELS,
    modes: INTERACTION_MODES,
    matches: "the server's names of its tools",
  }),
};

/** The fields of a connection of type mcp, not looked at before their references are resolved. */
const { type: _type, ...connectionShape } = mcpConnectionSchema.shape;
const connectionFields = Object.fromEntries(
  Object.entries(connectionShape).map(([field, { description = '' }]) => [
    field,
    z.json().optional().describe(description),
  ]),
);
const concurrency = z
  .json()
  .optional()
  .describe('As with any connection: how many calls of all its tools run at once.');

export const optionsSchema = z
  .strictObject({ ...connectionFields, concurrency, ...ownFields })
  .transform((said) => {
    const own = Object.keys(ownFields);
    const connection = Object.entries(said).filter(
      ([field, value]) => !own.includes(field) && value !== undefined,
    );
    return {
      ...(said as OwnOptions),
      connection: Object.fromEntries(connection) as Record<string, z.core.util.JSONType>,
    };
  });

type OwnOptions = z.output<z.ZodObject<typeof ownFields>>;
export type McpServerOptions = z.output<typeof optionsSchema>;
