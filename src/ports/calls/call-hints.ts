// CallHints: what replicas publish to each other about calls that run: that one is to be cancelled, that one has news. Hints
// alone: the truth is in the rows, which are read again and again. Failure policy: continue.

export type CallHint = 'cancel' | 'news';

export interface CallHints {
  /** To every replica, this one included. Never throws. */
  publish(hint: CallHint, callId: string): void;
  /** The returned function ends the subscription. */
  subscribe(listener: (hint: CallHint, callId: string) => void): () => void;
}
