// References are found, resolved and refused at their place.
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { resolveReferences } from './references.ts';

describe('references', () => {
  let baseDir = '';
  const env = { USER: 'ada', EMPTY: '', TRICKY: '${env:USER}' };
  const resolve = (value: Parameters<typeof resolveReferences>[0]) =>
    resolveReferences(value, { env, baseDir });

  beforeAll(async () => {
    baseDir = await mkdtemp(join(tmpdir(), 'references-'));
    await writeFile(join(baseDir, 'password'), 's3cret\n');
    await writeFile(join(baseDir, 'binary'), Buffer.from([0xff, 0xfe]));
  });

  it('stand for variables and files, alone or inside a text, at any depth', async () => {
    const { value, faults } = await resolve({
      a: ['${env:USER}', 5],
      url: 'x://${env:USER}:${file:password}@h',
      e: '${env:EMPTY}',
    });
    expect(faults).toEqual([]);
    expect(value).toEqual({ a: ['ada', 5], url: 'x://ada:s3cret@h', e: '' });
  });

  it('are not looked for in what they bring in', async () => {
    expect((await resolve('${env:TRICKY}')).value).toBe('${env:USER}');
  });

  it('name the files that were read, also one that is not there yet', async () => {
    const { files } = await resolve(['${file:password}', '${file:later}']);
    expect([...files.keys()]).toEqual([join(baseDir, 'password'), join(baseDir, 'later')]);
  });

  it.each([
    ['${env:NOBODY}', 'the environment variable NOBODY is not set'],
    ['${file:later}', 'the file later does not exist'],
    ['${file:.}', 'the file . is not a regular file'],
    ['${file:binary}', 'the file binary is not UTF-8 text'],
    ['${USER}', 'expected ${env:NAME} or ${file:path}, found "${USER}"'],
    ['${vault:x}', 'expected ${env:NAME} or ${file:path}, found "${vault:x}"'],
    ['${env:}', 'expected ${env:NAME} or ${file:path}, found "${env:}"'],
  ])('%s is refused at its path', async (text, message) => {
    expect((await resolve({ list: [text] })).faults).toEqual([{ path: ['list', 0], message }]);
  });
});
