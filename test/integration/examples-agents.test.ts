// examples/agents: what its README shows, by REST and by `ute`.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { request, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway({ tools: ['examples/agents/tools.yaml'] });
});

afterAll(() => gateway?.stop());

async function ute(argv: readonly string[], stdin = '') {
  let [stdout, stderr] = ['', ''];
  const code = await run([...argv, '--url', gateway.url, '--key', gateway.keys.admin.text], {
    cwd: '.',
    env: {},
    fetch,
    stdout: (text) => void (stdout += text),
    stderr: (text) => void (stderr += text),
    readStdin: () => Promise.resolve(stdin),
  });
  return { code, stdout, stderr };
}

async function call() {
  const body = {
    arguments: { to: 'ann@example.com', subject: 'Hello' },
    context: { agent_id: 'front-desk' },
  };
  return (await request(targetOf(gateway, 'agent'), 'POST', '/v1/tools/send_email/execute', body)).body;
}

describe('the agents example', () => {
  it('is refused until the agent is configured, then sends from its address, and not while it is switched off', async () => {
    expect(await call()).toMatchObject({ error: { reason: 'TOOL_NOT_CONFIGURED' } });
    const made = await ute(['agents', 'create', 'front-desk', '--description', 'Answers the phone']);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('front-desk') });
    const configure = ['agents', 'configure', 'front-desk', 'send_email'];
    const config = ['--config', '{"from_email": "desk@example.com"}', '--secrets', '-'];
    const done = await ute([...configure, ...config], '{"api_key": "mail-key-123"}');
    expect(done.stdout).toMatch(/send_email\s+enabled\s+\{"from_email":"desk@example.com"\}\s+api_key/);
    expect(await call()).toMatchObject({ data: { sent: { from: 'desk@example.com', port: 587 } } });
    expect((await ute([...configure, '--disable'])).stdout).toContain('disabled');
    expect(await call()).toMatchObject({ error: { reason: 'TOOL_DISABLED_FOR_AGENT' } });
    expect((await ute(['agents', 'form', 'front-desk', 'send_email'])).stdout).toContain(
      '"ui:widget": "password"',
    );
    const listed = await ute(['agents', 'list', '--json']);
    expect(JSON.parse(listed.stdout)).toMatchObject([{ name: 'front-desk', tenant: 'acme' }]);
    expect((await ute(['agents', 'tools', 'front-desk'])).stdout).not.toContain('mail-key-123');
    expect((await ute(['agents', 'unconfigure', 'front-desk', 'send_email'])).code).toBe(0);
    expect((await ute(['agents', 'delete', 'front-desk'])).code).toBe(0);
    expect(await call()).toMatchObject({ error: { reason: 'TOOL_NOT_CONFIGURED' } });
  });

  it('is declared and configured by one command, or not at all where the file is wrong', async () => {
    const tools = JSON.stringify({
      send_email: {
        config: { from_email: 'desk@example.com' },
        sensitive_config: { api_key: 'mail-key-123' },
      },
    });
    const create = (said: string, stdin = '') => ute(['agents', 'create', 'whole', '--tools', said], stdin);
    expect(await create(tools)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--tools must be @file or -'),
    });
    expect(await create('-', '{"send_email": true}')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('send_email must be an object: {config, sensitive_config}'),
    });
    const made = await create('-', tools);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toMatch(/send_email\s+enabled\s+\{"from_email":"desk@example.com"\}\s+api_key/);
    expect(made.stdout).not.toContain('mail-key-123');
    expect((await ute(['agents', 'delete', 'whole'])).code).toBe(0);
  });

  it('an agent whose tools cannot all be configured is not declared', async () => {
    const good = {
      config: { from_email: 'desk@example.com' },
      sensitive_config: { api_key: 'mail-key-123' },
    };
    for (const wrong of [{ send_email: { config: { form: 'x' } } }, { nothing: {} }]) {
      const tools = JSON.stringify({ send_email: good, ...wrong });
      const made = await ute(['agents', 'create', 'half', '--tools', '-'], tools);
      expect(made.code).not.toBe(0);
      expect(made.stderr).toContain('The agent half was not declared.');
      expect((await ute(['agents', 'list'])).stdout).not.toContain('half');
    }
    expect((await ute(['agents', 'create', 'half'])).code).toBe(0);
    // One that was there before stays, whatever is wrong with the second one.
    expect((await ute(['agents', 'create', 'half', '--tools', '-'], '{"nothing": {}}')).code).not.toBe(0);
    expect((await ute(['agents', 'list'])).stdout).toContain('half');
    expect((await ute(['agents', 'delete', 'half'])).code).toBe(0);
  });

  it('a secret on the command line is refused, and so is what a tool does not ask for', async () => {
    await ute(['agents', 'create', 'night']);
    const shown = await ute(['agents', 'configure', 'night', 'send_email', '--secrets', '{"api_key": "x"}']);
    expect(shown).toMatchObject({ code: 2, stderr: expect.stringContaining('--secrets must be @file or -') });
    const wrong = await ute([
      'agents',
      'configure',
      'night',
      'send_email',
      '--config',
      '{"form_email": "x"}',
    ]);
    expect(wrong.stderr).toContain('/config/form_email');
  });

  it('the keys of secrets are looked at, rotated, and brought over', async () => {
    await ute(['agents', 'create', 'rotating']);
    const secrets = [
      'agents',
      'configure',
      'rotating',
      'send_email',
      '--secrets',
      '-',
      '--config',
      '{"from_email": "a@b.example"}',
    ];
    await ute(secrets, '{"api_key": "mail-key-456"}');
    expect((await ute(['secrets', 'keys'])).stdout).toMatch(/k000001\s+current\s+1/);
    expect((await ute(['secrets', 'rotate'])).stdout).toMatch(/k000002\s+current\s+0\nk000001\s+reads\s+1/);
    expect((await ute(['secrets', 'rewrap'])).stdout).toBe('1 rewrapped\n');
    expect((await ute(['secrets', 'keys'])).stdout).toMatch(/k000002\s+current\s+1\nk000001\s+reads\s+0/);
    expect((await ute(['secrets', 'rewrap'])).stdout).toBe('0 rewrapped\n');
    const body = { arguments: { to: 'ann@example.com', subject: 'x' }, context: { agent_id: 'rotating' } };
    const answer = await request(targetOf(gateway, 'agent'), 'POST', '/v1/tools/send_email/execute', body);
    expect(answer.body).toMatchObject({ ok: true });
  });
});
