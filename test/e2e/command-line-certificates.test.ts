// `ute` at a gateway that wants client certificates: it shows one, believes the CA that it was given, and says what is wrong with either.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { certificateAuthority, mutualTls, type Authority } from '../helpers/certificates.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

let cwd: string;
let authority: Authority;
let gateway: RunningGateway;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'ute-mtls-cli-'));
  authority = certificateAuthority();
  const file = (name: string, content: Buffer | string) => writeFileSync(join(cwd, name), content);
  const own = authority.sign('/CN=operator');
  const other = authority.sign('/CN=other');
  file('operator.pem', own.cert);
  file('operator.key', own.key);
  file('other.key', other.key);
  file('empty.pem', '');
  gateway = await startGateway({
    tools: ['test/fixtures/async/tools.yaml'],
    settings: { tls: mutualTls(authority, cwd) },
    auth: {
      client_certificates: [
        { name: 'operator', subject: { CN: 'operator' }, tenant: 'acme', roles: ['admin', 'agent'] },
      ],
    },
  });
});

afterAll(async () => {
  await gateway?.stop();
  authority?.remove();
  rmSync(cwd, { recursive: true, force: true });
});

const SHOWN = [
  '--client-cert',
  'operator.pem',
  '--client-key',
  'operator.key',
  '--ca-file',
  'ca.pem',
] as const;
const VARIABLES = {
  UTE_CLIENT_CERT_FILE: 'operator.pem',
  UTE_CLIENT_KEY_FILE: 'operator.key',
  UTE_CA_FILE: 'ca.pem',
};

async function ute(argv: readonly string[], env: Readonly<Record<string, string>> = {}, stdin?: PassThrough) {
  const out = { stdout: '', stderr: '' };
  const code = await run(argv, {
    stdout: (text) => (out.stdout += text),
    stderr: (text) => (out.stderr += text),
    readStdin: async () => '',
    ...(stdin !== undefined && { stdin }),
    fetch,
    env: { UTE_URL: gateway.url, ...env },
    cwd,
  });
  return { code, ...out };
}

describe('ute with a client certificate', () => {
  it('calls and manages as whom the certificate names, without a key', async () => {
    const called = await ute(['call', 'work', '{}', ...SHOWN]);
    expect(called).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(called.stdout)).toMatchObject({ ok: true });
    const made = await ute(['keys', 'create', '--name', 'night-shift', '--role', 'agent', ...SHOWN]);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toContain('export UTE_API_KEY=');
    const listed = await ute(['keys', 'list', '--json', ...SHOWN]);
    expect(JSON.parse(listed.stdout)).toMatchObject([{ name: 'night-shift' }]);
  });

  it('takes the files from the environment', async () => {
    expect(await ute(['call', 'work', '{}'], VARIABLES)).toMatchObject({ code: 0, stderr: '' });
  });

  it('serves MCP over standard input by it', async () => {
    const stdin = new PassThrough();
    const about = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 't', version: '1' },
    };
    stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: about })}\n`);
    const { code, stdout } = await ute(['mcp', ...SHOWN], {}, stdin);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { protocolVersion: '2025-06-18' } });
  });

  it.each([
    ['no certificate', ['--ca-file', 'ca.pem'], 'give one with --client-cert and --client-key'],
    ['a gateway of a CA that it was not told of', SHOWN.slice(0, 4), 'with --ca-file or UTE_CA_FILE'],
  ])('does not come to the gateway with %s', async (_what, shown, said) => {
    const { code, stderr } = await ute(['call', 'work', '{}', ...shown]);
    expect(code).toBe(1);
    expect(stderr).toContain(said);
  });

  it.each([
    ['a certificate without its key', SHOWN.slice(0, 2), 'needs both --client-cert and --client-key'],
    ['a file that is not there', ['--ca-file', 'none.pem'], '--ca-file none.pem cannot be read'],
    ['a file that is no PEM', ['--ca-file', 'empty.pem'], '--ca-file empty.pem is no PEM file'],
    [
      'a key of another certificate',
      ['--client-cert', 'operator.pem', '--client-key', 'other.key'],
      'the certificates cannot be used',
    ],
    ['a gateway without TLS', [...SHOWN, '--url', 'http://127.0.0.1:9'], 'certificates are for https'],
  ])('refuses %s, before anything is asked', async (_what, argv, said) => {
    const { code, stderr } = await ute(['call', 'work', '{}', ...argv]);
    expect(code).toBe(2);
    expect(stderr).toContain(said);
  });
});
