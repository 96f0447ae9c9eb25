// Readiness of several processes: ready as long as one serves and none that serves refuses calls.
import { describe, expect, it } from 'vitest';
import { jointReadiness, missingProcesses, refusingProcess } from './joint-readiness.ts';
import type { ProcessState } from './messages.ts';

const serving = (process: number): ProcessState => ({ process, state: 'serving' });
const starting = (process: number): ProcessState => ({ process, state: 'starting' });
const refusing: ProcessState = { process: 2, state: 'refusing', reason: 'the disk is full' };
const OK = { status: 200, body: { status: 'ok' } };

describe('joint readiness', () => {
  it('is that of a process that serves, and names each', () => {
    expect(jointReadiness([serving(1), starting(2)], [OK], undefined)).toEqual({
      status: 200,
      body: { status: 'ok', processes: { 1: 'serving', 2: 'starting' } },
    });
  });

  it('is that of the one that refuses calls', () => {
    const no = { status: 503, body: { status: 'unavailable', reason: 'the disk is full' } };
    expect(jointReadiness([serving(1), refusing], [OK, no], undefined)).toMatchObject({
      status: 503,
      body: { reason: 'the disk is full', processes: { 2: 'refusing: the disk is full' } },
    });
  });

  it('is 503 where nobody answers, and while the gateway starts or drains', () => {
    expect(jointReadiness([starting(1)], [], undefined)).toMatchObject({ status: 503 });
    expect(jointReadiness([serving(1)], [OK], 'draining')).toMatchObject({
      status: 503,
      body: { status: 'unavailable', reason: 'draining' },
    });
  });
});

it('who is missing and who refuses is said in a sentence, and nothing where all is well', () => {
  expect(missingProcesses([serving(1), serving(2)])).toBeUndefined();
  expect(missingProcesses([serving(1), starting(2)])).toMatch(/^1 of 2 processes serve; process 2 /);
  expect(refusingProcess([serving(1), starting(2)])).toBeUndefined();
  expect(refusingProcess([serving(1), refusing])).toBe('process 2: the disk is full');
});
