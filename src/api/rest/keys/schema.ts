// API keys on the wire: what a key may do and until when. Its text is in the answer that makes it, and nowhere else.
import { z } from 'zod';
import { pageShape, paging } from '../route/page.ts';
import { json, route } from '../route/route.ts';
import {
  list,
  moment,
  named,
  oneOf,
  shape,
  strictBody,
  text,
  textOf,
  time,
  wholeNumber,
} from '../route/shapes.ts';

const TAG = 'keys';
const LONGEST_NAME = 200;
const DAY_MS = 86_400_000;
const LONGEST_KEEP_MS = 30 * DAY_MS;

const params = { id: shape(() => z.string().max(256)) };

/** Nothing stands for several of them: a star would be a name that nobody has. */
const one = (what: string) =>
  textOf(1, LONGEST_NAME).refine((said) => !said.includes('*'), `must name one ${what}`);
const names = () => z.array(textOf(1, LONGEST_NAME), 'must be a list of names').min(1).max(100);
const expiry = () => moment('must be a time such as 2027-01-31T00:00:00Z, or null').nullable();
const EXPIRES = 'From then on it is refused. null: it does not expire.';
const TENANT =
  'Whose calls, approvals and records the key reaches. null: it administers the platform, and calls no tools.';
const TENANTS =
  'Instead of `tenant`: each of them, or with `*` alone any. Every request then names its own, by `context.tenant_id` or `X-UTE-Tenant`; needs platform:admin.';
const AGENTS = 'Agents that it may speak for; `*`: any of the tenant.';
const USER = 'The only user that it may speak for. null: any.';

const LIKE = '{"name": "voice backend", "roles": ["agent"], …}';

const NewApiKey = named('NewApiKey', () =>
  strictBody(LIKE, {
    name: textOf(1, LONGEST_NAME).describe('For people: what it is for.'),
    tenant: one('tenant').nullable().optional().describe(`${TENANT} Left out: that of the key that asks.`),
    tenants: names().optional().describe(TENANTS),
    agents: names()
      .optional()
      .describe(AGENTS)
      .meta({ default: ['*'] }),
    user: one('user').nullable().optional().describe(USER),
    roles: names().describe(
      'agent, admin, platform_admin or roles of auth.roles; none that may do more than who asks.',
    ),
    expires_at: expiry().optional().describe(EXPIRES),
  }),
);

const Rotation = named('ApiKeyRotation', () =>
  strictBody('{"keep_previous_ms": 3600000}', {
    keep_previous_ms: wholeNumber(0, LONGEST_KEEP_MS)
      .optional()
      .describe('How long the secret from before is good beside the new one. 0: it ends now.')
      .meta({ default: DAY_MS }),
  }),
);

const ApiKeyChange = named('ApiKeyChange', () =>
  strictBody('{"expires_at": "2027-01-31T00:00:00Z"}', { expires_at: expiry().describe(EXPIRES) }),
);

const fields = () => ({
  id: text('Public: it stands in log lines and audit records.'),
  name: text(),
  tenant: text(`${TENANT} Of a key that serves several it is null, too: see \`tenants\`.`).nullable(),
  tenants: list(text())
    .nullable()
    .describe('Those that it serves; `*`: any. null: that of `tenant`, or none.'),
  agents: list(text()).describe(AGENTS),
  user: text(USER).nullable(),
  roles: list(text()),
  state: oneOf(['active', 'expired', 'revoked']),
  created_at: time(),
  created_by: text('Id of the credential that made it.'),
  expires_at: time().nullable(),
  previous_expires_at: time()
    .nullable()
    .describe('The secret from before the last rotation is good until then. null: there is none.'),
  revoked_at: time().nullable(),
  revoked_by: text().nullable(),
});

export const ApiKey = named('ApiKey', () => z.object(fields()));
const MadeApiKey = named('MadeApiKey', () =>
  z.object({ ...fields(), key: text('The text that callers send. It is shown only now.') }),
);

export const KEEP_MS = DAY_MS;

export const listKeys = route({
  operationId: 'listKeys',
  method: 'get',
  path: '/v1/keys',
  tag: TAG,
  summary: 'List the API keys of the database: of the tenant, for the platform of all',
  description: 'Those of gateway.yaml are not among them. What is revoked or expired stays in the list.',
  query: shape(() =>
    z.object({
      tenant: z
        .string()
        .min(1)
        .max(LONGEST_NAME)
        .optional()
        .describe('Only keys of this tenant; to the platform those that serve it among others, too.'),
      ...paging(/^[A-Za-z0-9]{8}$/),
    }),
  ),
  answers: { 200: json('One page, by id.', pageShape('ApiKeyPage', 'keys', ApiKey)) },
  problems: [400],
});

export const createKey = route({
  operationId: 'createKey',
  method: 'post',
  path: '/v1/keys',
  tag: TAG,
  summary: 'Make an API key; its text is shown only now',
  description: 'In force on this gateway at once, and on every other replica within five seconds.',
  body: { shape: NewApiKey, example: { name: 'voice backend', roles: ['agent'] } },
  answers: { 201: json('Made.', MadeApiKey, ['Location']) },
  problems: [400],
});

export const getKey = route({
  operationId: 'getKey',
  method: 'get',
  path: '/v1/keys/{id}',
  tag: TAG,
  summary: 'One API key, without its text',
  params,
  answers: { 200: json('The key.', ApiKey) },
  problems: [404],
});

export const changeKey = route({
  operationId: 'changeKey',
  method: 'patch',
  path: '/v1/keys/{id}',
  tag: TAG,
  summary: 'Have an API key expire, or not',
  params,
  body: { shape: ApiKeyChange, example: { expires_at: '2027-01-31T00:00:00Z' } },
  answers: { 200: json('The key.', ApiKey) },
  problems: [400, 404],
});

export const rotateKey = route({
  operationId: 'rotateKey',
  method: 'post',
  path: '/v1/keys/{id}/rotate',
  tag: TAG,
  summary: 'Give an API key a new secret; the one from before is good for a while, too',
  description:
    'Its id stays, and so do its schedules, calls and idempotency keys. Two secrets are good at once at most: a further rotation ends the older one.',
  params,
  body: { shape: Rotation, required: false, example: { keep_previous_ms: 3_600_000 } },
  answers: { 200: json('Rotated. The text is shown only now.', MadeApiKey) },
  problems: [400, 404],
});

export const revokeKey = route({
  operationId: 'revokeKey',
  method: 'delete',
  path: '/v1/keys/{id}',
  tag: TAG,
  summary: 'Revoke an API key for good, with every secret of it',
  description: 'Refused on this gateway at once, and on every other replica within five seconds.',
  params,
  answers: { 204: { description: 'Revoked.' } },
  problems: [404],
});
