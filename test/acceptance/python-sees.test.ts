// What a Python module tool sees of the operator's folders: the modules it needs, and nothing that lies beside them.
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { confiningSpawner, type ConfiningSpawner } from '../helpers/confining-spawner.ts';
import { PythonBench } from '../helpers/python-ports.ts';
import { PythonModules } from '../helpers/python-modules.ts';
import { RUNGS } from '../helpers/rungs.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const LOOK = [
  'import os',
  'import helper',
  'def can_read(path):',
  '    try:',
  '        return bool(os.listdir(path) if os.path.isdir(path) else open(path).read())',
  '    except OSError:',
  '        return False',
  'def helped():',
  '    return helper.VALUE',
  'def load(name):',
  '    try:',
  '        return str(__import__(name))',
  '    except ImportError as error:',
  '        return type(error).__name__',
  '',
].join('\n');

/** As an operator's folder looks: the tools beside settings, secrets and the gateway's data. */
const FILES: Readonly<Record<string, string>> = {
  'tools.yaml': 'tools: []',
  'gateway.yaml': 'auth: {}',
  '.env': 'SECRET=s3cret',
  'key.pem': 'PRIVATE KEY',
  'data/approvals.json': 'of another tenant',
  'look.py': LOOK,
  'helper.py': 'from pack.inner import VALUE\n',
  'pack/__init__.py': '',
  'pack/inner.py': 'VALUE = "helped"\n',
  'pack/table.csv': 'a,b',
  'pack/state/approvals.json': 'of another tenant',
  'other.py': 'PASSWORD = "s3cret"\n',
};

const SECRET = ['tools.yaml', 'gateway.yaml', '.env', 'key.pem', 'data', 'data/approvals.json'];
const NEEDED = ['look.py', 'helper.py', 'pack/inner.py', 'pack/table.csv'];

describe.each(RUNGS)('%s', (_rung, settings) => {
  const spawners: ConfiningSpawner[] = [];
  afterAll(() => Promise.all(spawners.map((each) => each.closeAll())));
  let dir: string;
  beforeEach(() => {
    dir = tempDir();
    for (const [name, text] of Object.entries(FILES)) {
      const path = join(dir, name);
      mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
      writeFileSync(path, text, { mode: 0o644 });
    }
    chmodSync(dir, 0o755);
  });
  afterEach(() => removeDir(dir));

  function spawnerHiding(...hidden: readonly string[]): ConfiningSpawner {
    const spawner = confiningSpawner({ settings, hidden: hidden.map((name) => join(dir, name)) });
    spawners.push(spawner);
    return spawner;
  }

  async function seenBy(bench: PythonBench, names: readonly string[]): Promise<readonly string[]> {
    const canRead = await bench.callable('look.can_read', { baseDir: dir });
    const seen = await Promise.all(names.map((name) => canRead({ path: join(dir, name) })));
    return names.filter((_name, index) => seen[index] === true);
  }

  const MODES = [
    ['beside the tools file', () => ({ modulePaths: [] }), ['other.py']],
    ['of a folder of modules', () => ({ modulePaths: [dir] }), []],
    [
      'listed under modules',
      () => ({ modulePaths: [dir], modules: ['look', 'helper', 'pack'] }),
      ['other.py'],
    ],
  ] as const;

  it.each(MODES)(
    'a module %s sees what it imports, and no file beside it',
    async (_where, where, foreign) => {
      const bench = new PythonBench(spawnerHiding(), {
        ...where(),
        modulePaths: [...where().modulePaths],
        workers: 1,
        sandbox: 'required',
      });
      const helped = await bench.callable('look.helped', { baseDir: dir });
      expect(await helped()).toBe('helped');
      expect(await seenBy(bench, [...SECRET, ...foreign])).toEqual([]);
      expect(await seenBy(bench, NEEDED)).toEqual(NEEDED);
      await bench.executor.close?.();
    },
  );

  it('a module that no tool names and none imports is not there', async () => {
    const bench = new PythonBench(spawnerHiding(), { modulePaths: [], workers: 1, sandbox: 'required' });
    const load = await bench.callable('look.load', { baseDir: dir });
    expect(await load({ name: 'other' })).toBe('ModuleNotFoundError');
    await bench.executor.close?.();
  });

  it('data, settings and keys of the gateway are not seen where they lie in a package or a readable folder', async () => {
    symlinkSync('../data', join(dir, 'pack/link'));
    const hiding = spawnerHiding('pack/state', 'data', 'gateway.yaml', 'key.pem');
    const common = { modulePaths: [], workers: 1, sandbox: 'required' } as const;
    const bench = new PythonBench(hiding, { ...common, readable: [dir] });
    const hidden = [
      'pack/state/approvals.json',
      'pack/link/approvals.json',
      'data/approvals.json',
      'gateway.yaml',
      'key.pem',
    ];
    expect(await seenBy(bench, hidden)).toEqual([]);
    expect(await seenBy(bench, [...NEEDED, 'tools.yaml'])).toEqual([...NEEDED, 'tools.yaml']);
    await bench.executor.close?.();
    const asked = new PythonBench(hiding, { ...common, readable: [join(dir, 'data')] });
    await expect(asked.prepare('look', 'helped', { baseDir: dir })).rejects.toThrow(
      /data cannot be shown in the sandbox.*belongs to the gateway itself/,
    );
    const written = new PythonBench(hiding, { ...common, writable: [dir] });
    await expect(written.prepare('look', 'helped', { baseDir: dir })).rejects.toThrow(
      /belongs to the gateway itself/,
    );
    await asked.executor.close?.();
    await written.executor.close?.();
  });

  it('modules named by tools of one load share workers, and each sees the other', async () => {
    const bench = new PythonBench(spawnerHiding(), { modulePaths: [], workers: 1, sandbox: 'required' });
    const second = bench.prepare('other', 'missing', { baseDir: dir });
    const [, refused] = await Promise.allSettled([bench.callable('look.helped', { baseDir: dir }), second]);
    expect(refused).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringContaining('no function `missing`') },
    });
    expect(await seenBy(bench, ['other.py'])).toEqual(['other.py']);
    await bench.executor.close?.();
  });

  it('while modules are described, they see no file beside them either', async () => {
    const modules = new PythonModules();
    modules.write('.env', 'SECRET=s3cret');
    modules.write('other.py', 'PASSWORD = 1\n');
    modules.write(
      'good.py',
      [
        'import os',
        'from unified_tools import tool',
        '',
        '@tool',
        'def good(a: int) -> int:',
        '    """Good."""',
        '    return a',
        '',
        'here = os.path.dirname(__file__)',
        'for name in (".env", "other.py"):',
        '    try:',
        '        found = open(os.path.join(here, name)).read()',
        '    except OSError:',
        '        continue',
        '    raise RuntimeError(f"sees {name}")',
        '',
      ].join('\n'),
    );
    const { tools, problems } = await modules.load(['good'], spawnerHiding());
    modules.remove();
    expect(problems).toEqual([]);
    expect(tools).toHaveLength(1);
  });
});
