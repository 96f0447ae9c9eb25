// Options: what an entry `type: grpc` of gateway.yaml may say: about the tools, and about the upstream as a connection does.
import { z } from 'zod';
import { INTERACTION_MODES, RISK_LEVELS } from '../../contract/tool/tool-spec.ts';
import { descriptionFields, upstreamFields } from '../../lib/grpc/grpc-connection.ts';
import { permissionList, toolOverrides } from '../../lib/overrides/tool-overrides.ts';
import { whole } from '../../lib/settings/whole.ts';
import { parseDuration } from '../../lib/text/duration.ts';

const globs = z.array(z.string().min(1).max(512));

const ownFields = {
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,32}$/, { error: 'Expected 1 to 32 letters, digits, "_" or "-".' })
    .describe('Name of the upstream: its connection, and the namespace of its tools.'),
  ...descriptionFields,
  reflection: z
    .boolean()
    .default(false)
    .describe('true asks the upstream itself for what describes it: server reflection v1, or v1alpha.'),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{0,64}$/, { error: 'Expected at most 64 letters, digits, "_", "." or "-".' })
    .optional()
    .describe('Begins the name of every tool. The name and a dot when left out: orders.OrderService_Get.'),
  tool_name: z
    .string()
    .regex(/^(?:[A-Za-z0-9_.-]|\{(?:package|service|method)\})+$/, {
      error: 'Expected letters, digits, "_", "." and "-" around {package}, {service} and {method}.',
    })
    .default('{service}_{method}')
    .describe('What follows the prefix: text with {package}, {service} and {method}.'),
  services: globs
    .min(1)
    .optional()
    .describe('Only these services, by full name; * stands for any characters: shop.v1.*.'),
  include: globs
    .min(1)
    .optional()
    .describe('Only these methods, as package.Service/Method; * stands for any characters.'),
  exclude: globs
    .default(['grpc.reflection.*', 'grpc.health.*'])
    .describe('Not these methods, even where include names them.'),
  risk_level: z
    .enum(RISK_LEVELS)
    .default('medium')
    .describe('risk_level of methods that are not marked NO_SIDE_EFFECTS: nothing says what they do.'),
  max_messages: whole(1, 100_000)
    .optional()
    .describe('max_messages of every streaming tool; 1000 when left out.'),
  max_response_bytes: whole(1, 64 << 20)
    .optional()
    .describe('max_response_bytes of every tool; 4 MiB when left out.'),
  defaults: z.enum(['show', 'omit']).optional().describe('defaults of every tool; show when left out.'),
  required: z
    .boolean()
    .default(true)
    .describe(
      'With reflection: an upstream that cannot be asked keeps the gateway from starting. false: its tools come when it does.',
    ),
  refresh_interval: z
    .string()
    .refine((text) => (parseDuration(text) ?? 0) >= 1_000, {
      error: 'Expected a duration from 1s on, such as 5m.',
    })
    .default('5m')
    .describe('With reflection: how often the upstream is asked anew.'),
  strict: z
    .boolean()
    .default(false)
    .describe('Refuse all of it for one method that cannot be a tool, instead of leaving that out.'),
  permissions: permissionList.default([]).describe('What a caller must hold for any of these tools.'),
  tags: z.array(z.string().min(1)).default([]).describe('Tags of every tool.'),
  timeout_ms: z.int().min(1).max(600_000).optional().describe('timeout_ms of every tool.'),
  overrides: toolOverrides({
    riskLevels: RISK_LEVELS,
    modes: INTERACTION_MODES,
    matches: 'the name of the tool, or package.Service/Method',
  }),
};

/** The fields of an upstream, not looked at before their references are resolved. */
const rawUpstreamFields = Object.fromEntries(
  Object.entries(upstreamFields).map(([field, { description = '' }]) => [
    field,
    z.json().optional().describe(description),
  ]),
);
const concurrency = z
  .json()
  .optional()
  .describe('As with any connection: how many calls of all its tools run at once.');

export const optionsSchema = z
  .strictObject({ ...rawUpstreamFields, concurrency, ...ownFields })
  .superRefine((said, context) => {
    const { protos, descriptor_set: set, reflection, import_paths: paths } = said as OwnOptions;
    const ways = [protos !== undefined, set !== undefined, reflection].filter(Boolean);
    if (ways.length !== 1)
      context.addIssue({
        code: 'custom',
        path: ['reflection'],
        message:
          'Expected one of protos, descriptor_set and reflection: true, which say what the upstream offers.',
      });
    if (paths !== undefined && protos === undefined)
      context.addIssue({
        code: 'custom',
        path: ['import_paths'],
        message: '"import_paths" goes with protos.',
      });
  })
  .transform((said) => {
    const own = Object.keys(ownFields);
    const upstream = Object.entries(said).filter(
      ([field, value]) => !own.includes(field) && value !== undefined,
    );
    return {
      ...(said as OwnOptions),
      upstream: Object.fromEntries(upstream) as Record<string, z.core.util.JSONType>,
    };
  });

type OwnOptions = z.output<z.ZodObject<typeof ownFields>>;
export type GrpcLoaderOptions = z.output<typeof optionsSchema>;
