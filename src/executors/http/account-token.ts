// The token of an account that the gateway has connected for an agent: where it stands in a request, and where that may go.
import { ACCESS_TOKEN } from '../../contract/tool/credentials.ts';
import type { ManagedAuth } from '../../contract/tool/tool-spec.ts';
import { egressFault } from '../../lib/egress/egress.ts';
import type { RequestOptions } from './options-schema.ts';
import type { RequestBase } from './request/compile-request.ts';

const BEARER = { Authorization: `Bearer {sensitive_config.${ACCESS_TOKEN}}` };

/**
 * As the bearer of the request, unless the tool puts it somewhere itself. Throws Error where the connection shows another
 * credential in that place: one of them would be lost without a word.
 */
export function withAccountToken(
  request: RequestOptions,
  base: RequestBase | undefined,
  auth: ManagedAuth | undefined,
): RequestOptions {
  if (auth === undefined || JSON.stringify(request).includes(`{sensitive_config.${ACCESS_TOKEN}}`))
    return request;
  const names = [
    ...Object.keys(request.headers ?? {}),
    ...Object.keys(base?.headers ?? {}),
    ...(base?.laterHeader === undefined ? [] : [base.laterHeader]),
  ];
  if (names.some((name) => name.toLowerCase() === 'authorization'))
    throw new Error(
      `The tool sends the token of "${auth.provider}" in the header Authorization, and its connection or its own headers set that already.`,
    );
  return { ...request, headers: { ...request.headers, ...BEARER } };
}

/** Throws Error where the request goes to a host that is not the provider's: by the exact origin, with its port. */
export function requireTokenHost(auth: ManagedAuth | undefined, origin: URL): void {
  if (auth === undefined) return;
  const isLoopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(origin.hostname);
  if (origin.protocol !== 'https:' && !isLoopback)
    throw new Error(
      `Tokens of "${auth.provider}" are sent over https alone; this tool calls ${origin.origin}.`,
    );
  if (egressFault({ allowHosts: auth.hosts, allowPorts: [] }, origin) === undefined) return;
  throw new Error(
    `Tokens of "${auth.provider}" may be sent to ${auth.hosts.join(', ')} (oauth.providers.${auth.provider}.hosts in gateway.yaml); this tool calls ${origin.host}.`,
  );
}
