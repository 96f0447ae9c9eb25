// The streams of this gateway: what they are made of, out of settings and ports.
import { StreamHub } from '../../api/stream/stream-hub.ts';
import { StreamMetrics } from '../../api/stream/stream-metrics.ts';
import type { StreamParts } from '../../api/stream/stream-parts.ts';
import { parseDuration } from '../../lib/text/duration.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import type { Infra } from '../adapters/create-ports.ts';

export function streamHubOf(
  { stream, limits }: Settings,
  { ports, streamParking: parking }: Infra,
  calls: Pick<StreamParts, 'caller' | 'sessions' | 'acts'>,
): StreamHub {
  const { authenticator, clock, log, metrics } = ports;
  const terms = {
    maxStreams: stream.max_streams,
    maxPerCredential: stream.max_per_credential,
    resumeForMs: msOf(stream.resume_for),
    idleMs: msOf(stream.idle),
    maxMessageBytes: limits.max_body_bytes,
  };
  return new StreamHub({
    ...calls,
    authenticator,
    parking,
    clock,
    log,
    metrics: new StreamMetrics(metrics),
    terms,
  });
}

function msOf(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new Error(`the duration "${text}" passed its check and is none`);
  return ms;
}
