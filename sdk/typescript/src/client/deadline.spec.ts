// Deadline: a time that is over is told as such, whoever kept it, and the caller's own signal comes first.
import { expect, it } from 'vitest';
import { DeadlineError } from '../errors/gateway-error.ts';
import { Deadline } from './deadline.ts';

it('is not over before its time, and is where another clock was a moment ahead', () => {
  const deadline = new Deadline(60_000);
  expect(() => deadline.throwIfOver()).not.toThrow();
  expect(() => deadline.throwAsOver(new Error('Deadline exceeded after 59.999s'))).toThrow(DeadlineError);
});

it('says what the caller said who gave up', () => {
  const caller = new AbortController();
  const deadline = new Deadline(60_000, caller.signal);
  caller.abort(new Error('enough'));
  expect(() => deadline.throwIfOver()).toThrow('enough');
  expect(() => deadline.throwAsOver(new Error('Deadline exceeded'))).toThrow('enough');
});

it('is over with its time', () => {
  expect(() => new Deadline(0).throwIfOver()).toThrow(DeadlineError);
});
