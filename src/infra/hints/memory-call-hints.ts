// MemoryCallHints: what the one process there is tells itself.
import type { CallHint, CallHints } from '../../ports/calls/call-hints.ts';

export class MemoryCallHints implements CallHints {
  readonly #listeners = new Set<(hint: CallHint, callId: string) => void>();

  publish(hint: CallHint, callId: string): void {
    for (const listener of this.#listeners) listener(hint, callId);
  }

  subscribe(listener: (hint: CallHint, callId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
