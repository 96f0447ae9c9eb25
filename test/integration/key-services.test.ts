// Secrets whose keys are in AWS KMS or in Vault: over the real protocols, and through a gateway that starts without them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import { UndiciHttpClient } from '../../src/infra/http/undici-http-client.ts';
import { EnvelopeSealer } from '../../src/infra/secrets/envelope-sealer.ts';
import { openSecretKeys } from '../../src/infra/secrets/open-secret-keys.ts';
import { PrometheusMetrics } from '../../src/infra/telemetry/prometheus-metrics.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { SettingsError } from '../../src/settings/problems/settings-error.ts';
import { eventually } from '../helpers/eventually.ts';
import {
  ARN_A,
  ARN_B,
  AWS_ID,
  AWS_SECRET,
  FakeKms,
  FakeVault,
  VAULT_TOKEN,
} from '../helpers/key-services.ts';
import { quietLog } from '../helpers/quiet-log.ts';
import { sendTo, targetOf, type Envelope } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const PLACE = { tenantId: 'acme', agent: 'desk', tool: 'mail', field: 'api_key' };
const ENV = { AWS_ACCESS_KEY_ID: AWS_ID, AWS_SECRET_ACCESS_KEY: AWS_SECRET };
const REACH = { allow_http: true, allow_private: ['127.0.0.0/8'], allow_ports: ['1-65535'] };

let dir: string;
let http: UndiciHttpClient;
let kms: FakeKms;
let vault: FakeVault;

beforeEach(async () => {
  dir = tempDir();
  http = new UndiciHttpClient();
  [kms, vault] = await Promise.all([new FakeKms().start(), new FakeVault().start()]);
});

afterEach(async () => {
  kms.stop();
  vault.stop();
  await http.close();
  removeDir(dir);
});

const settingsOf = (secrets: object) => {
  const file = join(dir, 'gateway.yaml');
  writeFileSync(file, JSON.stringify({ data_dir: join(dir, 'data'), secrets }));
  return loadSettings({ UTE_CONFIG: file }, dir);
};

/** As another process with these settings: nothing is in its memory. */
async function opened(secrets: object, env: Record<string, string> = ENV) {
  const needs = { http, clock: new SystemClock(), log: quietLog, metrics: new PrometheusMetrics(), env };
  const { keys, away } = await openSecretKeys(settingsOf(secrets), needs);
  return { keys, away, sealer: new EnvelopeSealer(keys) };
}

const kmsOf = (...ids: readonly string[]) => ({
  provider: 'aws_kms',
  aws_kms: {
    keys: ids.map((id) => ({ id, arn: id === 'a' ? ARN_A : ARN_B })),
    endpoint: kms.url,
    ...REACH,
  },
});
const vaultOf = (login: object = { token: VAULT_TOKEN }, at = vault) => ({
  provider: 'vault',
  vault: { address: at.url, key: 'ute', ...login, ...REACH },
});
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'opened',
    (error: { reason?: string }) => error.reason,
  );

