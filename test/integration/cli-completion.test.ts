// Completion scripts: bash itself completes with its one; those of zsh and fish are read by these shells where there are any, and hold every
// command and option in either case.
import { execFileSync, spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';
import { commandTree, everyCommand, type TreeCommand } from '../../src/cli/completion/command-tree.ts';
import type { CliIo } from '../../src/cli/cli-io.ts';
import { createProgram } from '../../src/cli/program.ts';
import { run } from '../../src/cli/run.ts';

const scripts: Record<string, string> = {};
let tree: TreeCommand;

function ioInto(parts: string[]): CliIo {
  const out = (text: string) => void parts.push(text);
  return { stdout: out, stderr: out, readStdin: async () => '', fetch, env: {}, cwd: '/' };
}

beforeAll(async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const parts: string[] = [];
    const code = await run(['completion', shell], ioInto(parts));
    if (code !== 0) throw new Error(parts.join(''));
    scripts[shell] = parts.join('');
  }
  tree = commandTree(createProgram(ioInto([]), () => undefined));
});

/** What bash offers with the cursor behind the last of the words. */
function offered(...words: readonly string[]): readonly string[] {
  const line = ['ute', ...words].map((word) => `'${word}'`).join(' ');
  const ask = `source <(cat); COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _ute_completion; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const options = {
    input: scripts['bash'],
    encoding: 'utf8' as const,
    env: { PATH: process.env['PATH'] ?? '' },
  };
  const said = execFileSync('bash', ['--norc', '--noprofile', '-uc', ask], options);
  return said.split('\n').filter((word) => word !== '');
}

describe('bash', () => {
  it.each([
    [['se'], ['secrets', 'sessions']],
    [
      ['sessions', 'c'],
      ['create', 'calls'],
    ],
    [['sessions', 'create', '--mo'], ['--mode']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish', '-h', '--help'],
    ],
    [['nothing', 'like', 'xyz'], []],
  ])('offers for %j', (words, expected) => {
    expect([...offered(...words)].toSorted()).toEqual([...expected].toSorted());
  });

  it('offers every command and option of the tree at its place', () => {
    // One process for each: those with commands of their own, and one leaf.
    const asked = [...everyCommand(tree)].filter(
      ({ commands, path }) => commands.length > 0 || path === 'ute call',
    );
    for (const { path, commands, options } of asked) {
      const wanted = [...commands.map(({ name }) => name), ...options.flatMap(({ flags }) => flags)];
      expect([path, ...offered(...path.split(' ').slice(1), '')]).toEqual([path, ...wanted]);
    }
  });

  it('offers the values of an option that has only so many, and else leaves files to bash', () => {
    expect(offered('sessions', 'create', '--mode', '')).toContain('voice');
    expect(offered('sessions', 'create', '--mode', 'vo')).toEqual(['voice']);
    expect(offered('sessions', 'create', '--agent', '')).toEqual([]);
    expect(scripts['bash']).toContain('complete -o default -F _ute_completion ute');
  });

  it('does not take the value of an option for a command', () => {
    expect(offered('sessions', 'list', '--agent', 'create', '--act')).toEqual(['--active']);
    expect(offered('sessions', 'list', '--user', 'x', '--mo')).toEqual([]);
  });
});

describe.each([
  ['zsh', ['-n']],
  ['fish', ['--no-execute']],
])('%s', (shell, check) => {
  it('names every command and option, each under the words that lead to it', () => {
    const lines = (scripts[shell] ?? '').split('\n');
    for (const { path, commands, options } of everyCommand(tree)) {
      const own = lines
        .filter((line) => line.includes(`'${path}')`) || line.includes(`\\'${path}\\''`))
        .join('\n');
      const wanted = [...commands.map(({ name }) => name), ...options.flatMap(({ flags }) => flags)];
      const missing = wanted.filter(
        (word) => !own.includes(shell === 'fish' ? word.replace(/^--?/, '') : `'${word}:`),
      );
      expect([path, missing]).toEqual([path, []]);
    }
  });

  it('has as many quotes as it needs: the shell reads it, where there is one', () => {
    const quotes = (scripts[shell] ?? '').replaceAll(/\\'/g, '').split("'").length - 1;
    expect(quotes % 2).toBe(0);
    const { error, status, stderr } = spawnSync(shell, check, { input: scripts[shell], encoding: 'utf8' });
    const isThere = error === undefined;
    expect(isThere ? [status, stderr] : [0, '']).toEqual([0, '']);
  });
});
