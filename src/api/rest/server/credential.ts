// The credential that a request brings: a bearer token, or an API key in a header of its own.
import type { IncomingHttpHeaders } from 'node:http';
import { NO_CREDENTIAL, type Credential } from '../../../contract/call/principal.ts';

export function credentialOf(headers: IncomingHttpHeaders): Credential {
  const { authorization } = headers;
  if (authorization !== undefined) {
    const space = authorization.indexOf(' ');
    if (authorization.slice(0, space).toLowerCase() === 'bearer') {
      return { kind: 'bearer', token: authorization.slice(space + 1).trim() };
    }
    return { kind: 'bearer', token: '' };
  }
  const key = headers['x-api-key'];
  return typeof key === 'string' ? { kind: 'bearer', token: key } : NO_CREDENTIAL;
}
