// Whether a failed call may have done something: what its envelope, its record and whoever tries again go by.
import { expect, it } from 'vitest';
import { callOf, functionOf } from '../../test/helpers/call-kit.ts';
import type { CallProgress } from '../contract/call/tool-call.ts';
import { ToolFailure, type FailureDetails } from '../contract/call/tool-failure.ts';
import { refusalOf } from './settle.ts';

const ENTERED = { executorEntered: true, attempts: 1 } as const;
const AGAIN = { executorEntered: true, attempts: 2, mayHaveRun: true } as const;
const failed = (extra: FailureDetails = {}) => new ToolFailure('UNAVAILABLE', 'no', extra);
const KEY_MISSING = failed({ reason: 'SECRETS_KEY_MISSING' });

function mayHaveActed(thrown: unknown, progress: Partial<CallProgress>, readOnly = false): boolean {
  const call = callOf({ function: functionOf({ metadata: { readOnly } }) });
  Object.assign(call.progress, progress);
  return refusalOf(call, thrown).error.partialSideEffects;
}

it.each<[string, unknown, Partial<CallProgress>, boolean]>([
  ['before the tool is entered', failed({ reason: 'CONNECTION_LOST' }), { executorEntered: false }, false],
  ['where it does not know', failed({ reason: 'CONNECTION_LOST' }), ENTERED, true],
  ['where the reason says that nothing ran', KEY_MISSING, ENTERED, false],
  ['where the failure says that nothing ran', failed({ partialSideEffects: false }), ENTERED, false],
  ['where nothing ran now, but perhaps the time before', KEY_MISSING, AGAIN, true],
  ['the same by its own word', failed({ partialSideEffects: false }), AGAIN, true],
  [
    'where a tool uses a word of the gateway',
    failed({ reason: 'CONNECT_FAILED', origin: 'tool' }),
    ENTERED,
    true,
  ],
  ['where it admits so', failed({ reason: 'CONNECT_FAILED', partialSideEffects: true }), ENTERED, true],
  ['where the gateway itself broke', new Error('broken'), ENTERED, true],
])('a call %s', (_when, thrown, progress, may) => {
  expect(mayHaveActed(thrown, progress)).toBe(may);
});

it('a tool that only reads has done nothing, however often it was tried', () => {
  expect(mayHaveActed(failed({ reason: 'CONNECTION_LOST' }), AGAIN, true)).toBe(false);
});
