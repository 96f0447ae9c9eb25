// What gateway.yaml may say about the keys that secrets of agents are encrypted with: local ones, AWS KMS, Vault transit.
import { z } from 'zod';
import { egressFields } from '../lib/egress/egress.ts';
import { readKeyList } from '../lib/secrets/key-list.ts';
import { whole } from '../lib/settings/whole.ts';

const name = z.string().regex(/^[A-Za-z0-9_-]{1,48}$/, 'must be 1 to 48 letters, digits, _ or -');
const path = z
  .string()
  .regex(/^[A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+)*$/, 'must be a path such as transit or team/transit')
  .max(256);
const secret = z.string().min(1);

const serverUrl = z
  .string()
  .max(512)
  .refine(isServerUrl, 'must be an https or http URL without user, password, query and fragment');

function isServerUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !['https:', 'http:'].includes(url.protocol)) return false;
  return url.username === '' && url.password === '' && url.search === '' && !text.includes('#');
}

const allowHttp = z
  .boolean()
  .default(false)
  .describe('Also http, not only https: for trials on one machine.');
const PLAIN = { path: ['allow_http'], message: 'is needed for a URL that is not https' };

const awsKms = z
  .strictObject({
    keys: z
      .array(
        z.strictObject({
          id: name.describe('What stands in the database as kms-<id>: it names this key for ever.'),
          arn: z
            .string()
            .regex(
              /^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:(key|alias)\/[A-Za-z0-9/_-]+$/,
              'must be the ARN of a symmetric key, such as arn:aws:kms:eu-central-1:111122223333:key/1234abcd-…',
            ),
        }),
      )
      .min(1)
      .max(16)
      .refine(
        (all) => new Set(all.map(({ id }) => id)).size === all.length,
        'must give each key an id of its own',
      )
      .describe('The first wraps, the others read.'),
    endpoint: serverUrl.optional().describe('Instead of https://kms.<region>.amazonaws.com.'),
    allow_http: allowHttp,
    ...egressFields,
  })
  .refine(({ endpoint, allow_http: allowed }) => allowed || endpoint?.startsWith('http:') !== true, PLAIN);

export type AwsKmsSettings = z.output<typeof awsKms>;

const WAYS = ['token', 'token_file', 'approle', 'kubernetes'] as const;

const vault = z
  .strictObject({
    address: serverUrl.describe('Of Vault or OpenBao: https://vault.example.com:8200.'),
    mount: path.default('transit').describe('Of the transit engine.'),
    key: name.describe('The transit key. In the database its versions stand as vault-<key>-v<version>.'),
    namespace: z.string().min(1).max(256).optional(),
    token: secret.optional().describe('Better in UTE_VAULT_TOKEN. The gateway does not renew it.'),
    token_file: secret
      .optional()
      .describe('Read for each request: where an agent of Vault renews the token.'),
    approle: z
      .strictObject({
        role_id: secret,
        secret_id: secret.optional().describe('Better in UTE_VAULT_SECRET_ID.'),
        secret_id_file: secret.optional(),
        mount: path.default('approle'),
      })
      .refine(({ secret_id: text, secret_id_file: file }) => (text === undefined) !== (file === undefined), {
        path: ['secret_id'],
        message: 'give secret_id (UTE_VAULT_SECRET_ID) or secret_id_file',
      })
      .optional(),
    kubernetes: z
      .strictObject({
        role: secret,
        jwt_file: secret.default('/var/run/secrets/kubernetes.io/serviceaccount/token'),
        mount: path.default('kubernetes'),
      })
      .optional(),
    allow_http: allowHttp,
    ...egressFields,
  })
  .refine((said) => WAYS.filter((way) => said[way] !== undefined).length === 1, {
    path: ['token'],
    message: `give one of ${WAYS.join(', ')}: how the gateway logs in`,
  })
  .refine(({ address, allow_http: allowed }) => allowed || !address.startsWith('http:'), PLAIN);

export type VaultSettings = z.output<typeof vault>;

export const secrets = z
  .strictObject({
    provider: z
      .enum(['local', 'aws_kms', 'vault'])
      .default('local')
      .describe(
        'Whose key wraps new secrets. The others that are set here still read what they have wrapped. local: keys, or the files of data_dir/secret-keys.',
      ),
    keys: z
      .string()
      .superRefine((list, context) => {
        const keys = readKeyList(list);
        if (typeof keys === 'string') context.addIssue(keys);
      })
      .optional()
      .describe(
        'Keys that the secrets of agents are encrypted with, 32 bytes in base64: id:key,id:key. The first is for new ones. Better in UTE_SECRETS_KEYS. Left out: files in data_dir/secret-keys, the first of them made at the first start.',
      ),
    aws_kms: awsKms.optional().describe('AWS Key Management Service: docs/agents.md#keys-elsewhere.'),
    vault: vault
      .optional()
      .describe('The transit engine of Vault or OpenBao: docs/agents.md#keys-elsewhere.'),
    cache_s: whole(1, 86_400)
      .default(300)
      .describe(
        'How long the unwrapped key of a secret stays in memory, so that a call does not ask the key service. Also how long a secret can be read after the service went away or was forbidden.',
      ),
    cache_keys: whole(1, 1_000_000)
      .default(10_000)
      .describe('How many of them at most; the least used go first.'),
  })
  .superRefine((said, context) => {
    const { provider } = said;
    if (provider === 'local' || said[provider] !== undefined) return;
    context.addIssue({
      code: 'custom',
      path: [provider],
      message: `is needed where provider is ${provider}`,
    });
  });
