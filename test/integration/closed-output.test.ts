// `ute` whose reader has gone, as start.ts hands the process to it: it ends quietly, and not as if all were well.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const PROGRAM = resolve(import.meta.dirname, '../../src/cli/start.ts');

it('ends as by SIGPIPE, without a word, when nobody reads what it says', async () => {
  const child = spawn(process.execPath, [PROGRAM, 'completion', 'bash']);
  child.stdout.destroy();
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  expect([code, said]).toEqual([141, '']);
});
