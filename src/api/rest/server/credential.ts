// The credential that a request brings: a bearer token, an API key in a header of its own, or the certificate of its connection.
import type { IncomingHttpHeaders } from 'node:http';
import type { Credential } from '../../../contract/call/principal.ts';
import { credentialOfSocket } from '../../client-certificate.ts';

export interface Shown {
  readonly headers: IncomingHttpHeaders;
  readonly socket?: unknown;
}

export function credentialOf({ headers, socket }: Shown): Credential {
  const { authorization } = headers;
  if (authorization !== undefined) {
    const space = authorization.indexOf(' ');
    if (authorization.slice(0, space).toLowerCase() === 'bearer') {
      return { kind: 'bearer', token: authorization.slice(space + 1).trim() };
    }
    return { kind: 'bearer', token: '' };
  }
  const key = headers['x-api-key'];
  return typeof key === 'string' ? { kind: 'bearer', token: key } : credentialOfSocket(socket);
}
