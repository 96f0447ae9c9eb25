// A stream as it is parked: JSON text, read again with no trust in what stands there.
import { z } from 'zod';
import { isLanguageTag } from '../../lib/text/language-tag.ts';
import type { StreamState } from './conversation/stream-state.ts';
import type { StreamMessage } from './messages/server-messages.ts';

/** A stream that takes more is not handed over: its client starts another one, with the session. */
const LARGEST = 8 << 20;

const count = z.int().min(0);
const numbered = z.object({
  seq: count.min(1),
  size: count,
  message: z.looseObject({ type: z.string() }),
});

const parked = z.object({
  version: z.literal(1),
  id: z.uuid(),
  tokenHash: z.string().regex(/^[0-9a-f]{64}$/),
  principalId: z.string().min(1),
  tenantId: z.string().min(1),
  sessionId: z.string().min(1),
  isDeclared: z.boolean(),
  language: z.string().refine(isLanguageTag).optional(),
  turn: count,
  isTurnNew: z.boolean(),
  isTurnOver: z.boolean(),
  received: count,
  named: count,
  next: count.min(1),
  kept: z.array(numbered),
});

/** Undefined: it is too large to be handed over. */
export function stateJson(state: StreamState): string | undefined {
  const json = JSON.stringify({ version: 1, ...state });
  return json.length <= LARGEST ? json : undefined;
}

/** Undefined: none of us wrote this, or another version did. */
export function readState(text: string): StreamState | undefined {
  if (text.length > LARGEST) return undefined;
  try {
    const read = parked.safeParse(JSON.parse(text));
    if (!read.success) return undefined;
    const { version: _version, kept, ...state } = read.data;
    const isInOrder = kept.every(({ seq }, index) => seq === state.next - kept.length + index);
    if (!isInOrder) return undefined;
    return {
      ...state,
      kept: kept.map(({ seq, size, message }) => ({
        seq,
        size,
        message: message as unknown as StreamMessage,
      })),
    };
  } catch {
    return undefined;
  }
}
