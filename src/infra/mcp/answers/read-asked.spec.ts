// What a server asks and logs, cut: no half of a secret is left at the edge.
import { expect, it } from 'vitest';
import { FakeClock } from '../../../../test/helpers/fake-clock.ts';
import { secretScrubber } from '../../../lib/secrets/scrub-secrets.ts';
import { limitProgress } from './progress-limiter.ts';
import { readAllAsked, readAsked, readLog } from './read-asked.ts';

const SECRET = 'sk-live-0123456789abcdef0123456789abcdef';
const scrubber = secretScrubber([SECRET]);
/** The secret begins before the edge and ends behind it. */
const across = (edge: number) => `${'x'.repeat(edge - 20)}${SECRET}${'y'.repeat(100)}`;
const asked = (message: string) => ({ message, requestedSchema: { type: 'object' } });

it.each<[string, number, (text: string) => unknown]>([
  ['a question', 1_000, (text) => readAsked(asked(text), scrubber)],
  ['a question of an answer', 1_000, (text) => readAllAsked({ a: { params: asked(text) } }, scrubber)],
  ['a log line', 2_000, (text) => readLog({ level: 'info', data: text }, scrubber)],
  ['a log line with its origin', 1_990, (text) => readLog({ logger: 'db-main', data: text }, scrubber)],
  ['the origin of a log line', 100, (text) => readLog({ logger: text, data: 'x' }, scrubber)],
  [
    'progress',
    500,
    (text) => {
      const heard: unknown[] = [];
      limitProgress(new FakeClock(), scrubber, (each) => heard.push(each))({ progress: 1, message: text });
      return heard;
    },
  ],
])('%s', (_, edge, read) => {
  const shown = JSON.stringify(read(across(edge)));
  expect(shown).toContain('xxx');
  expect(shown).not.toContain(SECRET.slice(0, 6));
});