describe('AWS KMS', () => {
  it('wraps each secret for its place: another place, a changed text and wrong credentials open nothing', async () => {
    const { sealer } = await opened(kmsOf('a'));
    const sealed = await sealer.seal('a secret', PLACE);
    expect(sealed).toMatch(/^v1\.kms-a\./);
    expect(sealed).not.toContain('a secret');
    const fresh = await opened(kmsOf('a'));
    expect(await fresh.sealer.open(sealed, PLACE)).toBe('a secret');
    expect(kms.contexts.at(-1)).toEqual({
      'ute:tenant': 'acme',
      'ute:agent': 'desk',
      'ute:tool': 'mail',
      'ute:field': 'api_key',
    });
    const asked = kms.asked.length;
    expect(await fresh.sealer.open(sealed, PLACE)).toBe('a secret');
    expect(kms.asked.length).toBe(asked);
    expect(await reasonOf(fresh.sealer.open(sealed, { ...PLACE, tenantId: 'umbrella' }))).toBe(
      'SECRET_UNREADABLE',
    );
    const wrong = await opened(kmsOf('a'), { ...ENV, AWS_SECRET_ACCESS_KEY: 'another' });
    expect(await reasonOf(wrong.sealer.open(sealed, PLACE))).toBe('SECRETS_PROVIDER_AWAY');
    expect(wrong.away()).toEqual(['aws_kms']);
  });

  it('takes the credentials of a web identity, with their session', async () => {
    const token = join(dir, 'token');
    writeFileSync(token, 'a-web-identity\n');
    const env = {
      AWS_WEB_IDENTITY_TOKEN_FILE: token,
      AWS_ROLE_ARN: 'arn:aws:iam::111122223333:role/ute',
      AWS_ENDPOINT_URL_STS: kms.url,
    };
    const { sealer } = await opened(kmsOf('a'), env);
    const sealed = await sealer.seal('x', PLACE);
    expect(await sealer.open(sealed, PLACE)).toBe('x');
    expect(kms.asked.filter((name) => name === 'AssumeRoleWithWebIdentity')).toHaveLength(1);
    writeFileSync(token, 'nobody');
    expect(await reasonOf((await opened(kmsOf('a'), env)).sealer.open(sealed, PLACE))).toBe(
      'SECRETS_PROVIDER_AWAY',
    );
  });

  it('goes over to another key by putting it first; material that KMS rotates keeps its name', async () => {
    const { sealer, keys } = await opened(kmsOf('a'));
    const sealed = await sealer.seal('x', PLACE);
    expect(await keys.rotate()).toBe('kms-a');
    expect(kms.materials(ARN_A)).toBe(2);
    const both = await opened(kmsOf('b', 'a'));
    expect(await both.sealer.open(sealed, PLACE)).toBe('x');
    const rewrapped = (await both.sealer.rewrap(sealed, PLACE)) ?? '';
    expect(rewrapped).toMatch(/^v1\.kms-b\./);
    expect(await (await opened(kmsOf('b'))).sealer.open(rewrapped, PLACE)).toBe('x');
    kms.setState(ARN_B, 'Disabled');
    const disabled = await opened(kmsOf('b'));
    await expect(disabled.keys.keyIds()).rejects.toMatchObject({ reason: 'SECRETS_PROVIDER_AWAY' });
    expect(await reasonOf(disabled.sealer.seal('x', PLACE))).toBe('SECRETS_PROVIDER_AWAY');
  });
});

describe('Vault', () => {
  it.each([false, true])('wraps each secret for its place (derived: %s)', async (isDerived) => {
    const own = await new FakeVault(isDerived).start();
    const { sealer } = await opened(vaultOf({ token: VAULT_TOKEN }, own));
    const sealed = await sealer.seal('a secret', PLACE);
    expect(sealed).toMatch(/^v1\.vault-ute-v1\./);
    const fresh = await opened(vaultOf({ token: VAULT_TOKEN }, own));
    expect(await reasonOf(fresh.sealer.open(sealed, { ...PLACE, field: 'other' }))).toBe('SECRET_UNREADABLE');
    expect(await fresh.sealer.open(sealed, PLACE)).toBe('a secret');
    own.stop();
  });

  it('has its versions rotated, counted and rewrapped; one that Vault gave up opens nothing', async () => {
    const { sealer, keys } = await opened(vaultOf());
    const sealed = await sealer.seal('x', PLACE);
    expect(await keys.rotate()).toBe('vault-ute-v2');
    expect(await keys.keyIds()).toEqual(['vault-ute-v2', 'vault-ute-v1']);
    const rewrapped = (await sealer.rewrap(sealed, PLACE)) ?? '';
    expect(rewrapped).toMatch(/^v1\.vault-ute-v2\./);
    vault.leastVersion = 2;
    const fresh = await opened(vaultOf());
    expect(await fresh.sealer.open(rewrapped, PLACE)).toBe('x');
    expect(await reasonOf(fresh.sealer.open(sealed, PLACE))).toBe('SECRETS_PROVIDER_AWAY');
    expect(fresh.away()).toEqual([]);
  });

  it.each([
    ['AppRole', { approle: { role_id: 'ute-role', secret_id: 'ute-secret-id' } }, true],
    ['a wrong secret id', { approle: { role_id: 'ute-role', secret_id: 'wrong' } }, false],
    ['Kubernetes', { kubernetes: { role: 'ute', jwt_file: 'jwt' } }, true],
    ['a token file', { token_file: 'vault-token' }, true],
    ['a file that is not there', { token_file: 'nowhere' }, false],
    ['a token of nobody', { token: 'hvs.nobody' }, false],
  ])('is entered by %s', async (_how, login, isRight) => {
    writeFileSync(join(dir, 'jwt'), 'a-service-account');
    writeFileSync(join(dir, 'vault-token'), `${VAULT_TOKEN}\n`);
    const { sealer } = await opened(vaultOf(login));
    expect(await reasonOf(sealer.seal('x', PLACE))).toBe(isRight ? 'opened' : 'SECRETS_PROVIDER_AWAY');
  });

  it('is logged in to once, and again when the token is no longer good', async () => {
    const { sealer } = await opened(
      vaultOf({ approle: { role_id: 'ute-role', secret_id: 'ute-secret-id' } }),
    );
    for (const text of ['a', 'b', 'c']) await sealer.seal(text, PLACE);
    const logins = () => vault.asked.filter((name) => name.includes('/login')).length;
    expect(logins()).toBe(1);
    vault.tokens.clear();
    await sealer.seal('d', PLACE);
    expect(logins()).toBe(2);
  });
});

