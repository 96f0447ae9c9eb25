// Reads what a call's metadata says: the credential, trace context and idempotency key. One pass, bounded.
import type { Metadata, ServerUnaryCall } from '@grpc/grpc-js';
import type { ClientAddress, Credential } from '../../../contract/call/principal.ts';
import { credentialOfPeer } from '../../client-certificate.ts';
import type { ToolContext } from '../../../contract/call/tool-context.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import { shownCredential } from '../../shown-credential.ts';
import { TENANT_KEY, tenantOrThrow } from '../../named-tenant.ts';

/** grpc-js takes metadata of any size that HTTP/2 lets through. */
const MAX_METADATA_BYTES = 8192;
const NO_CONTEXT: ToolContext = Object.freeze({});

/** Throws ToolFailure PAYLOAD_TOO_LARGE. */
export function checkMetadataSize(metadata: Metadata): void {
  const entries = metadata.toJSON();
  let bytes = 0;
  for (const key in entries) {
    for (const value of entries[key] ?? []) bytes += key.length + value.length;
  }
  if (bytes <= MAX_METADATA_BYTES) return;
  throw toolFailure(
    'METADATA_TOO_LARGE',
    `The call's metadata has ${bytes} bytes; at most ${MAX_METADATA_BYTES} are accepted.`,
  );
}

/** The part of a grpc-js server call that tells of its connection. */
export type Connection = Pick<ServerUnaryCall<unknown, unknown>, 'getAuthContext' | 'getPeer'>;

/** An authorization of another scheme is a wrong credential, not a missing one. */
export function credentialOf(metadata: Metadata, connection: Connection): Credential {
  const authorizations = metadata.get('authorization').map(String);
  const keys = metadata.get('x-api-key').map(String);
  return (
    shownCredential(authorizations, keys, addressOf(metadata, connection)) ??
    credentialOfPeer(connection.getAuthContext().sslPeerCertificate)
  );
}

export function addressOf(metadata: Metadata, connection: Connection): ClientAddress {
  const peer = connection.getPeer();
  const address = { peer: peer.slice(0, peer.lastIndexOf(':')) };
  const forwarded = metadata.get('x-forwarded-for');
  return forwarded.length === 0 ? address : { ...address, forwardedFor: forwarded.map(String).join(',') };
}

/** Throws ToolFailure VALIDATION. */
export function tenantOf(metadata: Metadata): string | undefined {
  const said = metadata.get(TENANT_KEY);
  if (said.length === 0) return undefined;
  const texts = said.map(String);
  return tenantOrThrow(texts.length === 1 ? texts[0] : texts);
}

/** All but the tenant, which may be malformed. */
export function contextOf(metadata: Metadata): ToolContext {
  const traceparent = textOf(metadata, 'traceparent');
  const idempotencyKey = textOf(metadata, 'idempotency-key');
  if (traceparent === undefined && idempotencyKey === undefined) return NO_CONTEXT;
  return {
    ...(traceparent !== undefined && { traceparent, tracestate: textOf(metadata, 'tracestate') }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  };
}

function textOf(metadata: Metadata, key: string): string | undefined {
  const [value] = metadata.get(key);
  return typeof value === 'string' ? value : undefined;
}
