// The credential that a request brings: a bearer token, an API key in a header of its own, or the certificate of its connection.
import type { IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import type { ClientAddress, Credential } from '../../../contract/call/principal.ts';
import { credentialOfSocket } from '../../client-certificate.ts';
import { shownCredential } from '../../shown-credential.ts';

export interface Shown {
  readonly headers: IncomingHttpHeaders;
  readonly socket?: unknown;
  /** The request as Node has it: of an authorization that is said twice, `headers` holds the first alone. */
  readonly raw?: { readonly rawHeaders: readonly string[] };
}

const AUTHORIZATION = 'authorization';
const NONE: readonly string[] = [];

export function credentialOf({ headers, socket, raw }: Shown): Credential {
  const { authorization, 'x-api-key': key } = headers;
  const authorizations = authorization === undefined ? NONE : authorizationsOf(authorization, raw);
  const keys = key === undefined ? NONE : [key].flat();
  return (
    shownCredential(authorizations, keys, clientAddressOf({ headers, socket })) ?? credentialOfSocket(socket)
  );
}

/** Undefined: of no connection. */
export function clientAddressOf({
  headers,
  socket,
}: Pick<Shown, 'headers' | 'socket'>): ClientAddress | undefined {
  const forwarded = headers['x-forwarded-for'];
  const peer = socket instanceof Socket ? socket.remoteAddress : undefined;
  if (peer === undefined) return undefined;
  return forwarded === undefined ? { peer } : { peer, forwardedFor: [forwarded].flat().join(',') };
}

function authorizationsOf(first: string, raw: Shown['raw']): readonly string[] {
  if (raw === undefined) return [first];
  return raw.rawHeaders.filter((_said, at, all) => {
    const name = at % 2 === 1 ? all[at - 1] : undefined;
    return name?.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION;
  });
}
