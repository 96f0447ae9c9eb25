// What a Python tool says while it runs: no part of a secret at the edge of what is cut.
import { expect, it } from 'vitest';
import { secretScrubber } from '../../lib/secrets/scrub-secrets.ts';
import { shownEvent, shownLine } from './shown-words.ts';
import { failureOf } from './worker/answer.ts';

const SECRET = 'sk-live-0123456789abcdef';
const scrubber = secretScrubber([SECRET]);

it('a line that goes on ends before what may be a secret; a whole one stays whole', () => {
  for (const length of [999, 1_000]) {
    const line = `${'x'.repeat(length - 10)}${SECRET.slice(0, 10)}`;
    expect(shownLine(line, true, scrubber)).toMatch(/^x+…$/);
    expect(shownLine(line, false, scrubber)).toBe(line);
  }
});

it('progress and errors are cut after the secrets are out', () => {
  const message = `${'x'.repeat(490)}${SECRET}${'y'.repeat(3_000)}`;
  const error = { type: 'AUTH', reason: null, message, retryable: false, exception: null, traceback: null };
  const said = [shownEvent({ kind: 'progress', message }, scrubber), failureOf(error, scrubber).message];
  expect(JSON.stringify(said)).not.toContain('sk-l');
  expect(said[1]).toMatch(/^x{490}/);
});
