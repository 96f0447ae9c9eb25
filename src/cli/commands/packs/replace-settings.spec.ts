// replaceSettings: who may read gateway.yaml, where it lies and what others write into it outlive a pack that is added.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { removeDir, tempDir } from '../../../../test/helpers/temp-tools.ts';
import { replaceSettings } from './replace-settings.ts';

let dir: string;
let file: string;
const fits = () => Promise.resolve();

beforeEach(() => {
  dir = tempDir();
  file = join(dir, 'gateway.yaml');
  writeFileSync(file, 'old');
});
afterEach(() => removeDir(dir));

it.each([0o600, 0o640, 0o444])(
  'a file of mode %o, which may hold secrets, stays one, and so is its draft',
  async (mode) => {
    chmodSync(file, mode);
    let ofDraft = 0;
    const check = async (draft: string) => void (ofDraft = statSync(draft).mode & 0o777);
    await replaceSettings(file, { before: 'old', text: 'new', check });
    expect(readFileSync(file, 'utf8')).toBe('new');
    expect([ofDraft, statSync(file).mode & 0o777]).toEqual([mode, mode]);
  },
);

it('a link stays one, and what it leads to is replaced', async () => {
  const place = join(dir, 'elsewhere', 'real.yaml');
  mkdirSync(join(dir, 'elsewhere'));
  writeFileSync(place, 'old');
  const link = join(dir, 'link.yaml');
  symlinkSync('elsewhere/real.yaml', link);
  await replaceSettings(link, { before: 'old', text: 'new', check: fits });
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readFileSync(place, 'utf8')).toBe('new');
  expect(readdirSync(join(dir, 'elsewhere'))).toEqual(['real.yaml']);
});

it('what somebody else has written meanwhile is not written over, and that is told', async () => {
  const check = async () => writeFileSync(file, 'theirs');
  const replacing = replaceSettings(file, { before: 'old', text: 'new', check });
  await expect(replacing).rejects.toThrow('was changed meanwhile');
  expect(readFileSync(file, 'utf8')).toBe('theirs');
  const made = join(dir, 'made.yaml');
  const making = replaceSettings(made, {
    before: undefined,
    text: 'new',
    check: async () => writeFileSync(made, 'theirs'),
  });
  await expect(making).rejects.toThrow('was changed meanwhile');
  expect(readdirSync(dir).toSorted()).toEqual(['gateway.yaml', 'made.yaml']);
});

it('where there was none, there is one', async () => {
  const made = join(dir, 'a', 'gateway.yaml');
  await replaceSettings(made, { before: undefined, text: 'new', check: fits });
  expect(readFileSync(made, 'utf8')).toBe('new');
  expect(existsSync(`${made}.${process.pid}.yaml`)).toBe(false);
});
