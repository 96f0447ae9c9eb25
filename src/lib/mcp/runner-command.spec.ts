// Commands of READMEs that run packages: one version for good, or refused with what was expected.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PACKAGE_RUNNERS } from './package-runners.ts';
import { packageCommand, runnerProblem } from './runner-command.ts';

describe('a command of a README', () => {
  it.each<[string, string[], object]>([
    ['npx', ['-y', '@s/n@1.2.3', 'a', '-p'], { packages: ['@s/n@1.2.3'], args: ['a', '-p'] }],
    ['/usr/bin/npx', ['n'], { packages: ['n'], args: [] }],
    [
      'npx',
      ['--package=a@1.2.3', '-p', 'b@1.0.0', '--', 'prog', 'x'],
      { packages: ['a@1.2.3', 'b@1.0.0'], program: 'prog', args: ['x'] },
    ],
    ['npm', ['exec', '-y', 'n@1.2.3'], { packages: ['n@1.2.3'] }],
    ['pnpm', ['dlx', 'n@1.2.3'], { packages: ['n@1.2.3'] }],
    ['uvx', ['n==1.2', '--db', 'x'], { registry: 'pypi', packages: ['n==1.2'], args: ['--db', 'x'] }],
    [
      'uvx',
      ['--from', 'n[cli]==1.2', '--with', 'mcp==1.0', 'prog'],
      { packages: ['n[cli]==1.2', 'mcp==1.0'], program: 'prog' },
    ],
    ['uv', ['tool', 'run', 'n@1.2'], { registry: 'pypi', packages: ['n@1.2'] }],
    ['npm', ['exec', '--', 'n@1.2.3', '-x'], { packages: ['n@1.2.3'], args: ['-x'] }],
    ['npm', ['exec', 'n@1.2.3', 'a', '--', '-x'], { packages: ['n@1.2.3'], args: ['a', '-x'] }],
    [
      'pnpm',
      ['--package=n@1.2.3', 'dlx', 'prog', '-x'],
      { packages: ['n@1.2.3'], program: 'prog', args: ['-x'] },
    ],
    ['yarn', ['dlx', '-q', '-p', 'n@1.2.3', 'prog'], { packages: ['n@1.2.3'], program: 'prog' }],
    [
      'pipx',
      ['run', '--spec', 'n==1.2', 'prog'],
      { registry: 'pypi', packages: ['n==1.2'], program: 'prog' },
    ],
  ])('%s %j runs a package', (command, args, expected) => {
    expect(packageCommand(command, args)).toMatchObject(expected);
  });

  it.each<[string, string[]]>([
    ['node', ['server.js']],
    ['npx', ['./local']],
    ['npx', ['-c', 'echo hi']],
    ['npx', ['--registry', 'http://x', 'n']],
    ['npx', ['-y']],
    ['uvx', ['--python', '3.12', 'n']],
    ['uvx', ['--from', 'git+https://x.example/y', 'n']],
    ['uv', ['run', 'n']],
    ['pnpm', ['install']],
    ['uv', ['run', '--with', 'mcp==1.26.0', 'server.py']],
  ])('%s %j is a command like any other', (command, args) => {
    expect(packageCommand(command, args)).toBeUndefined();
  });
});

