// CallRoute: how calls and streams go where they do not go over REST and a WebSocket.
import type { OpenLine } from '../stream/line.ts';
import type { SendOnce } from './send-call.ts';

/** Whose calls they are. */
export interface SpeakerSource {
  credential(refresh: boolean): Promise<string | undefined>;
  /** Whether asking anew may bring another credential. */
  readonly hasTokens: boolean;
  readonly tenant: string | undefined;
  /** Where the gateway's REST is. */
  readonly base: string;
}

export interface CallRoute {
  calls(source: SpeakerSource): SendOnce;
  readonly lines: OpenLine;
  close(): void;
}
