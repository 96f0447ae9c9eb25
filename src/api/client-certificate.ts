// The client certificate of a connection as a credential: what TLS has verified, and no more than is looked at.
import { TLSSocket, type PeerCertificate } from 'node:tls';
import { NO_CREDENTIAL, type Credential } from '../contract/call/principal.ts';

/** Of connections over HTTP: many requests come over one, and a certificate takes long to read. */
const known = new WeakMap<TLSSocket, Credential>();

/** Of a socket without TLS, or of one whose certificate no CA of the settings has signed, there is none. */
export function credentialOfSocket(socket: unknown): Credential {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return NO_CREDENTIAL;
  const seen = known.get(socket);
  if (seen !== undefined) return seen;
  const credential = credentialOfPeer(socket.getPeerCertificate());
  known.set(socket, credential);
  return credential;
}

/** Only of a connection that is authorized. */
export function credentialOfPeer(peer: PeerCertificate | undefined): Credential {
  // Node gives an empty object where there is none.
  if (peer?.subject === undefined) return NO_CREDENTIAL;
  const { subject, subjectaltname: subjectAltName = '', valid_to: until } = peer;
  const validTo = Date.parse(until);
  return {
    kind: 'certificate',
    certificate: { subject: { ...subject }, subjectAltName, validTo: Number.isNaN(validTo) ? 0 : validTo },
  };
}
