// Which certificates `ute` uses: those of the options, or else of the environment, or none.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { certificateAuthority } from '../../../test/helpers/certificates.ts';
import { clientTls, type TlsOptions } from './client-tls.ts';

const AT = new URL('https://127.0.0.1:9');
let cwd: string;

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'ute-cli-tls-'));
  const authority = certificateAuthority();
  const { cert, key } = authority.sign('/CN=operator');
  for (const [name, content] of [
    ['ca.pem', authority.cert],
    ['own.pem', cert],
    ['own.key', key],
  ] as const)
    writeFileSync(join(cwd, name), content);
  authority.remove();
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

function tls(options: TlsOptions, env: Readonly<Record<string, string>> = {}) {
  return clientTls(options, AT, {
    stdout: () => undefined,
    stderr: () => undefined,
    readStdin: async () => '',
    fetch,
    env,
    cwd,
  });
}

it('none is named, none is used', async () => {
  expect(await tls({})).toBeUndefined();
  expect(await tls({}, { UTE_CA_FILE: '' })).toBeUndefined();
});

it('a CA alone is believed without a certificate of its own', async () => {
  expect(await tls({ caFile: 'ca.pem' })).toEqual({
    ca: expect.stringContaining('BEGIN CERTIFICATE') as string,
  });
});

it('what an option names comes before what the environment does', async () => {
  const used = await tls(
    { clientCert: 'own.pem', clientKey: 'own.key' },
    { UTE_CLIENT_CERT_FILE: 'none.pem' },
  );
  expect(Object.keys(used ?? {})).toEqual(['cert', 'key']);
  await expect(tls({}, { UTE_CLIENT_CERT_FILE: 'none.pem', UTE_CLIENT_KEY_FILE: 'own.key' })).rejects.toThrow(
    'none.pem cannot be read',
  );
});
