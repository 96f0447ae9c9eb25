// mcp connections: what operators may write, and what comes of it.
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { mcpConnectionSchema } from './mcp-connection.ts';
import { mcpSecrets, mcpSettings } from './mcp-settings.ts';

const dir = mkdtempSync(join(tmpdir(), 'ute-mcp-'));
afterAll(() => rmSync(dir, { recursive: true }));

function problemsOf(connection: object): readonly string[] {
  const { error } = mcpConnectionSchema.safeParse({ type: 'mcp', ...connection });
  return error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
}

describe('a connection', () => {
  it.each<[string, object, string]>([
    ['neither command nor url', {}, 'one of command'],
    ['both', { command: 'a', url: 'https://a.example' }, 'one of command'],
    ['fields of the other kind', { command: 'a', headers: {} }, '"headers" does not go with command'],
    [
      'fields of the other kind',
      { url: 'https://a.example', sandbox: 'off' },
      '"sandbox" does not go with url',
    ],
    ['a URL with a user', { url: 'https://me:pw@a.example' }, 'found a user or password'],
    ['a URL of a file', { url: 'file:///etc/passwd' }, 'found "file://"'],
    [
      'a header of the protocol',
      { url: 'https://a.example', headers: { 'Mcp-Session-Id': 'x' } },
      'set by the protocol',
    ],
    ['a header of the transport', { url: 'https://a.example', headers: { Host: 'x' } }, 'set by the gateway'],
    ['a header with a line break', { url: 'https://a.example', headers: { A: 'x\r\nB: y' } }, 'on one line'],
    [
      'a header twice',
      { url: 'https://a.example', headers: { Authorization: 'a' }, auth: { type: 'bearer', token: 'b' } },
      'sets the header "authorization" already',
    ],
    [
      'hosts without its own',
      { url: 'https://a.example', allow_hosts: ['b.example'] },
      'own host "a.example"',
    ],
    [
      'a package without a version',
      { command: 'npx', args: ['-y', 'some-server'] },
      'such as some-server@1.2.3',
    ],
    ['a variable with no name', { command: 'a', env: { 'A=B': 'x' } }, 'name of a variable'],
    ['a package without a version', { package: 'npm:name' }, 'exact version'],
    ['packages of two registries', { package: ['npm:a@1.0.0', 'pypi:b==1.0'] }, 'of one registry'],
    ['a program of no package', { command: 'a', program: 'b' }, 'goes with a package alone'],
    ['scripts of no package', { command: 'a', install_scripts: true }, 'goes with a package alone'],
    ['a package and a command', { command: 'a', package: 'npm:a@1.0.0' }, 'one of command'],
    ['a NUL', { command: 'a', args: ['x\0y'] }, 'without a NUL'],
  ])('with %s is refused', (_, connection, expected) => {
    expect(problemsOf(connection).join('\n')).toContain(expected);
  });

  it('that is right has no problems', () => {
    expect(
      problemsOf({ command: 'npx', args: ['-y', '@scope/server@2.0.1', '/data'], network: 'host' }),
    ).toEqual([]);
    expect(
      problemsOf({
        url: 'https://a.example/mcp?team=1',
        auth: { type: 'api_key', name: 'X-Key', value: 'k' },
      }),
    ).toEqual([]);
  });
});

describe('mcpSettings', () => {
  const program = join(dir, 'server');
  writeFileSync(program, '#!/bin/sh\n');
  chmodSync(program, 0o755);
  symlinkSync(program, join(dir, 'link'));

  it('finds the program once, shows it in the sandbox, and gives it nothing of the gateway’s environment', () => {
    const settings = mcpSettings(
      { type: 'mcp', command: './link', args: ['a'], cwd: 'work', env: { A: 'b' } },
      dir,
    );
    expect(settings).toMatchObject({
      kind: 'stdio',
      argv: [join(dir, 'link'), 'a'],
      cwd: join(dir, 'work'),
      env: {
        A: 'b',
        HOME: '/tmp',
        TMPDIR: '/tmp',
        LANG: 'C.UTF-8',
        PATH: `${dir}:/usr/local/bin:/usr/bin:/bin`,
      },
      sandbox: 'required',
      readable: [join(dir, 'link'), program, join(dir, 'work')],
      writable: [],
      network: 'none',
      protocol: 'legacy',
    });
  });

  it('takes the command of a README for the package that it runs, and an exact version alone', () => {
    const settings = (args: string[]) => mcpSettings({ type: 'mcp', command: '/bin/npx', args }, dir);
    expect(settings(['-y', '@s/n@1.2.3', 'a'])).toMatchObject({
      argv: ['a'],
      package: { packages: [{ registry: 'npm', name: '@s/n', version: '1.2.3' }], scripts: false },
      readable: [],
      network: 'none',
    });
    expect(settings(['-p', 'n@1.2.3', 'other', 'a'])).toMatchObject({
      argv: ['a'],
      package: { program: 'other' },
    });
  });

  it('mounts nothing below a folder that can be written', () => {
    const settings = mcpSettings(
      { type: 'mcp', command: '/bin/sh', cwd: 'w/in', writable: ['w'], readable: ['r'] },
      dir,
    );
    expect(settings).toMatchObject({ readable: [join(dir, 'r')], writable: [join(dir, 'w')] });
  });

  it('says which program is not there', () => {
    expect(() => mcpSettings({ type: 'mcp', command: './none' }, dir)).toThrow(
      'there is no program "./none".',
    );
  });

  it('lets nobody reach another host than that of the URL', () => {
    const settings = mcpSettings(
      { type: 'mcp', url: 'https://a.example/mcp', auth: { type: 'bearer', token: 't' } },
      dir,
    );
    expect(settings).toMatchObject({
      egress: { allowHosts: ['a.example:443'], allowPrivate: [] },
      headers: { authorization: 'Bearer t' },
    });
  });

  it('knows what is secret, and leaves paths and switches alone', () => {
    const env = {
      API_KEY: 'k1',
      ROOT: '/srv/data',
      DEBUG: 'true',
      OPAQUE: 'abcdefghijklmnopqrstuvwx',
      DB: 'pg://u:p@h/d',
    };
    const secrets = mcpSecrets(mcpSettings({ type: 'mcp', command: '/bin/sh', env }, dir));
    expect(secrets).toEqual(['k1', 'abcdefghijklmnopqrstuvwx', 'pg://u:p@h/d']);
    const url = 'https://a.example/mcp?key=q1';
    const http = { type: 'mcp', url, headers: { Accept: 'x' }, auth: { type: 'bearer', token: 'tok' } };
    expect(problemsOf({ ...http })).not.toEqual([]);
    expect(mcpSecrets(mcpSettings({ ...http, headers: { 'X-Version': '3' } }, dir))).toEqual([
      'Bearer tok',
      'tok',
      'q1',
    ]);
  });
});