describe('a package that would be another one tomorrow', () => {
  it.each<[string, readonly string[]]>([
    ['npx', ['-y', '@scope/name@1.0.0', 'name']],
    ['/usr/bin/npx', ['--package=a@1.2.3', '--', 'a', 'b']],
    ['npx', ['-p', 'a@1.2.3-rc.1', 'a']],
    ['npx', ['--registry', 'https://npm.example', 'a@1.2.3']],
    ['npx', ['-y', 'github:owner/name#0123456789abcdef0123456789abcdef01234567']],
    ['uvx', ['--from', 'git-tools==1.2', 'tool']],
    ['uvx', ['tool@0.4.1']],
    ['uvx', ['--python', '3.12', '--from', 'a==1.2', '--with', 'b==2', 'a']],
    ['uvx', ['--from', 'git+https://x.example/y@0123456789abcdef0123456789abcdef01234567', 'y']],
    ['npx', ['./local-server']],
    ['node', ['server.js']],
    ['npm', ['start']],
    ['npm', ['--prefix', '/srv/x', 'run', 'serve']],
    ['pnpm', ['exec', 'server']],
    ['yarn', ['serve']],
    ['bun', ['run', 'server.ts']],
    ['uv', ['--directory', '/srv/x', 'run', 'server', '--with', 'anything']],
    ['uv', ['run', '--with', 'mcp==1.26.0', '-m', 'server']],
    ['uv', ['sync']],
    ['pipx', ['list']],
  ])('%s %j runs none', (command, args) => {
    expect(runnerProblem(command, args)).toBeUndefined();
  });

  it.each<[string, readonly string[]]>([
    ['npx', ['-y', '@scope/name']],
    ['npx', ['-y', 'name@latest']],
    ['npx', ['name@^1.0.0']],
    ['npx', ['foo@1.2']],
    ['npx', ['-p', 'a', 'b']],
    ['npx', ['--package', 'a@1.2.3', '--package=b', 'a']],
    ['npx', ['-p', 'name', 'bin@1.0.0']],
    ['npx', ['github:owner/name']],
    ['npx', ['https://x.example/y.tgz']],
    ['npm', ['exec', 'foo']],
    ['npm', ['--silent', 'exec', '--', 'foo', '-x']],
    ['npm', ['x', '--package=foo', '--', 'bar']],
    ['pnpx', ['name@1']],
    ['pnpm', ['dlx', 'foo']],
    ['pnpm', ['--package=foo', 'dlx', 'bar']],
    ['yarn', ['dlx', 'foo@next']],
    ['bunx', ['name@1']],
    ['bun', ['x', 'name']],
    ['uvx', ['tool']],
    ['uvx', ['foo>=1']],
    ['uvx', ['foo==1.*']],
    ['uvx', ['--from', 'pkg>=1.2.3', 'tool']],
    ['uvx', ['--from', 'git+https://x.example/y@v1.2.3', 'tool']],
    ['uvx', ['--with', 'a==1.0,b', 'tool==1.0']],
    ['uv', ['tool', 'run', 'foo']],
    ['uv', ['--offline', 'tool', '--quiet', 'run', 'foo']],
    ['uv', ['run', '--with', 'mcp', 'server.py']],
    ['pipx', ['run', 'foo']],
    ['pipx', ['run', '--spec', 'foo', 'bar==1.0']],
  ])('%s %j is refused', (command, args) => {
    expect(runnerProblem(command, args)).toContain('is today: give its exact version, such as ');
  });

  it.each<[string, readonly string[], string]>([
    [
      'npx',
      ['-c', 'foo'],
      'the option "-c", with which the package that it runs cannot be told. Expected npx -y',
    ],
    ['npx', ['--pack', 'foo'], 'the option "--pack"'],
    ['npx', ['--unknown=secret', 'foo@1.2.3'], 'the option "--unknown"'],
    ['npx', ['-y'], 'names no package'],
    ['npx', ['-p'], 'no value for -p'],
    ['npm', ['exec', 'foo@1.2.3', '--package=bar'], 'write -- before the package. Expected npm exec'],
    ['npm', ['--what', 'exec', 'foo@1.2.3'], 'the option "--what"'],
    ['npm', ['create', 'foo@1.2.3'], 'npm create runs a package that it finds by rules of its own'],
    ['uv', ['run', 'https://x.example/y.py'], 'would run whatever "https://x.example/y.py" is today'],
    ['uv', ['run', '--what', 'foo', 'y.py'], 'the option "--what"'],
    ['uvx', ['--with'], 'no value for --with'],
    ['pipx', ['run'], 'pipx run names no package. Expected pipx run name==1.2.3'],
  ])('%s %j cannot be read, and is refused with what was expected', (command, args, message) => {
    expect(runnerProblem(command, args)).toContain(message);
  });

  it('what is told of an address shows neither its user nor its query', () => {
    const told = runnerProblem('uvx', ['--from', 'git+https://me:s3cret@x.example/y?token=s3cret', 'y']);
    expect(told).toContain('x.example/y');
    expect(told).not.toContain('s3cret');
  });

  it('whatever options stand around it, a package without a version is never let through', () => {
    const entries = Object.entries(PACKAGE_RUNNERS).flatMap(([program, runner]) =>
      runner.forms.filter(({ runs }) => runs === undefined).map(({ words }) => ({ program, runner, words })),
    );
    const cases = fc.constantFrom(...entries).chain(({ program, runner, words }) => {
      const { switches, others = [], valued = [], from, beside = [] } = runner;
      const said = fc.oneof(
        fc.constantFrom(...switches, ...others).map((each) => [each]),
        fc.constantFrom(...from, ...beside).map((each) => [each, 'open']),
        ...(valued.length > 0 ? [fc.constantFrom(...valued).map((each) => [each, 'exec'])] : []),
        fc.constantFrom(['--strange'], ['-Z'], ['--strange', 'value']),
      );
      const some = fc.array(said, { maxLength: 4 }).map((each) => each.flat());
      return fc
        .tuple(some, some, fc.boolean())
        .map(
          ([before, after, mark]) =>
            [program, [...before, ...words, ...after, ...(mark ? ['--'] : []), 'open']] as const,
        );
    });
    fc.assert(
      fc.property(cases, ([program, args]) => {
        expect(runnerProblem(program, args)).toBeTypeOf('string');
      }),
    );
  });
});
