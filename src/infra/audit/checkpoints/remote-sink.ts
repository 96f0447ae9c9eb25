// RemoteSink: another place of checkpoints, beside the file: a receiver of messages, or a bucket.
export interface CheckpointBatch {
  /** Checkpoints in the order in which they were made, one JSON each, with line breaks. */
  readonly text: string;
  /** The same for the same checkpoints: what is sent again can be told by it. */
  readonly id: string;
  /** ISO 8601: of the last one. */
  readonly at: string;
}

export interface RemoteSink {
  /** As metrics and /readyz name it. */
  readonly name: 'webhook' | 's3';
  /** Kept there when it resolves. Rejects with a sentence that holds no secret. */
  send(batch: CheckpointBatch, signal: AbortSignal): Promise<void>;
}

/** An answer that is no success, in words. */
export function requireAccepted(status: number): void {
  if (status < 200 || status >= 300) throw new Error(`it answered ${status}`);
}

export const MAX_ANSWER_BYTES = 64 * 1024;
