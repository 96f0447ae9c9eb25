// Client certificates through a running gateway, at both doors: each is whose the settings say, or nobody's.
import { readFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { certificateAuthority, mutualTls, type Authority } from '../helpers/certificates.ts';
import { grpcDoor } from '../helpers/doors.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import type { Certificate } from '../helpers/self-signed-certificate.ts';

const SPIFFE = 'URI:spiffe://acme/voice';

let dir: string;
let authority: Authority;
let foreign: Authority;
let gateway: RunningGateway;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'ute-mtls-'));
  [authority, foreign] = [certificateAuthority(), certificateAuthority()];
  gateway = await startGateway({
    tools: ['test/fixtures/async/tools.yaml'],
    settings: { tls: mutualTls(authority, dir, ['DNS.1 = localhost', 'IP.1 = 127.0.0.1']) },
    auth: {
      client_certificates: [
        { name: 'voice', san: SPIFFE, tenant: 'acme', roles: ['agent'] },
        {
          name: 'batch',
          subject: { CN: 'batch', O: 'Acme' },
          tenants: ['acme', 'umbrella'],
          roles: ['agent'],
        },
        { name: 'leaver', san: 'DNS:leaver.acme.internal', tenant: 'acme', roles: ['agent'] },
      ],
    },
  });
});

afterAll(async () => {
  await gateway?.stop();
  for (const each of [authority, foreign]) each?.remove();
  rmSync(dir, { recursive: true, force: true });
});

interface Said {
  readonly tenant?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  readonly body: {
    readonly ok?: boolean;
    readonly reason?: string;
    readonly error?: { readonly reason: string };
    readonly meta?: { readonly call_id: string };
  } & Readonly<Record<string, unknown>>;
}

/** Over a connection of its own, or over those of an agent. Rejects where TLS refuses it. */
function rest(
  certificate: Certificate | undefined,
  method: string,
  path: string,
  said: Said & { agent?: Agent } = {},
) {
  const { tenant, key, headers, agent = new Agent({ ca: authority.cert, ...certificate }) } = said;
  return new Promise<Answer>((done, failed) => {
    const asked = httpsRequest(`${gateway.url}${path}`, {
      method,
      agent,
      headers: {
        ...(method === 'POST' && { 'content-type': 'application/json' }),
        ...(tenant !== undefined && { 'x-ute-tenant': tenant }),
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...headers,
      },
    });
    asked.on('error', failed).on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part)).on('error', failed);
      response.on('end', () => {
        const body = JSON.parse(Buffer.concat(parts).toString()) as Answer['body'];
        done({ status: response.statusCode ?? 0, body });
      });
    });
    asked.end(method === 'POST' ? '{}' : undefined);
  });
}

const EXECUTE = '/v1/tools/work/execute';

/** Of both doors, which have to agree. */
async function told(certificate: Certificate | undefined, said: Said = {}): Promise<string> {
  const { tenant, key } = said;
  const one = await rest(certificate, 'POST', EXECUTE, said).then(
    ({ body: { ok, error } }) => (ok === true ? 'done' : (error?.reason ?? '')),
    () => 'no connection',
  );
  const door = grpcDoor({
    service: gateway.service,
    rootCertificate: authority.cert,
    ...(certificate !== undefined && { clientCertificate: certificate }),
  });
  const beside: Record<string, string> = tenant === undefined ? {} : { 'x-ute-tenant': tenant };
  const call = { tool: 'work', argumentsJson: '{}', beside, ...(key !== undefined && { key }) };
  const { ok, type, reason } = await door.call(call);
  door.close();
  const other = ok ? 'done' : type === undefined ? 'no connection' : `${reason}`;
  expect(other).toBe(one);
  return one;
}

