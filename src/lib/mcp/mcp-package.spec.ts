// Packages as operators and READMEs write them: read in full, or not at all.
import { describe, expect, it } from 'vitest';
import { exactPackage, nameOf, packageCommand } from './mcp-package.ts';

it.each([
  'npm:name@1.2.3',
  'npm:@scope/name@2026.8.31-rc.1',
  'pypi:name==1.2',
  'pypi:mcp-server[cli,dev]==0.0.1a8',
])('%s is one version of a package', (text) => {
  expect(nameOf(exactPackage(text))).toBe(text);
});

it.each([
  ['npm:name', /exact version, such as npm:name@1\.2\.3/],
  ['npm:name@latest', /exact version/],
  ['npm:name@^1.2.3', /exact version/],
  ['npm:name@1', /exact version/],
  ['pypi:name', /exact version, such as pypi:name==1\.2\.3/],
  ['pypi:name==1.*', /exact version/],
  ['npm:../up@1.2.3', /Expected a package/],
  ['npm:--registry@1.2.3', /Expected a package/],
  ['npm:name@https://x.example/y.tgz', /exact version/],
  ['pypi:-r==1.0', /Expected a package/],
  ['pypi:name @ git+https://x.example', /Expected a package/],
  ['cargo:name@1.2.3', /Expected a package/],
  ['name@1.2.3', /Expected a package/],
])('%s is refused with what was expected', (text, message) => {
  expect(() => exactPackage(text)).toThrow(message);
});

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
  ])('%s %j is a command like any other', (command, args) => {
    expect(packageCommand(command, args)).toBeUndefined();
  });
});
