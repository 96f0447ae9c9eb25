// The walks of CONTRIBUTING.md hold: done as written in a copy of the repository, what they add builds, is checked and passes.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyCheckout } from '../helpers/checkout-copy.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';
import { doInCheckout, walksOf } from '../helpers/walk-steps.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const WALKS = walksOf(readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8'));
/** A build takes its time: once, when all walks are done. */
const AT_THE_END = /^(?:cat|npm run)/;
/** The last of the walks checks types, of all that was added: the compiler does not do it for the build as well. */
const UNCHECKED_BUILD = 'npm run build -- --noCheck';

let dir: string;
let checkout: string;
beforeAll(() => {
  dir = tempDir();
  checkout = join(dir, 'checkout');
  copyCheckout(checkout);
});
afterAll(() => removeDir(dir));

/** As somebody at a terminal: nothing of this run of tests is in the environment. */
function run(commands: string): Promise<{ readonly exitCode: unknown; readonly output: string }> {
  const { PATH, HOME } = process.env;
  return new Promise((done) => {
    execFile(
      'bash',
      ['-e', '-c', commands],
      { cwd: checkout, env: { PATH, HOME }, maxBuffer: 16 << 20 },
      (error, stdout, stderr) => done({ exitCode: error?.code ?? 0, output: stdout + stderr }),
    );
  });
}

describe('CONTRIBUTING.md', () => {
  const later: string[] = [];

  it('has a walk for everything that is added often', () => {
    expect(WALKS.map(({ title }) => title)).toEqual([
      'Add an executor',
      'Add an extension',
      'Add a loader',
      'Add a REST resource',
      'Add a port with its twins',
    ]);
  });

  it.each(WALKS)(
    '$title: its files and lines have their places, its tests pass',
    async ({ steps }) => {
      const ran = [];
      for (const step of steps) {
        if (step.kind !== 'run') doInCheckout(step, checkout);
        else if (AT_THE_END.test(step.commands)) later.push(step.commands);
        else ran.push(await run(step.commands));
      }
      expect(ran).toEqual([{ exitCode: 0, output: expect.stringMatching(/Tests.*passed/) }]);
    },
    400_000,
  );

  it('what the walks add builds, is generated and checked, and is complete on its shelf', async () => {
    const checks = [
      'npx oxfmt --check src/executors src/extensions src/loaders src/api/rest src/ports src/infra/tally src/app/adapters',
      'npx vitest run test/architecture/shelves.test.ts',
    ];
    expect(later).toContain('npm run types && npm run deps\n');
    for (const commands of [...new Set(later), ...checks])
      expect(await run(commands.replace('npm run build', UNCHECKED_BUILD))).toEqual({
        exitCode: 0,
        output: expect.any(String),
      });
  }, 900_000);
});
