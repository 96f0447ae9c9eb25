// A grpc connection as operators write it: where the upstream is, how it is trusted, what goes along, and what describes it.
import { z } from 'zod';
import { egressFault, egressFields, egressOf, portProblem } from '../egress/egress.ts';
import { whole } from '../settings/whole.ts';
import { headersBy, isHeaderValue } from '../text/header-rules.ts';

const MIB = 1 << 20;
export const DEFAULT_MESSAGE_BYTES = 4 * MIB;
const MOST_MESSAGE_BYTES = 64 * MIB;

const secret = z.string().min(1).refine(isHeaderValue, { error: 'Expected printable ASCII on one line.' });
const path = z
  .string()
  .min(1)
  .regex(/^[^\0]*$/, { error: 'Expected a path.' });
const pem = z.string().regex(/-----BEGIN /, { error: 'Expected PEM text, such as ${file:ca.pem} brings.' });

const target = z
  .string()
  .superRefine((text, context) => {
    const message = targetProblem(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .describe('Host and port of the upstream: grpc.example.com:443.');

const tls = z
  .union([
    z.boolean(),
    z.strictObject({
      ca: pem.optional().describe('Certificate authorities that are trusted instead of the system’s.'),
      cert: pem.optional().describe('Certificate of the gateway, with key.'),
      key: pem.optional().describe('Its private key.'),
      server_name: z
        .string()
        .regex(/^[A-Za-z0-9.-]{1,253}$/, { error: 'Expected the name of a host.' })
        .optional()
        .describe('The name that the upstream’s certificate is for, where that is not the host.'),
    }),
  ])
  .optional()
  .describe('true when left out. false speaks without TLS, for an upstream on a network that you trust.');

/** What gRPC itself says in metadata; what ends in -bin is binary. */
function metadataProblem(name: string): string | undefined {
  if (/^(?:grpc-.*|content-type|user-agent|:.*)$/i.test(name))
    return `The metadata "${name}" is set by gRPC itself.`;
  return /-bin$/i.test(name)
    ? `The metadata "${name}" would be binary: expected a name that does not end in "-bin".`
    : undefined;
}

/** Metadata by name: as headers are, and no name that gRPC keeps for itself. */
export function metadataBy<Value extends z.ZodType<string>>(setBy: 'tool' | 'connection', value: Value) {
  return headersBy(setBy, value).superRefine((metadata, context) => {
    for (const name of Object.keys(metadata)) {
      const message = metadataProblem(name);
      if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
    }
  });
}

const auth = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('bearer'),
    token: secret.describe('Sent as the metadata "authorization: Bearer …".'),
  }),
  z.strictObject({
    type: z.literal('basic'),
    username: z
      .string()
      .min(1)
      .regex(/^[^:]*$/, { error: 'Expected a name without ":".' }),
    password: z.string().min(1),
  }),
  z
    .strictObject({
      type: z.literal('api_key'),
      name: z.string().min(1).describe('Name of the metadata.'),
      value: secret,
    })
    .superRefine(({ name }, context) => {
      const message =
        metadataProblem(name) ??
        (/^[a-zA-Z0-9_.-]+$/.test(name) ? undefined : `"${name}" is no name of metadata.`);
      if (message !== undefined) context.addIssue({ code: 'custom', path: ['name'], message });
    }),
]);

/** Where the services of an upstream are described; the loader has one way more, reflection. */
export const descriptionFields = {
  protos: z
    .union([path, z.array(path).min(1).max(200)])
    .optional()
    .describe('.proto files that describe the services, relative to the file that says so.'),
  import_paths: z
    .array(path)
    .max(50)
    .optional()
    .describe(
      'With protos: folders that imports are looked for in. The folder of the file that says so, when left out.',
    ),
  descriptor_set: path
    .optional()
    .describe(
      'Instead of protos: a FileDescriptorSet, as protoc --descriptor_set_out --include_imports and buf build write it.',
    ),
};

export const upstreamFields = {
  target,
  tls,
  metadata: metadataBy('connection', z.string())
    .optional()
    .describe('Sent with every call. Its values are kept out of results.'),
  auth: auth.optional().describe('How calls show who they come from.'),
  propagate_fencing_token: z
    .boolean()
    .optional()
    .describe(
      'Sends the fencing token of the slot that the call holds under a concurrency limit on Redis, as x-ute-fencing-token.',
    ),
  max_message_bytes: whole(1024, MOST_MESSAGE_BYTES)
    .optional()
    .describe('Of one message of the upstream, and of one that is sent to it; 4 MiB when left out.'),
  ...egressFields,
};

export const grpcConnectionSchema = z
  .strictObject({
    type: z.literal('grpc'),
    ...upstreamFields,
    ...descriptionFields,
    descriptors: z
      .string()
      .regex(/^[A-Za-z0-9+/]*={0,2}$/, { error: 'Expected base64.' })
      .optional()
      .describe('Instead of protos: a FileDescriptorSet in base64, as the grpc loader writes it.'),
  })
  .superRefine((connection, context) => {
    const { protos, descriptor_set: set, descriptors, import_paths: paths } = connection;
    if ([protos, set, descriptors].filter((each) => each !== undefined).length !== 1)
      context.addIssue({
        code: 'custom',
        path: ['protos'],
        message: 'Expected one of protos and descriptor_set: what describes the services.',
      });
    if (paths !== undefined && protos === undefined)
      context.addIssue({
        code: 'custom',
        path: ['import_paths'],
        message: '"import_paths" goes with protos.',
      });
    checkUpstream(connection, context);
  });

export type GrpcConnection = z.output<typeof grpcConnectionSchema>;
type UpstreamConnection = Omit<GrpcConnection, 'type' | 'descriptors' | keyof typeof descriptionFields>;

/** What the fields of an upstream have to be together. */
export function checkUpstream(connection: UpstreamConnection, context: z.RefinementCtx): void {
  const issue = (field: string, message: string) =>
    context.addIssue({ code: 'custom', path: [field], message });
  const { auth: said, metadata = {}, tls: secured, allow_hosts: hosts } = connection;
  const set =
    said === undefined ? undefined : said.type === 'api_key' ? said.name.toLowerCase() : 'authorization';
  if (set !== undefined && Object.keys(metadata).some((name) => name.toLowerCase() === set))
    issue('metadata', `auth sets the metadata "${set}" already.`);
  if (typeof secured === 'object' && (secured.cert === undefined) !== (secured.key === undefined))
    issue('tls', 'Expected cert and key together.');
  const url = urlOf(connection);
  if (hosts !== undefined && egressFault({ allowHosts: hosts }, url) === 'host')
    issue('allow_hosts', `Expected the upstream's own host "${url.host}" among the allowed ones.`);
  const port = portProblem(egressOf(connection, url), url, 'The target');
  if (port !== undefined) issue('target', port);
}

/** The target as the rules of egress look at it. */
export function urlOf({ target: text, tls: secured }: Pick<UpstreamConnection, 'target' | 'tls'>): URL {
  return new URL(`${secured === false ? 'http' : 'https'}://${text}`);
}

function targetProblem(text: string): string | undefined {
  const expected = 'Expected host and port, such as grpc.example.com:443 or [::1]:50051';
  const [, , port] = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || URL.parse(`https://${text}`) === null)
    return `${expected}; found ${JSON.stringify(text.slice(0, 200))}.`;
  return Number(port) >= 1 && Number(port) <= 65_535 ? undefined : `${expected}; found the port ${port}.`;
}
