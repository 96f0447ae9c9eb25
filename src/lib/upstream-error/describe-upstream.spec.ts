// What callers read of an upstream's error: no secret, and no half of one.
import { expect, it } from 'vitest';
import { secretScrubber } from '../secrets/scrub-secrets.ts';
import { describeUpstream } from './describe-upstream.ts';

it.each([65_536, 98_304])('a secret across byte %i of a body leaves no half behind', (edge) => {
  const secret = 'sk-live-0123456789abcdef0123456789abcdef';
  // Tags go, so that the edge of what is read lies within what is shown.
  const before = '<b></b>'
    .repeat(20_000)
    .slice(0, edge - 20)
    .padEnd(edge - 20);
  const body = Buffer.from(before + secret + ' '.repeat(200_000));
  const said = describeUpstream({ headers: { 'content-type': 'text/html' }, body }, secretScrubber([secret]));
  expect(JSON.stringify(said)).not.toContain(secret.slice(0, 12));
});
