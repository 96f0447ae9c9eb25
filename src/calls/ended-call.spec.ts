// What is answered for a call of which nothing but its row is left.
import { describe, expect, it } from 'vitest';
import type { StoredCall } from '../ports/calls/call-store.ts';
import { endedWithout } from './ended-call.ts';

const ended = (errorType: string, reason: string) => {
  const call = {
    id: 'c-1',
    tool: 'echo',
    toolVersion: '1.0.0',
    executor: 'javascript',
    errorType,
    reason,
    partialSideEffects: false,
    durationMs: null,
    registryVersion: '1.0',
    traceId: '',
  };
  return endedWithout(call as StoredCall).error;
};

describe('a call without an answer of its own', () => {
  it.each([
    ['CANCELLED', 'CANCELLED', 'cancelled before it ran'],
    ['TIMEOUT', 'WAITED_TOO_LONG', 'waited for longer'],
    ['UNAVAILABLE', 'OWNER_LOST', 'was lost each time'],
    ['PERMISSION_DENIED', 'APPROVAL_REJECTED', 'rejected by an approver'],
    ['CONFLICT', 'APPROVAL_EXPIRED', 'Nobody decided'],
    ['OUTCOME_UNKNOWN', 'OWNER_LOST', 'whether the tool acted is not known'],
    ['VALIDATION', 'SCHEMA_MISMATCH', 'was refused when it was made'],
    ['NOT_FOUND', 'TOOL_NOT_FOUND', 'was refused when it was made'],
  ])('that ended as %s (%s) says what became of it', (type, reason, message) => {
    expect(ended(type, reason)).toMatchObject({ type, reason, message: expect.stringContaining(message) });
  });
});
