// Intents: what a tool asks the caller to do. Tools never change session state themselves.
import type { JsonValue } from '../json.ts';

export const INTENT_TYPES = [
  'END_VOICE_SESSION',
  'SUPPRESS_AUDIO',
  'SUPPRESS_TRANSCRIPT',
  'SET_PENDING_MESSAGE',
] as const;

/** One of INTENT_TYPES, or a custom UPPER_SNAKE word. */
export interface Intent {
  readonly type: string;
  readonly [field: string]: JsonValue;
}
