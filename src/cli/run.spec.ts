// The command line: what it asks the gateway, what it prints, and how it ends.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonValue } from '../contract/json.ts';
import { FakeClock } from '../../test/helpers/fake-clock.ts';
import { ApiKeyAuthenticator } from '../infra/keys/api-key-authenticator.ts';
import { loadSettings } from '../settings/load-settings.ts';
import type { CliIo } from './cli-io.ts';
import { run } from './run.ts';

interface Asked {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: unknown;
}

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly asked: readonly Asked[];
}

type Reply = { readonly status?: number; readonly body: JsonValue | string };

let cwd: string;
beforeEach(() => (cwd = mkdtempSync(join(tmpdir(), 'ute-cli-'))));
afterEach(() => rmSync(cwd, { recursive: true }));

/** Runs `ute` with a gateway that gives these replies in turn. */
async function ute(
  argv: readonly string[],
  replies: readonly Reply[] = [],
  over: Partial<CliIo> = {},
): Promise<Outcome> {
  const out = { stdout: '', stderr: '' };
  const asked: Asked[] = [];
  const left = [...replies];
  const code = await run(argv, {
    stdout: (text) => (out.stdout += text),
    stderr: (text) => (out.stderr += text),
    readStdin: async () => '{"from": "stdin"}',
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const body = await request.text();
      asked.push({
        url: request.url,
        method: request.method,
        headers: request.headers,
        body: body && JSON.parse(body),
      });
      const reply = left.shift();
      if (reply === undefined)
        throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
      const text = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body);
      return new Response(text, { status: reply.status ?? 200 });
    },
    env: {},
    cwd,
    ...over,
  });
  return { code, ...out, asked };
}

const success = { body: { ok: true, data: 3, intents: [], meta: {} } };
const refusal = (type: string, status: number): Reply => ({
  status,
  body: { ok: false, error: { type, message: 'No.' }, meta: {} },
});

