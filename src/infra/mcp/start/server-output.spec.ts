// What a server prints: its last words are waited for where they come after its end, and not for ever.
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { FakeClock } from '../../../../test/helpers/fake-clock.ts';
import { quietLog } from '../../../../test/helpers/quiet-log.ts';
import { NOTHING_TO_SCRUB } from '../../../lib/secrets/scrub-secrets.ts';
import { ServerOutput } from './server-output.ts';

function printing() {
  const clock = new FakeClock();
  const output = new ServerOutput(quietLog, clock, NOTHING_TO_SCRUB);
  const stderr = new PassThrough();
  output.read(stderr);
  return { clock, output, stderr };
}

it('what comes after the end of its process is told, the last line without an end too', async () => {
  const { output, stderr } = printing();
  const told = output.lastLines();
  stderr.write('first\n');
  stderr.end('the end');
  expect(await told).toEqual(['first', 'the end']);
});

it('a process that it left, and that prints on, is not waited for', async () => {
  const { clock, output, stderr } = printing();
  stderr.write('first\n');
  const told = output.lastLines();
  await clock.advance(1_000);
  expect(await told).toEqual(['first']);
});

it('of a server that was never started nothing is told', async () => {
  expect(await new ServerOutput(quietLog, new FakeClock(), NOTHING_TO_SCRUB).lastLines()).toEqual([]);
});
