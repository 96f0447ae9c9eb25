// What gateway.yaml may say about the audit trail: the key of its checkpoints, and the places where they are kept.
import { z } from 'zod';
import { egressFields } from '../lib/egress/egress.ts';
import { webhookKey } from '../lib/secrets/webhook-signature.ts';
import { parseDuration } from '../lib/text/duration.ts';

export const webhookSecret = z
  .string()
  .refine((text) => webhookKey(text) !== undefined, 'must be whsec_ and at least 24 bytes in base64');

const httpsUrl = z
  .string()
  .refine(
    (text) => URL.parse(text)?.protocol === 'https:' || URL.parse(text)?.protocol === 'http:',
    'must be an https URL',
  )
  .refine((text) => {
    const { username = '', password = '', hash = '' } = URL.parse(text) ?? {};
    return username + password + hash === '';
  }, 'must have no user, password and fragment');

const isAllowed = (url: string | undefined, allowHttp: boolean) => allowHttp || !url?.startsWith('http:');
const NEEDS_HTTPS = 'must begin with https://, unless allow_http is true';

const allowHttp = z.boolean().default(false).describe('Also http, not only https.');

const checkpointWebhook = z
  .strictObject({
    ...egressFields,
    url: httpsUrl.describe('Gets signed checkpoints by POST, as lines of JSON.'),
    allow_http: allowHttp,
    secret: webhookSecret.describe('Signs each message (Standard Webhooks): whsec_ and base64.'),
    previous_secret: webhookSecret
      .optional()
      .describe('Signs as well, while the receiver changes to the new one.'),
  })
  .refine(({ url, allow_http: http }) => isAllowed(url, http), { path: ['url'], message: NEEDS_HTTPS });

const objectLock = z.strictObject({
  mode: z
    .enum(['GOVERNANCE', 'COMPLIANCE'])
    .describe('COMPLIANCE: until then nobody deletes it, the owner of the account included.'),
  retain: z
    .string()
    .refine((text) => parseDuration(text) !== undefined, 'must be a duration of at most 366d, such as 365d')
    .default('365d'),
});

const checkpointS3 = z
  .strictObject({
    ...egressFields,
    endpoint: httpsUrl
      .optional()
      .describe(
        'Of a store other than Amazon S3, such as https://minio.example.com:9000; the bucket comes behind it.',
      ),
    allow_http: allowHttp,
    bucket: z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
        'must be the name of a bucket: 3 to 63 small letters, digits, . or -',
      ),
    prefix: z
      .string()
      .regex(
        /^([A-Za-z0-9_.-]+\/)*$/,
        'must be empty or end with /, with letters, digits, _, . and - between',
      )
      .refine((prefix) => !/(^|\/)\.{1,2}\//.test(prefix), 'must not hold . or .. as a folder')
      .default('')
      .describe('What every key begins with.'),
    region: z
      .string()
      .regex(/^[a-z0-9-]{1,32}$/, 'must be 1 to 32 small letters, digits or -')
      .default('us-east-1'),
    access_key_id: z.string().min(1).max(256),
    secret_access_key: z.string().min(1).max(1_024).describe('Better in UTE_AUDIT_S3_SECRET_ACCESS_KEY.'),
    session_token: z.string().min(1).max(8_192).optional(),
    object_lock: objectLock
      .optional()
      .describe('Of each object, in a bucket that was made with object lock.'),
  })
  .refine(({ endpoint, allow_http: http }) => isAllowed(endpoint, http), {
    path: ['endpoint'],
    message: NEEDS_HTTPS,
  });

export const audit = z.strictObject({
  checkpoint_key_file: z
    .string()
    .min(1)
    .optional()
    .describe(
      'PEM, a private Ed25519 key that signs checkpoints of the audit trail: one for all replicas. Without it, each makes its own, data_dir/audit-checkpoints.key.',
    ),
  checkpoint_file: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The second place of checkpoints, one JSON a line, only ever added to; best on another machine. Without it, data_dir/audit-checkpoints.jsonl.',
    ),
  checkpoint_webhook: checkpointWebhook.optional(),
  checkpoint_s3: checkpointS3.optional(),
});
