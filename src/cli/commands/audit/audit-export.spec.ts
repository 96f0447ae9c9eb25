// `ute audit export`: what a gateway refuses leaves no file, which `verify` would call a whole chain of no records.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { removeDir, tempDir } from '../../../../test/helpers/temp-tools.ts';
import { run } from '../../run.ts';

let dir: string;
beforeAll(() => void (dir = tempDir()));
afterAll(() => removeDir(dir));

function exported(name: string, answers: readonly Response[]) {
  const left = [...answers];
  const io = {
    stdout: () => undefined,
    stderr: () => undefined,
    readStdin: async () => '',
    fetch: async () => left.shift() ?? new Response('{}', { status: 500 }),
    env: { UTE_URL: 'http://127.0.0.1:1', UTE_API_KEY: 'k' },
    cwd: dir,
  };
  return run(['audit', 'export', name], io);
}

const page = (from: number, count: number) =>
  new Response(Array.from({ length: count }, (_, at) => `{"seq":${from + at}}\n`).join(''));

it('leaves no file where it was refused', async () => {
  expect(await exported('refused.jsonl', [new Response('{}', { status: 401 })])).not.toBe(0);
  expect(existsSync(join(dir, 'refused.jsonl'))).toBe(false);
});

it('keeps what came before a failure, and says that it failed', async () => {
  expect(await exported('part.jsonl', [page(1, 1_000), new Response('{}', { status: 503 })])).not.toBe(0);
  expect(readFileSync(join(dir, 'part.jsonl'), 'utf8').split('\n')).toHaveLength(1_001);
});

it('writes all pages', async () => {
  expect(await exported('all.jsonl', [page(1, 1_000), page(1_001, 2)])).toBe(0);
  expect(readFileSync(join(dir, 'all.jsonl'), 'utf8').split('\n')).toHaveLength(1_003);
});
