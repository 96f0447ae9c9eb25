// The sinks of checkpoints beside the file, as the settings name them.
import { parseDuration } from '../../../lib/text/duration.ts';
import { egressOf } from '../../../lib/egress/egress.ts';
import { webhookKey } from '../../../lib/secrets/webhook-signature.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { HttpClient } from '../../../ports/egress/http-client.ts';
import type { Settings } from '../../../settings/settings-schema.ts';
import type { RemoteSink } from './remote-sink.ts';
import { S3Sink } from './s3-sink.ts';
import { WebhookSink } from './webhook-sink.ts';

interface Deps {
  readonly http: HttpClient;
  readonly clock: Clock;
}

export function openSinks({ audit }: Settings, deps: Deps): readonly RemoteSink[] {
  const sinks: RemoteSink[] = [];
  const { checkpoint_webhook: webhook, checkpoint_s3: s3 } = audit;
  if (webhook !== undefined) {
    const url = new URL(webhook.url);
    const keys = [webhook.secret, webhook.previous_secret]
      .map((secret) => (secret === undefined ? undefined : webhookKey(secret)))
      .filter((key) => key !== undefined);
    sinks.push(new WebhookSink({ ...deps, url, keys, egress: egressOf(webhook, url) }));
  }
  if (s3 !== undefined) sinks.push(s3Sink(s3, deps));
  return sinks;
}

function s3Sink(s3: NonNullable<Settings['audit']['checkpoint_s3']>, deps: Deps): RemoteSink {
  const { bucket, region, prefix, endpoint, object_lock: lock } = s3;
  // Stores other than Amazon's name the bucket in the path.
  const base = new URL(
    endpoint === undefined
      ? `https://${bucket}.s3.${region}.amazonaws.com/`
      : `${endpoint.replace(/\/+$/, '')}/${bucket}/`,
  );
  return new S3Sink({
    ...deps,
    base,
    region,
    prefix,
    credentials: {
      accessKeyId: s3.access_key_id,
      secretAccessKey: s3.secret_access_key,
      ...(s3.session_token !== undefined && { sessionToken: s3.session_token }),
    },
    egress: egressOf(s3, base),
    lock: lock && { mode: lock.mode, keptMs: parseDuration(lock.retain) ?? 0 },
  });
}
