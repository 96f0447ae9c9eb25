// Options: what an entry `type: http` of gateway.yaml may say.
import { z } from 'zod';
import { parseDuration } from '../../lib/text/duration.ts';
import { egressFields, egressOf, portProblem } from '../../lib/egress/egress.ts';

const MIB = 1024 * 1024;
const SHORTEST_INTERVAL_MS = 1_000;
const LONGEST_INTERVAL_MS = 86_400_000;
const NAME = /^[A-Za-z0-9_.-]{1,128}$/;
const TOOL_GLOB = /^[A-Za-z0-9_.*?-]{1,256}$/;
const HEADER_NAME = /^[A-Za-z0-9-]{1,64}$/;
const REFERENCES = 'May hold ${env:NAME} or ${file:path}.';

const secret = z.string().min(1);

const auth = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('bearer'),
    token: secret.describe(`Sent as "Authorization: Bearer …". ${REFERENCES}`),
  }),
  z.strictObject({
    type: z.literal('basic'),
    username: z.string().min(1),
    password: secret.describe(REFERENCES),
  }),
  z.strictObject({
    type: z.literal('api_key'),
    in: z.enum(['header', 'query']),
    name: z
      .string()
      .regex(HEADER_NAME, 'Expected letters, digits and "-".')
      .describe('Name of the header or of the query parameter.'),
    value: secret.describe(REFERENCES),
  }),
]);

export type SourceAuth = z.output<typeof auth>;

const signature = z.strictObject({
  algorithm: z.enum(['ed25519', 'hmac-sha256']),
  key: secret.describe(
    `ed25519: the public key, PEM or its 32 bytes in base64. hmac-sha256: the secret, at least 16 bytes. ${REFERENCES}`,
  ),
  header: z
    .string()
    .regex(HEADER_NAME, 'Expected the name of a header.')
    .default('x-ute-signature')
    .describe('Header of the answer that holds the signature of its exact bytes, in base64 or hexadecimal.'),
});

export type SignatureOptions = z.output<typeof signature>;

const interval = z.string().transform((text, context): number => {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= SHORTEST_INTERVAL_MS && ms <= LONGEST_INTERVAL_MS) return ms;
  context.addIssue({ code: 'custom', message: `Expected a duration from 1s to 1d; found "${text}".` });
  return z.NEVER;
});

const url = z.string().superRefine((text, context) => {
  const parsed = URL.parse(text);
  const isWeb = parsed !== null && (parsed.protocol === 'https:' || parsed.protocol === 'http:');
  if (isWeb && parsed.username === '' && parsed.password === '' && parsed.hash === '') return;
  const message = 'Expected an http or https URL without user, password and fragment.';
  context.addIssue({ code: 'custom', message });
});

const fields = z.strictObject({
  url: url.describe('Where the document is: YAML or JSON, as tools.yaml. Redirects are not followed.'),
  interval: interval
    .prefault('10s')
    .describe(
      'Longest time between two looks for a new version, from 1s to 1d; each comes a little earlier.',
    ),
  allow_ports: egressFields.allow_ports,
  allow_private: egressFields.allow_private,
  auth: auth.optional().describe('How the request shows who it comes from.'),
  signature: signature.optional().describe('Set: a document that is not signed with this key is refused.'),
  timeout_ms: z.int().min(100).max(120_000).default(10_000).describe('Time for one fetch, body included.'),
  max_bytes: z
    .int()
    .min(1024)
    .max(32 * MIB)
    .default(2 * MIB)
    .describe('A larger document is refused.'),
  max_tools: z.int().min(1).max(10_000).default(1_000).describe('A document with more tools is refused.'),
  tool_types: z
    .array(z.string().min(1))
    .min(1)
    .default(['http', 'composite'])
    .describe(
      'What its tools may be. With javascript, python or shell, who writes the document runs code on this machine.',
    ),
  connections: z
    .array(z.string().regex(NAME, 'Expected the name of a connection.'))
    .default([])
    .describe(
      "Connections of other sources that its tools may use, and with them this gateway's credentials.",
    ),
  may_call: z
    .array(z.string().regex(TOOL_GLOB, 'Expected the name of a tool, or a pattern with "*" and "?".'))
    .default([])
    .describe(
      'Tools of other sources that its tools may call or hand calls to, by name or pattern: a composite acts with all that its caller may do. None when left out.',
    ),
  allow_connections: z
    .boolean()
    .default(false)
    .describe('Whether the document may declare connections of its own.'),
  keep_copy: z
    .boolean()
    .default(true)
    .describe(
      'Keep the last good document under data_dir: a start while the source is away goes on with it.',
    ),
});

export const optionsSchema = fields.superRefine((options, context) => {
  const url = URL.parse(options.url);
  const message = url === null ? undefined : portProblem(egressOf(options, url), url, 'The url');
  if (message !== undefined) context.addIssue({ code: 'custom', path: ['url'], message });
});

export type HttpLoaderOptions = z.output<typeof optionsSchema>;
