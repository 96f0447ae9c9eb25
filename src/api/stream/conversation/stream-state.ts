// What is kept of a stream, and who speaks in it.
import type { Credential, Principal } from '../../../contract/call/principal.ts';
import type { StreamMessage } from '../messages/server-messages.ts';
import type { Numbered } from './outbox.ts';

export interface Speaker {
  readonly credential: Credential;
  readonly principal: Principal;
}

/** What is kept of a stream, whoever holds it. */
export interface StreamState {
  readonly id: string;
  readonly tokenHash: string;
  readonly principalId: string;
  readonly tenantId: string;
  readonly sessionId: string;
  /** The stream declared the session itself. */
  readonly isDeclared: boolean;
  /** Of calls that name no other. */
  readonly language?: string | undefined;
  readonly turn: number;
  /** Nothing was called in it yet: it need not be begun. */
  readonly isTurnNew: boolean;
  readonly isTurnOver: boolean;
  readonly received: number;
  /** How many calls were given an id. */
  readonly named: number;
  readonly next: number;
  readonly kept: readonly Numbered<StreamMessage>[];
}