describe('ute call', () => {
  it('sends arguments and context to the tool and prints the envelope', async () => {
    const argv = [
      'call',
      'mail.send',
      '{"to": "a"}',
      '--context',
      'session_id=s=1',
      '--context',
      'mode=text',
    ];
    const { code, stdout, asked } = await ute([...argv, '--token', 't', '--timeout-ms', '500'], [success]);
    expect(code).toBe(0);
    expect(stdout).toBe(`${JSON.stringify(success.body, null, 2)}\n`);
    expect(asked).toMatchObject([
      {
        url: 'http://127.0.0.1:8080/v1/tools/mail.send/execute',
        method: 'POST',
        body: {
          arguments: { to: 'a' },
          context: { session_id: 's=1', mode: 'text', confirmation_token: 't' },
        },
      },
    ]);
    expect(asked[0]?.headers.get('x-request-timeout-ms')).toBe('500');
    expect(asked[0]?.headers.get('content-type')).toBe('application/json');
  });

  it.each([true, false])('sends dry_run=%s as what it is, and no text', async (isDry) => {
    const { asked } = await ute(['call', 'now', '--context', `dry_run=${isDry}`], [success]);
    expect(asked[0]?.body).toEqual({ arguments: {}, context: { dry_run: isDry } });
  });

  it('sends no arguments as an empty object, and prints one line on --json', async () => {
    const { stdout, asked } = await ute(['call', 'now', '--json'], [success]);
    expect(asked[0]?.body).toEqual({ arguments: {}, context: {} });
    expect(stdout).toBe(`${JSON.stringify(success.body)}\n`);
  });

  it('takes arguments from standard input and from a file', async () => {
    expect((await ute(['call', 'now', '-'], [success])).asked[0]?.body).toMatchObject({
      arguments: { from: 'stdin' },
    });
    writeFileSync(join(cwd, 'args.json'), '{"from": "file"}');
    const { asked } = await ute(['call', 'now', '@args.json'], [success]);
    expect(asked[0]?.body).toMatchObject({ arguments: { from: 'file' } });
  });

  it('ends with 3 when the envelope says no, whatever the status', async () => {
    expect((await ute(['call', 'now'], [refusal('VALIDATION', 400)])).code).toBe(3);
    expect((await ute(['call', 'now'], [refusal('PERMANENT', 200)])).code).toBe(3);
  });

  it('ends with 4 when an approval is needed', async () => {
    const { code, stdout } = await ute(['call', 'now'], [refusal('CONFIRMATION_REQUIRED', 202)]);
    expect(code).toBe(4);
    expect(stdout).toContain('CONFIRMATION_REQUIRED');
  });

  it('ends with 1 and one line when the gateway cannot be reached', async () => {
    const { code, stdout, stderr } = await ute(['call', 'now', '--url', 'http://127.0.0.1:9/']);
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: 'ute: the gateway at http://127.0.0.1:9 cannot be reached: connect ECONNREFUSED\n',
    });
  });

  it('tells what to do where nothing listens', async () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const nobody = () => Promise.reject(new TypeError('fetch failed', { cause: refused }));
    const { code, stderr } = await ute(['call', 'now'], [], { fetch: nobody });
    expect(code).toBe(1);
    expect(stderr).toMatch(/nothing listens there: start it, or say with --url or UTE_URL where it is\n$/);
  });

  it('ends with 1 when something else than a gateway answers', async () => {
    const { code, stderr } = await ute(['call', 'now'], [{ status: 502, body: '<html>' }]);
    expect(code).toBe(1);
    expect(stderr).toBe('ute: the gateway answered 502 without an envelope\n');
  });

  it('writes a name into the path so that it cannot become another path', async () => {
    const { asked } = await ute(['call', '../admin/reload', '--url', 'https://h.example/ute/'], [success]);
    expect(asked[0]?.url).toBe('https://h.example/ute/v1/tools/..%2Fadmin%2Freload/execute');
  });

  it.each([
    ['arguments that are not JSON', ['call', 'now', '{a}'], 'the arguments are not JSON'],
    [
      'arguments that are no object',
      ['call', 'now', '[]'],
      'the arguments must be a JSON object, found a list',
    ],
    ['a file that is not there', ['call', 'now', '@no.json'], 'the arguments file no.json cannot be read'],
    ['a context field without a value', ['call', 'now', '--context', 'mode'], 'Expected key=value'],
    ['a dry run that is neither', ['call', 'now', '--context', 'dry_run=yes'], 'Expected dry_run=true or'],
    ['a timeout that is no number', ['call', 'now', '--timeout-ms', '1s'], 'whole number of milliseconds'],
    ['a URL of another kind', ['call', 'now', '--url', 'file:///etc'], '--url must be an http or https URL'],
    ['a URL without http', ['call', 'now', '--url', 'localhost:8080'], 'did you mean http://localhost:8080?'],
    ['a tool named like a step up', ['call', '..'], '/v1/tools/../execute is no path of a gateway'],
    ['no tool', ['call'], "missing required argument 'tool'"],
    ['an unknown option', ['call', 'now', '--nope'], "unknown option '--nope'"],
    ['an unknown command', ['nope'], "unknown command 'nope'"],
    ['an unknown format', ['tools', '--format', 'yaml'], 'Allowed choices are openai, openai-responses'],
  ])('ends with 2 and asks nothing for %s', async (_what, argv, message) => {
    const { code, stderr, asked } = await ute(argv, [success]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(asked).toEqual([]);
  });
});

describe('the key', () => {
  const sentKey = async (argv: readonly string[], env: CliIo['env']) =>
    (await ute(['call', 'now', ...argv], [success], { env })).asked[0]?.headers.get('authorization');

  it('comes from --key, then --key-file, then UTE_API_KEY', async () => {
    writeFileSync(join(cwd, 'key'), 'from-file\n');
    const env = { UTE_API_KEY: 'from-env' };
    expect(await sentKey(['--key', 'from-flag', '--key-file', 'key'], env)).toBe('Bearer from-flag');
    expect(await sentKey(['--key-file', 'key'], env)).toBe('Bearer from-file');
    expect(await sentKey([], env)).toBe('Bearer from-env');
    expect(await sentKey([], {})).toBeNull();
  });

  it('is not printed when it cannot be sent', async () => {
    const { code, stdout, stderr } = await ute(['call', 'now', '--key', 'secret\nkey'], [success]);
    expect(code).toBe(2);
    expect(stdout + stderr).not.toContain('secret');
  });
});

