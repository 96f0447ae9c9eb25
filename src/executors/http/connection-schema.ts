// An http connection: the base of requests, where they may go, and the secrets that go along.
import { z } from 'zod';
import { egressFault, egressFields } from '../../lib/egress/egress.ts';
import { headerNameProblem, headersBy, isHeaderValue } from '../../lib/text/header-rules.ts';

const secret = z.string().min(1).refine(isHeaderValue, { error: 'Expected printable ASCII on one line.' });

const bearer = z.strictObject({
  type: z.literal('bearer'),
  token: secret.describe('Sent as "Authorization: Bearer …".'),
});

const basic = z.strictObject({
  type: z.literal('basic'),
  username: z
    .string()
    .min(1)
    .regex(/^[^:]*$/, { error: 'Expected a name without ":".' }),
  password: z.string().min(1),
});

const apiKey = z
  .strictObject({
    type: z.literal('api_key'),
    in: z.enum(['header', 'query']),
    name: z.string().min(1).describe('Name of the header or of the query parameter.'),
    value: secret,
  })
  .superRefine(({ in: place, name }, context) => {
    const message = place === 'header' ? headerNameProblem(name, 'connection') : undefined;
    if (message !== undefined) context.addIssue({ code: 'custom', path: ['name'], message });
  });

const clientCredentials = z.strictObject({
  type: z.literal('oauth2_client_credentials'),
  token_url: z
    .string()
    .superRefine((text, context) => {
      const message = tokenUrlProblem(text);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .describe('Token endpoint, https; http on loopback alone.'),
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
  scopes: z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/)).optional(),
  audience: z.string().min(1).optional().describe('Sent along where the provider asks for it.'),
  send_secret_in: z
    .enum(['header', 'body'])
    .optional()
    .describe('How the client shows its secret: header (HTTP Basic) when left out.'),
});

const authSchema = z.discriminatedUnion('type', [bearer, basic, apiKey, clientCredentials]);

export type HttpAuth = z.output<typeof authSchema>;
export type ClientCredentials = z.output<typeof clientCredentials>;

/** Of one place: what the `hosts` of an http-hosts connection say as well. */
export const connectionFields = {
  base_url: z.string().superRefine((text, context) => {
    const message = baseUrlProblem(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  }),
  headers: headersBy('connection', z.string())
    .optional()
    .describe('Sent with every request. Their values are kept out of results, Accept and versions aside.'),
  auth: authSchema.optional().describe('How requests show who they come from.'),
  propagate_deadline: z
    .boolean()
    .optional()
    .describe('Tells the upstream how many milliseconds are left, in the header X-Request-Timeout-Ms.'),
  propagate_fencing_token: z
    .boolean()
    .optional()
    .describe(
      'Sends the fencing token of the slot that the call holds under a concurrency limit on Redis, in the header ' +
        'X-UTE-Fencing-Token: an upstream that refuses a smaller one than it has seen never serves two holders.',
    ),
  ...egressFields,
};

export const httpConnectionSchema = z
  .strictObject({ type: z.literal('http'), ...connectionFields })
  .superRefine(checkConnection);

export type HttpConnection = z.output<typeof httpConnectionSchema>;

/** Beyond its fields: what they say together. */
export function checkConnection(
  connection: {
    readonly base_url: string;
    readonly auth?: HttpAuth | undefined;
    readonly headers?: Record<string, string> | undefined;
    readonly allow_hosts?: string[] | undefined;
  },
  context: z.RefinementCtx,
): void {
  const { auth, headers = {}, allow_hosts: hosts, base_url: baseUrl } = connection;
  const set = auth && headerSetBy(auth);
  if (set !== undefined && Object.keys(headers).some((name) => name.toLowerCase() === set)) {
    const message = `auth sets the header "${set}" already.`;
    context.addIssue({ code: 'custom', path: ['headers'], message });
  }
  if (hosts === undefined) return;
  const urls = [baseUrl, ...(auth?.type === 'oauth2_client_credentials' ? [auth.token_url] : [])];
  for (const text of urls) {
    const url = URL.parse(text);
    if (url === null || egressFault({ allowHosts: hosts }, url) !== 'host') continue;
    const message = `Expected the connection's own host "${url.host}" among the allowed ones.`;
    context.addIssue({ code: 'custom', path: ['allow_hosts'], message });
  }
}

/** Lower case; undefined where auth sets none. */
function headerSetBy(auth: HttpAuth): string | undefined {
  if (auth.type !== 'api_key') return 'authorization';
  return auth.in === 'header' ? auth.name.toLowerCase() : undefined;
}

function baseUrlProblem(text: string): string | undefined {
  const expected = 'Expected an http or https URL without user, password, query and fragment';
  if (!URL.canParse(text)) return `${expected}; this is not a URL.`;
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return `${expected}; found "${url.protocol}//".`;
  if (url.username !== '' || url.password !== '') return `${expected}; found a user or password.`;
  return text.includes('?') || text.includes('#') ? `${expected}; found "?" or "#".` : undefined;
}

function tokenUrlProblem(text: string): string | undefined {
  const expected = 'Expected an https URL without user, password and fragment';
  const url = URL.parse(text);
  if (url === null) return `${expected}; this is not a URL.`;
  if (url.username !== '' || url.password !== '') return `${expected}; found a user or password.`;
  if (url.hash !== '') return `${expected}; found "#".`;
  const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopback)
    ? undefined
    : `${expected}; the client's secret would go over the network in the clear.`;
}
