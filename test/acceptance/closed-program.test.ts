// Interpreters and programs that lie behind a folder which is closed (a home of mode 0700, as pyenv and nvm are in): the
// operator learns which folder it is, and what opens it.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findProgram } from '../../src/executors/shell/find-program.ts';
import { findMcpProgram } from '../../src/lib/mcp/mcp-command.ts';
import { confiningSpawner, type ConfiningSpawner } from '../helpers/confining-spawner.ts';
import { PythonBench } from '../helpers/python-ports.ts';
import { RUNGS } from '../helpers/rungs.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const isRoot = process.getuid?.() === 0;

let home: string;
let program: string;
let spawner: ConfiningSpawner | undefined;

beforeEach(() => {
  home = tempDir();
  program = join(home, 'versions/1.0/bin/program');
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
  // Root is another user in the sandbox; who is not root already is one who may not pass this.
  chmodSync(home, isRoot ? 0o700 : 0o000);
});

afterEach(async () => {
  await spawner?.closeAll();
  chmodSync(home, 0o700);
  removeDir(home);
});

describe.each(RUNGS)('on the rung %s', (_rung, settings) => {
  it('a Python interpreter: the folder and the remedy', async () => {
    // So much that it is no script whose files could be handed over.
    if (isRoot) for (let n = 0; n < 300; n += 1) writeFileSync(join(dirname(program), `module${n}.py`), '');
    spawner = confiningSpawner({ settings });
    const bench = new PythonBench(spawner, { workers: 1, sandbox: 'required', interpreter: program });
    await expect(bench.prepare('good', 'echo')).rejects.toThrow(
      new RegExp(`may not pass ${home}\\..*"chmod o\\+x ${home}"`),
    );
    await bench.executor.close?.();
  });
});

/** Root may pass everywhere, and so finds them; whether its sandbox shows them is the case above. */
describe.skipIf(isRoot)('for a gateway that is not root', () => {
  const told = () => `${program} cannot be reached: the gateway's user may not pass ${home}.`;

  it('the program of a shell tool', () => {
    expect(() => findProgram(program, [home], false)).toThrow(`command: ${told()}`);
  });

  it('the program of an MCP server, by its path and on PATH', () => {
    expect(() => findMcpProgram(program, '/', '/usr/bin')).toThrow(`command: ${told()}`);
    const path = `/usr/bin:${dirname(program)}`;
    expect(() => findMcpProgram('program', '/', path)).toThrow(`command: ${told()}`);
  });
});