describe('from one place of keys to another', () => {
  it('what local keys have wrapped is read, and brought over to Vault, and back', async () => {
    const keys = `k1:${Buffer.alloc(32, 5).toString('base64')}`;
    const sealed = await (await opened({ keys })).sealer.seal('x', PLACE);
    const both = await opened({ ...vaultOf(), keys });
    expect(await both.keys.keyIds()).toEqual(['vault-ute-v1', 'k1']);
    expect(await both.sealer.open(sealed, PLACE)).toBe('x');
    const moved = (await both.sealer.rewrap(sealed, PLACE)) ?? '';
    expect(await (await opened(vaultOf())).sealer.open(moved, PLACE)).toBe('x');
    expect(await reasonOf((await opened({ keys })).sealer.open(moved, PLACE))).toBe('SECRETS_KEY_MISSING');
    const back = await opened({ ...vaultOf(), keys, provider: 'local' });
    expect(await back.sealer.rewrap(moved, PLACE)).toMatch(/^v1\.k1\./);
  });

  it('no local key is made where another provider wraps', async () => {
    const { keys } = await opened(vaultOf());
    expect(await keys.keyIds()).toEqual(['vault-ute-v1']);
    expect(await reasonOf(keys.unwrap({ keyId: 'k000001', wrapped: Buffer.alloc(60) }, PLACE))).toBe(
      'SECRETS_KEY_MISSING',
    );
  });
});

describe('settings', () => {
  it.each([
    ['secrets:\n  provider: vault\n', ':1:', 'secrets.vault', 'is needed where provider is vault'],
    [
      'secrets:\n  aws_kms:\n    keys:\n      - { id: a, arn: nowhere }\n',
      ':4:',
      'secrets.aws_kms.keys.0.arn',
      'must be the ARN of a symmetric key',
    ],
    [
      'secrets:\n  vault:\n    address: https://vault.example.com\n    key: ute\n',
      ':2:',
      'secrets.vault.token',
      'give one of token, token_file, approle, kubernetes',
    ],
    [
      'secrets:\n  vault:\n    address: http://vault.example.com\n    key: ute\n    token_file: t\n',
      ':2:',
      'secrets.vault.allow_http',
      'is needed for a URL that is not https',
    ],
  ])('that cannot be are refused at their place: %j', (text, line, path, message) => {
    const file = join(dir, 'gateway.yaml');
    writeFileSync(file, text);
    const load = () => loadSettings({ UTE_CONFIG: file }, dir);
    expect(load).toThrow(SettingsError);
    expect(load).toThrow(`${file}${line}`);
    expect(load).toThrow(path);
    expect(load).toThrow(message);
  });
});

