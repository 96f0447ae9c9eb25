// Every way in which a gateway is started gives Node the same flags: what they are for is in docs/capacity.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const PLACES = [
  'deploy/docker/Dockerfile',
  'deploy/systemd/unified-tool-executor.service',
  'docs/guide/01-start.md',
  'src/app/process/serve-here.ts',
];

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
/** What stands between `node` and the program, of the one line that starts it. */
const flagsOf = (text: string) =>
  (/\bnode\b[", ]+(--expose-gc\b.*)$/m.exec(text)?.[1] ?? '').match(/--[\w-]+(?:=\d+)?/g) ?? [];

const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: { readonly start: string } };

describe('the flags of Node', () => {
  it('are all that stands between `node` and the program in `npm start`', () => {
    expect(flagsOf(scripts.start)).not.toEqual([]);
    expect(flagsOf(scripts.start)).toEqual(scripts.start.split(' ').slice(1, -1));
  });

  it.each(PLACES)('are those of `npm start` in %s', (path) => {
    expect(flagsOf(read(path))).toEqual(flagsOf(scripts.start));
  });

  it.each(flagsOf(scripts.start))('%s is explained in docs/capacity.md', (flag) => {
    expect(read('docs/capacity.md')).toContain(flag);
  });
});
