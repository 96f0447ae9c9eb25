// Signs messages to others as Standard Webhooks says: HMAC-SHA256 over id, time and body, so that nobody can forge or replay one.
import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';
const MIN_BYTES = 24;

/** The key's bytes; undefined: it is no `whsec_` and at least 24 bytes in base64. */
export function webhookKey(secret: string): Buffer | undefined {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : '';
  const key = Buffer.from(text, 'base64');
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) && key.length >= MIN_BYTES ? key : undefined;
}

export interface WebhookMessage {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly body: string;
}

/** The headers of a message; one signature per key, so that a key can be replaced by another without a gap. */
export function signedHeaders(
  { id, timestamp, body }: WebhookMessage,
  keys: readonly Buffer[],
): Record<string, string> {
  const signatures = keys.map(
    (key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  );
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
