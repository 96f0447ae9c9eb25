// SQLSTATEs as our error types: none shows the server's words, none of them may have left anything behind.
import { DatabaseError } from 'pg';
import { describe, expect, it } from 'vitest';
import { failureOf, isStale } from './sql-failures.ts';

function serverError(code: string): Error {
  const error = new DatabaseError('the secret is 4711', 0, 'error');
  error.code = code;
  return error;
}

describe('failureOf', () => {
  it.each([
    ['23505', 'CONFLICT', 'tool'],
    ['23514', 'VALIDATION', 'tool'],
    ['22P02', 'VALIDATION', 'tool'],
    ['22012', 'PERMANENT', 'tool'],
    ['40001', 'TRANSIENT', 'tool'],
    ['40P01', 'TRANSIENT', 'tool'],
    ['42501', 'PERMISSION_DENIED', 'tool'],
    ['25006', 'PERMISSION_DENIED', 'tool'],
    ['57014', 'TIMEOUT', 'gateway'],
    ['57P01', 'UNAVAILABLE', 'gateway'],
    ['53300', 'UNAVAILABLE', 'gateway'],
    ['08006', 'UNAVAILABLE', 'gateway'],
    ['P0001', 'PERMANENT', 'tool'],
    ['XX000', 'PERMANENT', 'tool'],
  ])('%s is %s of the %s', (code, type, origin) => {
    const failure = failureOf(serverError(code));
    expect(failure).toMatchObject({ type, origin, partialSideEffects: false });
    expect(JSON.stringify([failure.message, failure.details])).not.toContain('4711');
    expect(failure.cause).toMatchObject({ message: 'the secret is 4711' });
  });

  it('what is no error of the server is a lost connection', () => {
    expect(failureOf(new Error('ECONNRESET'))).toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'CONNECTION_LOST',
    });
  });

  it('a plan that no longer fits spoils its connection', () => {
    expect(['0A000', '26000', '42P01'].map((code) => isStale(serverError(code)))).toEqual([
      true,
      true,
      false,
    ]);
  });
});