describe('ute tools', () => {
  const page = (names: readonly string[], token: string): Reply => ({
    body: {
      tools: names.map((name) => ({
        name,
        tool_type: 'python',
        risk_level: 'low',
        description: 'Does\u001b[31m it.\nAnd more.',
        disabled: name === 'b',
      })),
      next_page_token: token,
    },
  });

  it('prints a table of all pages, without control characters', async () => {
    const { code, stdout, asked } = await ute(
      ['tools', '--type', 'python', '--tag', 'demo'],
      [page(['a'], 'next'), page(['b'], '')],
    );
    expect(code).toBe(0);
    expect(stdout).toBe(
      [
        'NAME  TYPE    RISK  DESCRIPTION',
        'a     python  low   Does [31m it.',
        'b     python  low   (disabled) Does [31m it.',
        '',
      ].join('\n'),
    );
    expect(asked.map(({ url }) => new URL(url).search)).toEqual([
      '?tool_type=python&tag=demo',
      '?tool_type=python&tag=demo&page_token=next',
    ]);
  });

  it('prints all pages as one list on --json', async () => {
    const { stdout } = await ute(['tools', '--json'], [page(['a'], 'next'), page(['b'], '')]);
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'a' }, { name: 'b' }]);
  });

  it('ends although a gateway repeats its page token', async () => {
    const { asked } = await ute(['tools'], [page(['a'], 'same'), page(['b'], 'same'), page(['c'], 'same')]);
    expect(asked).toHaveLength(2);
  });

  it('prints an export as the gateway gives it', async () => {
    const { stdout, asked } = await ute(['tools', '--format', 'gemini', '--strict'], [{ body: [{ a: 1 }] }]);
    expect(JSON.parse(stdout)).toEqual([{ a: 1 }]);
    expect(asked[0]?.url).toContain('?format=gemini&strict=true');
    expect((await ute(['tools', '--format', 'prompt'], [{ body: '# TOOLS\n' }])).stdout).toBe('# TOOLS\n');
  });

  it('tells where a key comes from when the gateway asks for one', async () => {
    const { code, stderr } = await ute(
      ['tools'],
      [{ status: 401, body: { detail: 'A credential is needed.' } }],
    );
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr:
        'ute: the gateway refused (401): A credential is needed. ute takes the key from UTE_API_KEY, or from --key-file.\n',
    });
  });

  it('ends with 3 and the words of the problem when the gateway refuses', async () => {
    const problem = {
      status: 403,
      body: { title: 'PERMISSION_DENIED', detail: 'This needs the permission tools:read.' },
    };
    const { code, stderr } = await ute(['tools'], [problem]);
    expect(code).toBe(3);
    expect(stderr).toBe('ute: the gateway refused (403): This needs the permission tools:read.\n');
  });
});

