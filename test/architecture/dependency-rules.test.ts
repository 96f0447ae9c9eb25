// The import rules bite: each kind of forbidden import makes dependency-cruiser red and says what to do instead.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const CRUISER = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
const CONFIG = '.dependency-cruiser.mjs';

interface Verdict {
  readonly red: boolean;
  readonly output: string;
}

function cruise(cwd: string): Promise<Verdict> {
  const args = [CRUISER, 'src', '--config', CONFIG, '--output-type', 'err-long'];
  return new Promise((done) => {
    execFile(process.execPath, args, { cwd, maxBuffer: 16 << 20 }, (error, stdout, stderr) =>
      done({ red: error !== null, output: (stdout + stderr).replaceAll(/\s+/g, ' ') }),
    );
  });
}

/** A source tree that breaks no rule, with one file per kind of folder. */
const CLEAN: Readonly<Record<string, string>> = {
  'src/contract/word.ts': 'export const word = 1;\n',
  'src/lib/pure.ts': 'export const pure = 2;\n',
  'src/core/heart.ts':
    "import { word } from '../contract/word.ts';\nimport { pure } from '../lib/pure.ts';\nexport const heart = word + pure;\n",
  'src/extensions/one/index.ts': "import { word } from '../../contract/word.ts';\nexport const one = word;\n",
  'src/extensions/two/index.ts': 'export const two = 2;\n',
  'src/executors/run/index.ts': 'export const run = 3;\n',
  'src/infra/process/spawn.ts': "import { spawn } from 'node:child_process';\nexport const start = spawn;\n",
  'src/lib/json-schema/ajv.ts': "import { Ajv } from 'ajv';\nexport const ajv = Ajv;\n",
};

type Breach = readonly [what: string, file: string, text: string, rule: string, instead: string];

const BREACHES: readonly Breach[] = [
  [
    'core importing an extension',
    'src/core/break.ts',
    "export { one } from '../extensions/one/index.ts';\n",
    'core-imports-only',
    'declare a port and let infra implement it.',
  ],
  [
    'an extension importing another',
    'src/extensions/two/break.ts',
    "export { one } from '../one/index.ts';\n",
    'extensions-import-only',
    'what two plugins need goes into lib or behind a port.',
  ],
  [
    'an executor importing an extension',
    'src/executors/run/break.ts',
    "export { one } from '../../extensions/one/index.ts';\n",
    'executors-import-only',
    'what two plugins need goes into lib or behind a port.',
  ],
  [
    'lib importing the contract',
    'src/lib/break.ts',
    "export { word } from '../contract/word.ts';\n",
    'lib-imports-only-itself',
    'pass the value in as a parameter.',
  ],
  [
    'ajv outside its fence',
    'src/core/break.ts',
    "export { Ajv } from 'ajv';\n",
    'ajv-only-in-json-schema',
    'Use createValidator or lintSchema of lib/json-schema',
  ],
  [
    'a child process outside its fence',
    'src/executors/run/break.ts',
    "export { spawn } from 'node:child_process';\n",
    'child-processes-only-in-infra-process',
    'Ask for the port ProcessSpawner',
  ],
  [
    'a cycle',
    'src/contract/word.ts',
    "import { other } from './other.ts';\nexport const word = other;\n",
    'no-circular',
    'move the shared piece to a file of its own.',
  ],
  [
    'a type-only import across the line',
    'src/core/break.ts',
    "import type { one } from '../extensions/one/index.ts';\nexport type One = typeof one;\n",
    'core-imports-only',
    'declare a port',
  ],
];

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ute-rules-'));
  cpSync(join(ROOT, CONFIG), join(dir, CONFIG));
  cpSync(join(ROOT, 'package.json'), join(dir, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  for (const [path, text] of Object.entries(CLEAN)) write(path, text);
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
}

describe('the import rules', () => {
  it('leave a tree in order alone', async () => {
    expect(await cruise(dir)).toMatchObject({ red: false });
  });

  it.each(BREACHES)(
    'refuse %s, by name and with what to do instead',
    async (_what, file, text, rule, instead) => {
      write(
        'src/contract/other.ts',
        "import { word } from './word.ts';\nexport const other = (): number => word;\n",
      );
      write(file, text);
      const { red, output } = await cruise(dir);
      expect(red).toBe(true);
      expect(output).toContain(rule);
      expect(output).toContain(file);
      expect(output).toContain(instead);
    },
  );

  it('hold for this repository', async () => {
    const { red, output } = await cruise(ROOT);
    expect(output).toContain('no dependency violations found');
    expect(red).toBe(false);
  });
});