describe('a gateway whose key service is Vault', () => {
  const TOKEN = 'a-secret-of-the-desk';
  let tools: string;
  let service: FakeVault;
  let gateway: RunningGateway;

  beforeAll(async () => {
    tools = tempDir();
    writeFileSync(
      join(tools, 'count.js'),
      'export const execute = (args, context) => ({ length: context.secrets.token.length });\n',
    );
    const schema = { type: 'object', properties: { token: { type: 'string', 'x-ute-sensitive': true } } };
    const common = { description: 'Counts.', tool_type: 'javascript', input_schema: { type: 'object' } };
    const implementation_config = { handler: './count.js', trusted: true };
    const count = { name: 'count', ...common, implementation_config, config_schema: schema };
    const own = { tools: [count] };
    writeFileSync(join(tools, 'tools.yaml'), JSON.stringify(own));
    service = await new FakeVault().start();
    service.mode = 'fails';
    gateway = await startGateway({
      tools: [join(tools, 'tools.yaml'), 'config/tools.yaml'],
      settings: { secrets: { ...vaultOf({ token: VAULT_TOKEN }, service), cache_s: 1 } },
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    service?.stop();
    removeDir(tools);
  });

  const ask = <Body = Envelope>(method: string, path: string, body?: unknown) =>
    sendTo<Body>(targetOf(gateway), method, path, body);
  const call = (tool: string, args: object, context: object = {}) =>
    ask('POST', `/v1/tools/${tool}/execute`, { arguments: args, context });
  const ready = async () => (await fetch(`${gateway.url}/readyz`)).json() as Promise<Record<string, unknown>>;
  async function ute(...argv: string[]) {
    let stdout = '';
    const io = {
      stdout: (text: string) => void (stdout += text),
      stderr: (text: string) => void (stdout += text),
    };
    const env = { UTE_API_KEY: gateway.keys.admin.text };
    const code = await run([...argv, '--url', gateway.url], {
      ...io,
      readStdin: async () => '',
      fetch,
      env,
      cwd: tools,
    });
    return { code, stdout };
  }

  it('starts while it is away and says so, runs what needs no secret, and works once it is back', async () => {
    await eventually(async () => expect(await ready()).toMatchObject({ status: 'degraded' }));
    expect(JSON.stringify(await ready())).toContain('the key service of the secrets is away (vault)');
    expect((await call('echo', { text: 'x' })).body.ok).toBe(true);
    await ask('POST', '/v1/agents', { name: 'desk' });
    const path = '/v1/agents/desk/tools/count';
    const refused = await ask<{ reason: string }>('PUT', path, { sensitive_config: { token: TOKEN } });
    expect([refused.status, refused.body.reason]).toEqual([503, 'SECRETS_PROVIDER_AWAY']);
    service.mode = 'answers';
    await eventually(async () => expect(await ready()).toMatchObject({ status: 'ok' }));
    expect((await ask('PUT', path, { sensitive_config: { token: TOKEN } })).status).toBe(200);
    expect((await call('count', {}, { agent_id: 'desk' })).body.data).toEqual({ length: TOKEN.length });
  });

  it('is rotated and rewrapped by the command line, and secrets still open', async () => {
    expect((await ute('secrets', 'rotate')).stdout).toMatch(
      /vault-ute-v2 +current +0\nvault-ute-v1 +reads +1/,
    );
    expect((await ute('secrets', 'rewrap')).stdout).toBe('1 rewrapped\n');
    expect((await ute('secrets', 'keys')).stdout).toMatch(/vault-ute-v2 +current +1\nvault-ute-v1 +reads +0/);
    expect((await call('count', {}, { agent_id: 'desk' })).body.ok).toBe(true);
  });

  it('that goes away while it runs fails those calls with the reason, when memory has let go of the key', async () => {
    service.mode = 'silent';
    await eventually(async () => {
      const { body, status } = await call('count', {}, { agent_id: 'desk' });
      expect([status, body.error?.type, body.error?.reason]).toEqual([
        503,
        'UNAVAILABLE',
        'SECRETS_PROVIDER_AWAY',
      ]);
    });
    expect((await call('echo', { text: 'x' })).body.ok).toBe(true);
    service.mode = 'answers';
    await eventually(async () => expect((await call('count', {}, { agent_id: 'desk' })).body.ok).toBe(true));
  });
});
