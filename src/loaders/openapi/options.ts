// Options: what an entry `type: openapi` of gateway.yaml may say.
import { z } from 'zod';
import { INTERACTION_MODES, RISK_LEVELS } from '../../contract/tool/tool-spec.ts';
import {
  egressFields,
  egressOf,
  fileHostFields,
  portProblem,
  type EgressFields,
} from '../../lib/egress/egress.ts';
import { toolOverrides } from '../../lib/overrides/tool-overrides.ts';

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

const MIB = 1024 * 1024;

const webUrl = z.string().superRefine((text, context) => {
  const message = webUrlProblem(text);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

const remote = z.strictObject({
  url: webUrl.describe('Where the document is fetched from; redirects are not followed.'),
  allow_ports: egressFields.allow_ports,
  allow_private: egressFields.allow_private,
  refresh_ms: z
    .int()
    .min(10_000)
    .max(86_400_000)
    .optional()
    .describe('How often to look for a new version. Left out: at start and at reloads alone.'),
});

export const optionsSchema = z
  .strictObject({
    document: z
      .union([z.string().min(1), remote])
      .describe(
        'OpenAPI 3.0 or 3.1, JSON or YAML: a file, beside gateway.yaml unless absolute, or {url: …}.',
      ),
    prefix: z
      .string()
      .regex(/^[A-Za-z0-9_.-]{0,64}$/, 'Expected at most 64 letters, digits, "_", "." or "-".')
      .default('')
      .describe('Begins every name: github_ makes github_issues_create.'),
    base_url: webUrl
      .optional()
      .describe("Where the API is. The document's first server when left out. Not with connection."),
    connection: z
      .string()
      .min(1)
      .optional()
      .describe('Name of an http connection: its base_url and its credentials are used for every tool.'),
    allow_ports: egressFields.allow_ports,
    allow_private: egressFields.allow_private,
    tags: z.array(z.string().min(1)).min(1).optional().describe('Only operations with one of these tags.'),
    operations: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe('Only these: an operationId, or method and path such as "GET /users/{id}".'),
    methods: z.array(z.enum(METHODS)).min(1).optional().describe('Only these methods.'),
    path_prefix: z.string().startsWith('/').optional().describe('Only paths that begin so.'),
    omit_parameters: z
      .array(z.string().min(1))
      .default([])
      .describe('Query and header parameters that no tool has, because the connection sets them.'),
    path_slashes: z
      .enum(['encode', 'refuse'])
      .optional()
      .describe('"/" and "%" in arguments of the path: sent as %2F and %25, when left out, or refused.'),
    file_urls: z
      .union([z.literal('public'), z.strictObject(fileHostFields)])
      .optional()
      .describe(
        'Whether files to be sent may be given by URL, and where they may be fetched: public for anywhere public, or hosts. As base64 alone when left out.',
      ),
    deep_lists: z
      .enum(['indices', 'brackets', 'repeat'])
      .optional()
      .describe('How the items of a list in deepObject are written: a[0]=, when left out, a[]= or a=.'),
    permissions: z
      .array(z.string().regex(/^\S+$/))
      .default([])
      .describe('What a caller must hold for any of these tools.'),
    timeout_ms: z.int().min(1).max(600_000).optional().describe('timeout_ms of every tool.'),
    overrides: toolOverrides({
      riskLevels: RISK_LEVELS,
      modes: INTERACTION_MODES,
      matches: 'the name of the tool, the operationId, or method and path such as "DELETE /users/*"',
    }),
    strict: z
      .boolean()
      .default(false)
      .describe(
        'Refuse the whole document for one operation that cannot be a tool, instead of leaving it out.',
      ),
    max_document_bytes: z
      .int()
      .min(1024)
      .max(128 * MIB)
      .default(32 * MIB)
      .describe('A larger document is refused.'),
  })
  .superRefine((options, context) => {
    const { document, connection, base_url: baseUrl } = options;
    const complain = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: path.split('.'), message });
    const ofDocument = typeof document === 'string' ? undefined : portFault(document, document.url);
    if (ofDocument !== undefined) complain('document.url', ofDocument);
    const ofBase = baseUrl === undefined ? undefined : portFault(options, baseUrl);
    if (ofBase !== undefined) complain('base_url', ofBase);
    if (connection === undefined) return;
    if (baseUrl !== undefined)
      complain('base_url', 'With a connection, the base_url is the connection’s own.');
    for (const field of ['allow_private', 'allow_ports'] as const)
      if (options[field] !== undefined) complain(field, `With a connection, ${field} belongs to it.`);
  });

export type OpenApiOptions = z.output<typeof optionsSchema>;

function portFault(rules: EgressFields, text: string): string | undefined {
  const url = URL.parse(text);
  return url === null ? undefined : portProblem(egressOf(rules, url), url, 'The URL');
}

function webUrlProblem(text: string): string | undefined {
  const url = URL.parse(text);
  const isWeb = url !== null && (url.protocol === 'https:' || url.protocol === 'http:');
  return isWeb && url.username === '' && url.password === '' && url.hash === ''
    ? undefined
    : 'Expected an http or https URL without user, password and fragment.';
}
