// The metadata that a connection brings, and what of it is secret.
import type { GrpcConnection } from './grpc-connection.ts';

export interface ConnectionMetadata {
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string };
  readonly secrets: readonly string[];
}

export function connectionMetadata({
  auth,
  metadata = {},
}: Pick<GrpcConnection, 'auth' | 'metadata'>): ConnectionMetadata {
  const shown = authOf(auth);
  const headers = Object.fromEntries(
    Object.entries({ ...metadata, ...shown.headers }).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const secrets = Object.entries(headers).flatMap(([name, value]) => secretsIn(name, value));
  return { headers, secrets: [...shown.secrets, ...secrets] };
}

function authOf(auth: GrpcConnection['auth']): ConnectionMetadata {
  if (auth === undefined) return { headers: {}, secrets: [] };
  if (auth.type === 'bearer')
    return { headers: { authorization: `Bearer ${auth.token}` }, secrets: [auth.token] };
  if (auth.type === 'api_key') return { headers: { [auth.name]: auth.value }, secrets: [auth.value] };
  const pair = Buffer.from(`${auth.username}:${auth.password}`, 'utf8').toString('base64');
  return { headers: { authorization: `Basic ${pair}` }, secrets: [auth.password, pair] };
}

/** "Bearer x" comes back as x, too. A version may well be part of an honest answer. */
function secretsIn(name: string, value: string): readonly string[] {
  return /^(?:.*version|accept.*)$/.test(name) ? [] : [value, ...value.split(/[\s;,]+/).slice(1)];
}
