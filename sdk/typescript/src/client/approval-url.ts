// Where an approval stands, as a URL that its human can open: the gateway says it from its own root on, which only the client knows.
import type { Envelope } from '../generated/gateway.ts';

/** The envelope with `approval_url` behind the gateway's address, wherever it has one. */
export function withApprovalUrl(envelope: Envelope, base: string): Envelope {
  const { meta } = envelope;
  // What a tool says of approvals is its own.
  if (!envelope.ok && envelope.error.type !== 'CONFIRMATION_REQUIRED') return envelope;
  const url = envelope.ok ? meta.approval_url : envelope.error.details['approval_url'];
  if (typeof url !== 'string' || !url.startsWith('/') || url.startsWith('//')) return envelope;
  const approval = { approval_url: `${base}${url}` };
  if (envelope.ok) return { ...envelope, meta: { ...meta, ...approval } };
  const { error } = envelope;
  return { ...envelope, error: { ...error, details: { ...error.details, ...approval } } };
}