describe('ute key', () => {
  it('makes a key that a gateway with the printed settings lets in', async () => {
    const { code, stdout } = await ute(
      'key --tenant acme --role agent reader --user ada --expires 2027-01-31T00:00:00Z'.split(' '),
    );
    expect(code).toBe(0);
    const [, text = '', yaml = ''] = /^export UTE_API_KEY=(\S+)\n\n([^]*)$/.exec(stdout) ?? [];
    writeFileSync(join(cwd, 'gateway.yaml'), `${yaml}  roles: { reader: [calls:read] }\n`);
    const { auth } = loadSettings({ UTE_CONFIG: 'gateway.yaml' }, cwd);
    const authenticator = new ApiKeyAuthenticator(auth.keys, auth.roles, new FakeClock());
    expect(authenticator.authenticate({ kind: 'bearer', token: text })).toMatchObject({
      tenantId: 'acme',
      userId: 'ada',
      agents: ['*'],
      roles: ['agent', 'reader'],
    });
    expect(auth.keys[0]?.expires_at).toBe('2027-01-31T00:00:00Z');
    expect(yaml).not.toContain(text.slice(18, -9));
  });

  it('ends with 2 without a role, and for a time that is none', async () => {
    expect(await ute(['key', '--tenant', 'acme'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--role'),
    });
    expect(await ute(['key', '--role', 'agent', '--expires', 'tomorrow'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('2027-01-31T00:00:00Z'),
    });
  });
});

describe('where the gateway is', () => {
  const askedWith = async (env: Record<string, string>, file?: string) => {
    if (file !== undefined) writeFileSync(join(cwd, 'gateway.yaml'), file);
    const config = file === undefined ? {} : { UTE_CONFIG: 'gateway.yaml' };
    const { asked, stderr } = await ute(['tools'], [{ body: { tools: [] } }], { env: { ...config, ...env } });
    return asked[0]?.url.replace('/v1/tools', '') ?? stderr;
  };

  it('is what --url or UTE_URL says, or else the settings, as the gateway reads them', async () => {
    expect(await askedWith({})).toBe('http://127.0.0.1:8080');
    expect(await askedWith({ UTE_HTTP_PORT: '9000' })).toBe('http://127.0.0.1:9000');
    expect(await askedWith({}, 'http: { port: 9001 }\nhost: 0.0.0.0\n')).toBe('http://127.0.0.1:9001');
    expect(await askedWith({ UTE_HTTP_PORT: '9002' }, 'http: { port: 9001 }\nhost: ::1\n')).toBe(
      'http://[::1]:9002',
    );
    expect(await askedWith({}, 'tls: { cert_file: a, key_file: b }\n')).toBe('https://127.0.0.1:8080');
    expect(await askedWith({ UTE_URL: 'http://10.0.0.1:1', UTE_HTTP_PORT: '9000' })).toBe(
      'http://10.0.0.1:1',
    );
  });

  it('is asked for where the settings cannot say it', async () => {
    expect(await askedWith({ UTE_HTTP_PORT: '0' })).toContain('http.port is 0');
    expect(await askedWith({}, 'http: { prot: 1 }\n')).toMatch(/--url.*\n.*gateway\.yaml:1:9 {2}http\.prot/);
  });
});

describe('ute', () => {
  it('prints help and version with 0, and help with 2 when asked for nothing', async () => {
    expect(await ute(['--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('validate') });
    expect(await ute(['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+/),
    });
    expect(await ute([])).toMatchObject({ code: 2, stderr: expect.stringContaining('Usage: ute') });
  });
});

describe('ute keys', () => {
  const KEY = {
    id: 'abcdefgh',
    name: 'voice backend',
    tenant: 'acme',
    agents: ['*'],
    user: null,
    roles: ['agent'],
    state: 'active',
    created_at: '2026-01-01T00:00:00.000Z',
    created_by: 'op',
    expires_at: null,
    previous_expires_at: null,
    revoked_at: null,
    revoked_by: null,
  };
  const at = ['--url', 'http://gateway'] as const;

  it('lists every page as a table, or as JSON', async () => {
    const pages = [
      { body: { keys: [KEY], next_page_token: 't' } },
      { body: { keys: [{ ...KEY, id: 'ijklmnop', tenant: null }], next_page_token: '' } },
    ];
    const shown = await ute(['keys', 'list', ...at], pages);
    expect(shown.stdout).toMatch(
      /^ID +NAME +TENANT +ROLES +USER +STATE +EXPIRES\nabcdefgh +voice backend +acme/,
    );
    expect(shown.stdout).toContain('(platform)');
    const { stdout } = await ute(['keys', 'list', '--json', ...at], pages);
    expect(JSON.parse(stdout)).toHaveLength(2);
  });

  it('makes a key and shows its text', async () => {
    const argv = ['keys', 'create', '--name', 'voice backend', '--role', 'agent', '--tenant', 'acme', ...at];
    const { asked, stdout, code } = await ute(argv, [{ status: 201, body: { ...KEY, key: 'ute_live_x' } }]);
    expect(asked).toMatchObject([
      {
        method: 'POST',
        url: 'http://gateway/v1/keys',
        body: { name: 'voice backend', roles: ['agent'], tenant: 'acme' },
      },
    ]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('export UTE_API_KEY=ute_live_x\n')]);
  });

  it('rotates, expires and revokes', async () => {
    const rotated = await ute(['keys', 'rotate', 'abcdefgh', '--keep', '2h', ...at], [{ body: KEY }]);
    expect(rotated.asked).toMatchObject([
      {
        method: 'POST',
        url: 'http://gateway/v1/keys/abcdefgh/rotate',
        body: { keep_previous_ms: 7_200_000 },
      },
    ]);
    const expired = await ute(['keys', 'expire', 'abcdefgh', 'never', ...at], [{ body: KEY }]);
    expect(expired.asked).toMatchObject([{ method: 'PATCH', body: { expires_at: null } }]);
    const revoked = await ute(['keys', 'revoke', 'abcdefgh', ...at], [{ body: '' }]);
    expect(revoked.asked).toMatchObject([{ method: 'DELETE', url: 'http://gateway/v1/keys/abcdefgh' }]);
    expect([revoked.code, revoked.stdout]).toEqual([0, 'abcdefgh is revoked\n']);
  });

  it.each([
    ['keys', 'expire', 'abcdefgh', 'soon'],
    ['keys', 'rotate', 'abcdefgh', '--keep', 'long'],
    ['keys', 'create', '--role', 'agent'],
  ])('refuses %s %s %s %s without asking anybody', async (...argv) => {
    const { code, asked } = await ute([...argv, ...at]);
    expect([code, asked]).toEqual([2, []]);
  });

  it('tells what the gateway refused', async () => {
    const refused = { status: 404, body: { detail: 'There is no API key of this id.' } };
    const { code, stderr } = await ute(['keys', 'revoke', 'zzzzzzzz', ...at], [refused]);
    expect([code, stderr]).toEqual([3, 'ute: the gateway refused (404): There is no API key of this id.\n']);
  });
});
