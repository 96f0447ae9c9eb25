// Explanation: how a call would be decided if it were made now.
import type { JsonObject } from '../json.ts';
import type { Grant } from './admitted-call.ts';
import type { ToolRequest } from './tool-call.ts';
import type { ToolRefusal } from './tool-response.ts';

export interface ExplainRequest extends Pick<
  ToolRequest,
  'tool' | 'arguments' | 'largeIntegers' | 'context' | 'credential' | 'door'
> {
  /** Whose call it would be. Left out: that of whoever holds the credential. */
  readonly as?: Grant;
}

export interface Explanation {
  /** Set where the call would be refused before policies are asked: its credential, its tool, its arguments. */
  readonly refusal: ToolRefusal | undefined;
  /** What extensions told, by their names. */
  readonly told: Readonly<Record<string, JsonObject>>;
}
