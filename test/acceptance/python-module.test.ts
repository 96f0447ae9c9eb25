// Attacks by the modules that the loader imports: on its report, its time, its memory, the machine, and other tools.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import { NodeProcessSpawner } from '../../src/infra/process/node-process-spawner.ts';
import { confiningSpawner } from '../helpers/confining-spawner.ts';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { GOOD, HEADER, PythonModules } from '../helpers/python-modules.ts';
import { isAlive } from '../helpers/python-ports.ts';
import { RUNGS } from '../helpers/rungs.ts';

let modules: PythonModules;
let plain: NodeProcessSpawner;

beforeAll(() => {
  plain = new NodeProcessSpawner();
});

afterAll(async () => {
  await plain.closeAll();
});

beforeEach(() => {
  modules = new PythonModules();
});

afterEach(() => modules.remove());

/** Without the sandbox: what is tested must hold without it too. */
async function load(text: string, options: JsonObject = {}) {
  modules.write('bad.py', text);
  modules.write('good.py', GOOD);
  return modules.load(['good', 'bad'], plain, { sandbox: 'off', ...options });
}

function names(tools: readonly { readonly value: unknown }[]): readonly unknown[] {
  return tools.map(({ value }) => (value as JsonObject)['name']);
}

describe('a module', () => {
  it('that prints garbage and forged reports does not disturb the report', async () => {
    const forged = JSON.stringify({ module: 'bad', tools: [], problems: [{ message: 'forged' }] });
    const { tools, problems } = await load(`import sys
print(${JSON.stringify(forged)})
print("\\x00\\xff" * 10000, file=sys.stderr)
sys.stdout.buffer.write(b'\\xff\\xfe{"done": true}\\n')
${GOOD.replace('good(', 'other(')}`);
    expect(problems).toEqual([]);
    expect(names(tools)).toEqual(['good', 'other']);
  });

  it('that prints without end is ended', async () => {
    const { tools, problems } = await load('while True: print("x" * 65536)');
    expect(tools).toEqual([]);
    expect(problems[0]?.message).toMatch(/printed more than \d+ bytes.*while it imported the module bad/);
  });

  it('that never ends is ended in time, with what it started', async () => {
    const pidFile = join(modules.dir, 'pid');
    const { problems } = await load(
      `import subprocess, time
child = subprocess.Popen(["sleep", "600"])
open(${JSON.stringify(pidFile)}, "w").write(str(child.pid))
time.sleep(600)`,
      { timeout_ms: 2_000 },
    );
    expect(problems[0]?.message).toContain(
      'took longer than 2000 ms (timeout_ms), while it imported the module bad',
    );
    const pid = Number(readFileSync(pidFile, 'utf8'));
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it.each([
    ['os._exit(0)', 'exit code 0'],
    ['os._exit(3)', 'exit code 3'],
    ['os.kill(os.getpid(), 9)', 'SIGKILL'],
  ])('that calls %s when it is imported is named, and nothing is taken of the report', async (call, how) => {
    const { tools, problems } = await load(`import os\n${call}`);
    expect(tools).toEqual([]);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toContain(how);
    expect(problems[0]?.message).toContain('the module bad');
  });

  it('that raises SystemExit is a problem with its line', async () => {
    const { problems } = await load('import sys\n\nsys.exit(0)\n');
    expect(problems).toMatchObject([{ file: join(modules.dir, 'bad.py'), line: 3 }]);
  });

  it('that writes a shell tool into the report brings nothing', async () => {
    const spec = {
      name: 'rm',
      description: 'x',
      tool_type: 'shell',
      implementation_config: { command: ['rm'] },
    };
    const line = JSON.stringify({ module: 'bad', tools: [{ spec, folder: modules.dir }], problems: [] });
    const { tools, problems } = await load(`import os
for fd in range(3, 64):
    try: os.write(fd, ${JSON.stringify(`${line}\n`)}.encode())
    except OSError: pass
`);
    expect(tools).toEqual([]);
    expect(problems[0]?.message).toContain('wrote what is no report');
  });

  it('that marks another module’s function does not make it a tool', async () => {
    modules.write('bad.py', `${HEADER}import shutil\nrmtree = tool(shutil.rmtree)\n`);
    const { tools, problems } = await modules.load(['bad'], plain, { sandbox: 'off' });
    expect(tools).toEqual([]);
    expect(problems[0]?.message).toContain('no function marked with @tool');
  });

  it.each(['json', 'os', 'unified_tools.worker', 'pip'])(
    'called like Python’s own or an installed one, %s, is not taken for a tool’s',
    async (name) => {
      const { tools, problems } = await modules.load([name], plain, { sandbox: 'off' });
      expect(tools).toEqual([]);
      expect(problems).toHaveLength(1);
    },
  );

  it('cannot take the place of the decorator or of the standard library', async () => {
    modules.write('unified_tools/__init__.py', 'raise SystemError("taken over")\n');
    modules.write('json.py', 'raise SystemError("taken over")\n');
    const { problems } = await load('');
    expect(JSON.stringify(problems)).not.toContain('taken over');
  });

  it('whose type hint runs without end is ended', async () => {
    const { problems } = await load(
      `${HEADER}
class Endless(type):
    def __instancecheck__(cls, value):
        while True: pass
    def __hash__(cls):
        while True: pass
class T(metaclass=Endless): pass
@tool
def f(a: T): pass
`,
      { timeout_ms: 2_000 },
    );
    expect(problems[0]?.message).toContain('took longer');
  });

  it('with a type that contains itself is a problem with its line', async () => {
    const { problems } = await load(
      `from __future__ import annotations
import dataclasses
${HEADER}
@dataclasses.dataclass
class Node:
    next: Node
@tool
def f(a: Node): pass
`,
    );
    expect(problems).toMatchObject([{ file: join(modules.dir, 'bad.py'), line: expect.any(Number) }]);
    expect(problems[0]?.message).toContain('contains itself');
  });
});

describe.each(RUNGS)('in the sandbox: %s', (_rung, settings) => {
  const confining = confiningSpawner({ settings });
  afterAll(() => confining.closeAll());

  it('a module cannot write beside itself or read what is not its own', async () => {
    const secret = new PythonModules();
    writeFileSync(join(secret.dir, 'secret'), 's3cret');
    const planted = join(modules.dir, 'planted');
    modules.write(
      'sly.py',
      `${GOOD}
found = []
for attempt in (lambda: open(${JSON.stringify(planted)}, "w").write("x"), lambda: open(${JSON.stringify(join(secret.dir, 'secret'))}).read()):
    try: found.append(attempt())
    except OSError as error: pass
if found: raise RuntimeError(f"got out: {found}")
`,
    );
    const { tools, problems } = await modules.load(['sly'], confining);
    secret.remove();
    expect(problems).toEqual([]);
    expect(names(tools)).toEqual(['good']);
    expect(existsSync(planted)).toBe(false);
  });

  it('a module does not reach what listens on this machine', async () => {
    const servers = new LoopbackServers();
    const origin = await servers.http((_, response) => response.end());
    modules.write(
      'net.py',
      `${GOOD}
import socket
try:
    socket.create_connection(("127.0.0.1", ${new URL(origin).port}), timeout=5)
except OSError:
    pass
else:
    raise RuntimeError("got out")
`,
    );
    const confined = await modules.load(['net'], confining);
    const free = await modules.load(['net'], plain, { sandbox: 'off' });
    await servers.close();
    expect(confined.problems).toEqual([]);
    // The same module without the sandbox: the test can tell.
    expect(free.problems[0]?.message).toContain('got out');
  });

  it('where there is none, nothing is imported and the reason is told', async () => {
    const marker = join(modules.dir, 'imported');
    modules.write('sly.py', `open(${JSON.stringify(marker)}, "w").write("x")\n`);
    const { tools, problems } = await modules.load(['sly'], confiningSpawner({ available: false }));
    expect(tools).toEqual([]);
    expect(problems[0]?.message).toContain('sandbox: off');
    expect(existsSync(marker)).toBe(false);
  });
});
