// S3Sink: checkpoints as objects of a bucket, each once and, where that is said, locked against deletion by the store itself.
import { createHash } from 'node:crypto';
import type { Clock } from '../../../ports/clock.ts';
import type { EgressPolicy, HttpClient } from '../../../ports/egress/http-client.ts';
import { signedHeaders, type AwsCredentials } from '../../secrets/aws/sign-request.ts';
import { MAX_ANSWER_BYTES, requireAccepted, type CheckpointBatch, type RemoteSink } from './remote-sink.ts';

export interface S3SinkOptions {
  /** Of the bucket, with a slash at its end. */
  readonly base: URL;
  readonly region: string;
  readonly prefix: string;
  readonly credentials: AwsCredentials;
  readonly lock?: { readonly mode: 'GOVERNANCE' | 'COMPLIANCE'; readonly keptMs: number } | undefined;
  readonly egress: EgressPolicy;
  readonly http: HttpClient;
  readonly clock: Clock;
}

export class S3Sink implements RemoteSink {
  readonly name = 's3';
  readonly #options: S3SinkOptions;

  constructor(options: S3SinkOptions) {
    this.#options = options;
  }

  async send(batch: CheckpointBatch, signal: AbortSignal): Promise<void> {
    const { http, egress } = this.#options;
    const { url, headers } = this.#signed(batch);
    const { status } = await http.request({
      method: 'PUT',
      origin: url.origin,
      path: url.pathname,
      headers,
      body: batch.text,
      egress,
      maxResponseBytes: MAX_ANSWER_BYTES,
      signal,
    });
    requireAccepted(status);
  }

  /** By AWS Signature Version 4, the body included. */
  #signed({ text, id, at }: CheckpointBatch) {
    const { base, prefix, region, credentials, clock } = this.#options;
    const sum = createHash('sha256').update(text).digest();
    const url = new URL(`${prefix}${at.slice(0, 10)}/${id}.jsonl`, base);
    const headers = {
      'content-type': 'application/jsonl',
      'x-amz-content-sha256': sum.toString('hex'),
      // A store asks for a checksum of its own where an object is to be locked.
      'x-amz-sdk-checksum-algorithm': 'SHA256',
      'x-amz-checksum-sha256': sum.toString('base64'),
      ...this.#lock(),
    };
    const request = { method: 'PUT', url, headers, body: text, region, service: 's3', at: clock.wall() };
    return { url, headers: signedHeaders(request, credentials) };
  }

  #lock(): Record<string, string> {
    const { lock, clock } = this.#options;
    if (lock === undefined) return {};
    return {
      'x-amz-object-lock-mode': lock.mode,
      'x-amz-object-lock-retain-until-date': new Date(clock.wall() + lock.keptMs).toISOString(),
    };
  }
}