describe('a client certificate', () => {
  it('is whose its alternative name says', async () => {
    const voice = authority.sign('/CN=anything', ['URI.1 = spiffe://acme/voice', 'DNS.1 = other.internal']);
    expect(await told(voice)).toBe('done');
    expect(await told(voice, { tenant: 'acme' })).toBe('done');
    expect(await told(voice, { tenant: 'umbrella' })).toBe('TENANT_MISMATCH');
    expect((await rest(voice, 'GET', '/v1/tools')).status).toBe(200);
    expect(await rest(voice, 'GET', '/v1/keys')).toMatchObject({
      status: 403,
      body: { reason: 'PERMISSION_MISSING' },
    });
  });

  it('is whose its subject says, for each tenant that this one serves', async () => {
    const batch = authority.sign('/CN=batch/O=Acme/OU=any');
    expect(await told(batch)).toBe('TENANT_REQUIRED');
    expect(await told(batch, { tenant: 'umbrella' })).toBe('done');
    expect(await told(batch, { tenant: 'wayne' })).toBe('TENANT_NOT_ALLOWED');
  });

  it.each([
    ['no name that is known', '/CN=somebody', ['DNS.1 = somebody.internal']],
    ['one attribute of two', '/CN=batch/O=Umbrella', []],
    ['an attribute twice', '/CN=batch/CN=other/O=Acme', []],
    ['an attribute inside another', '/CN=batch\\/O=Acme', []],
    ['another spelling', '/CN=Batch/O=Acme', []],
    ['the known name inside a longer one', '/CN=x', ['URI.1 = spiffe://acme/voice/2']],
    ['the known name as another kind', '/CN=x', ['DNS.1 = spiffe://acme/voice']],
    ['the known name smuggled into another', '/CN=x', [`DNS.1 = "a.internal, ${SPIFFE}"`]],
    ['the known name smuggled behind a quotation mark', '/CN=x', [`URI.1 = "x\\", ${SPIFFE}, URI:\\"y"`]],
    ['the known name as its subject', '/CN=URI:spiffe:\\/\\/acme\\/voice', []],
  ])('with %s is nobody', async (_what, subject, names) => {
    expect(await told(authority.sign(subject, names), { tenant: 'acme' })).toBe('CREDENTIAL_INVALID');
  });

  it('of another CA, and none at all, do not come to the gateway', async () => {
    expect(await told(foreign.sign('/CN=batch/O=Acme', ['URI.1 = spiffe://acme/voice']))).toBe(
      'no connection',
    );
    expect(await told(undefined)).toBe('no connection');
  });

  it('says nothing where a key is shown: who shows one is whom that says', async () => {
    const voice = authority.sign('/CN=x', ['URI.1 = spiffe://acme/voice']);
    const nobody = authority.sign('/CN=nobody');
    const key = gateway.keys.other.text;
    expect(await told(voice, { key, tenant: 'umbrella' })).toBe('done');
    expect(await told(nobody, { key })).toBe('done');
    expect(await told(voice, { key: `${key}x` })).toBe('CREDENTIAL_INVALID');
  });

  it('is taken from the connection alone, whatever a header says', async () => {
    const nobody = authority.sign('/CN=nobody');
    const headers = { 'x-forwarded-client-cert': SPIFFE, 'x-ssl-client-s-dn': 'CN=batch,O=Acme' };
    expect((await rest(nobody, 'POST', EXECUTE, { headers })).body.error?.reason).toBe('CREDENTIAL_INVALID');
  });

  it('makes calls that run later, in its name', async () => {
    const voice = authority.sign('/CN=x', ['URI.1 = spiffe://acme/voice']);
    const accepted = await rest(voice, 'POST', EXECUTE, { headers: { prefer: 'respond-async' } });
    expect(accepted.status).toBe(202);
    const path = `/v1/calls/${accepted.body.meta?.call_id ?? ''}`;
    await expect.poll(async () => (await rest(voice, 'GET', path)).body['status'], SOON).toBe('succeeded');
    const other = authority.sign('/CN=batch/O=Acme');
    expect((await rest(other, 'GET', path, { tenant: 'acme' })).status).toBe(404);
  });

  it('that is taken out of gateway.yaml is nobody within seconds, on connections that are open, too', async () => {
    const leaver = authority.sign('/CN=x', ['DNS.1 = leaver.acme.internal']);
    const agent = new Agent({ ca: authority.cert, ...leaver, keepAlive: true, maxSockets: 1 });
    const asked = async () => (await rest(leaver, 'GET', '/v1/tools', { agent })).status;
    expect(await asked()).toBe(200);
    const file = join(gateway.dir, 'gateway.yaml');
    const settings = parse(readFileSync(file, 'utf8')) as {
      auth: { client_certificates: { name: string }[] };
    };
    const { auth } = settings;
    auth.client_certificates = auth.client_certificates.filter(({ name }) => name !== 'leaver');
    writeFileSync(file, stringify(settings));
    await expect.poll(asked, SOON).toBe(401);
    expect(await told(leaver)).toBe('CREDENTIAL_INVALID');
    agent.destroy();
  });
});

const SOON = { timeout: 50_000, interval: 50 };
