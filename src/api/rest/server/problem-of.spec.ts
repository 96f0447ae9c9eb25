// A problem is an error by its status as well: whoever looks at nothing else must not take it for a success.
import { describe, expect, it } from 'vitest';
import { errorRow } from '../../../contract/call/error-row.ts';
import { ERROR_TYPES, isErrorType } from '../../../contract/call/error-types.ts';
import { REASONS } from '../../../contract/call/reasons/reasons.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { problemOf } from './problem-of.ts';

const TYPES = Object.keys(ERROR_TYPES).filter(isErrorType);
const WORDS = [...Object.keys(REASONS), 'HTTP_503', 'A_WORD_OF_A_TOOL'];

describe.each(TYPES)('a problem of type %s', (type) => {
  it.each([undefined, 'caller', 'gateway', 'tool'] as const)(
    'never has the status of a success, whatever its reason and whoever reports it (%s)',
    (origin) => {
      const taken = [undefined, ...WORDS].filter((reason) => {
        const failure = new ToolFailure(type, 'no', {
          ...(origin !== undefined && { origin }),
          ...(reason !== undefined && { reason }),
        });
        const { status, json } = problemOf(failure, '/v1/x');
        const said = (JSON.parse(json) as { status: number }).status;
        return status < 400 || status > 599 || said !== status;
      });
      expect(taken).toEqual([]);
    },
  );

  it('has the status that the table has of it, where that is one of an error', () => {
    const others = WORDS.filter((reason) => {
      const { http } = errorRow(type, 'gateway', reason);
      return http >= 400 && problemOf(new ToolFailure(type, 'no', { reason }), '').status !== http;
    });
    expect(others).toEqual([]);
  });
});

it('what an upstream did is 502', () => {
  const denied = new ToolFailure('PERMANENT', 'no', { reason: 'EGRESS_DENIED' });
  expect(problemOf(denied, '').status).toBe(502);
  expect(problemOf(new ToolFailure('TRANSIENT', 'no', { reason: 'HTTP_500' }), '').status).toBe(502);
});
