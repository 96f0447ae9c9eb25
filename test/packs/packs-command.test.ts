// `ute packs`: an entry is written only if a gateway would start with it; what is there stays as it was.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

let cwd: string;
let env: Readonly<Record<string, string>>;
let asking: typeof fetch;

beforeEach(() => {
  cwd = tempDir();
  env = {};
  asking = fetch;
});
afterEach(() => removeDir(cwd));

async function ute(...argv: string[]) {
  const out = { stdout: '', stderr: '' };
  const code = await run(argv, {
    stdout: (text) => (out.stdout += text),
    stderr: (text) => (out.stderr += text),
    readStdin: async () => '',
    fetch: asking,
    env,
    cwd,
  });
  return { code, ...out };
}

const settings = () => readFileSync(join(cwd, 'config/gateway.yaml'), 'utf8');

function write(gateway: string, tools?: string): void {
  mkdirSync(join(cwd, 'config'), { recursive: true });
  writeFileSync(join(cwd, 'config/gateway.yaml'), gateway);
  if (tools !== undefined) writeFileSync(join(cwd, 'config/tools.yaml'), tools);
}

const MINE = `tools:
  - name: get_current_time
    description: The time of ours
    tool_type: composite
    implementation_config: { steps: [{ id: a, tool: execute_code, arguments: { code: '1' } }] }
`;

describe('ute packs add', () => {
  it('in an empty folder makes a gateway.yaml, and tells a first call', async () => {
    const { code, stdout } = await ute('packs', 'add', 'system');
    expect(code).toBe(0);
    expect(stdout).toContain(`ute call get_current_time '{"timezone":"Europe/Berlin"}'`);
    expect(settings()).toContain('pack');
    const { stdout: listed } = await ute('packs', 'list', '--json');
    expect(JSON.parse(listed)).toContainEqual(expect.objectContaining({ name: 'system', in_force: true }));
    expect(await ute('packs', 'add', 'system')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('already') as string,
    });
  });

  it('tells whom the first call is for where it has to say so, and how it is typed where npm runs it', async () => {
    const first = `call email.send_email '{"to":"ann@example.com","subject":"Hello","body":"How are you?"}' --context agent_id=front-desk`;
    expect((await ute('packs', 'add', 'email')).stdout).toContain(`  ute ${first}\n`);
    env = { npm_lifecycle_event: 'ute' };
    expect((await ute('packs', 'add', 'email')).stdout).toContain(`  npm run --silent ute -- ${first}\n`);
  });

  it('a tool of that name that is there keeps the pack out, and the file stays as it was', async () => {
    const before = '# Ours.\nloaders:\n  - type: yaml-file\n    paths: [tools.yaml]\n';
    write(before, MINE);
    const { code, stderr } = await ute('packs', 'add', 'system');
    expect(code).toBe(1);
    expect(stderr).toContain('get_current_time');
    expect(stderr).toContain('--without <tool>');
    expect(settings()).toBe(before);
    expect(readdirSync(join(cwd, 'config')).toSorted()).toEqual(['gateway.yaml', 'tools.yaml']);
    expect(await ute('packs', 'add', 'system', '--without', 'get_current_time')).toMatchObject({ code: 0 });
    expect(settings()).toBe(
      `${before}  - { type: pack, name: system, overrides: { get_current_time: { off: true } } }\n`,
    );
  });

  it('a tool that the pack does not have cannot be left out', async () => {
    const { code, stderr } = await ute('packs', 'add', 'system', '--without', 'get_time');
    expect(code).toBe(1);
    expect(stderr).toContain('fits no tool of the pack');
    expect(existsSync(join(cwd, 'config/gateway.yaml'))).toBe(false);
  });

  it('--choose brings a part of the pack, whose variables are told where they are not set', async () => {
    const { code, stderr } = await ute('packs', 'add', 'web', '--choose', 'search=brave');
    expect(code).toBe(1);
    expect(stderr).toContain('the pack reads BRAVE_SEARCH_API_KEY: A key of the Brave Search API');
    expect(stderr).not.toContain('TAVILY');
    expect(existsSync(join(cwd, 'config/gateway.yaml'))).toBe(false);
    expect(await ute('packs', 'add', 'web', '--choose', 'search=bing')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('known: searxng, brave, tavily') as string,
    });
    expect(await ute('packs', 'add', 'web', '--choose', 'brave')).toMatchObject({ code: 2 });
    const { stdout } = await ute('packs', 'add', 'web');
    expect(stdout).toContain(
      'Not chosen: search (The provider that search_web asks): searxng, brave, tavily',
    );
  });

  it('a name that is none is told with the nearest', async () => {
    const { code, stderr } = await ute('packs', 'add', 'receptionst');
    expect(code).toBe(1);
    expect(stderr).toContain('did you mean "receptionist"?');
  });

  it('a gateway.yaml that cannot be read is not written over', async () => {
    write('loaders: [');
    expect(await ute('packs', 'add', 'system')).toMatchObject({ code: 1 });
    expect(settings()).toBe('loaders: [');
  });
});

describe('ute packs add beside a gateway that runs', () => {
  let gateway: RunningGateway;
  const tools = tempDir();
  beforeAll(async () => {
    writeFileSync(join(tools, 'tools.yaml'), 'tools: []\n');
    gateway = await startGateway({ tools: [join(tools, 'tools.yaml')] });
  });
  afterAll(async () => {
    await gateway?.stop();
    removeDir(tools);
  });

  const file = () => join(gateway.dir, 'gateway.yaml');
  const MAIL = {
    email: {
      config: { smtp_server: 'smtp.example.com', from_email: 'desk@example.com' },
      sensitive_config: { api_key: 'a password' },
    },
  };
  const CALENDAR = {
    google_calendar: { config: { calendar_id: 'primary' } },
    google_calendar_api: { sensitive_config: { access_token: 'ya29.token' } },
  };

  function reach(key: string): void {
    env = { UTE_CONFIG: file(), UTE_URL: gateway.url, UTE_API_KEY: key };
    writeFileSync(join(cwd, 'mail.json'), JSON.stringify(MAIL));
    writeFileSync(join(cwd, 'calendar.json'), JSON.stringify(CALENDAR));
  }

  it('with an agent whose tools are configured gives an answer to the next call, without a restart', async () => {
    reach(gateway.keys.admin.text);
    const added = await ute('packs', 'add', 'email', '--agent', 'desk', '--tools', '@mail.json');
    expect(added).toMatchObject({ code: 0, stderr: '' });
    expect(added.stdout).toContain('--context agent_id=desk');
    expect(added.stdout).not.toContain('a mail account of its own');
    const message = '{"to": "ann@example.com", "subject": "Hello", "body": "How are you?"}';
    const context = ['--context', 'agent_id=desk', '--context', 'dry_run=true'];
    const called = await ute('call', 'email.send_email', message, ...context, '--json');
    expect(called).toMatchObject({ code: 0 });
    expect(JSON.parse(called.stdout)).toMatchObject({
      ok: true,
      data: { would: { from: 'desk@example.com' } },
    });
    const another = await ute('packs', 'add', 'calendar', '--agent', 'desk', '--tools', '@calendar.json');
    expect(another).toMatchObject({ code: 0, stderr: '' });
    const { stdout } = await ute('agents', 'tools', 'desk');
    for (const tool of ['email', 'google_calendar', 'google_calendar_api']) expect(stdout).toContain(tool);
  });

  it('with a wrong key, a file with a mistake or one half of the two options leaves gateway.yaml as it was', async () => {
    reach('ute_live_wrong');
    const before = readFileSync(file(), 'utf8');
    const add = (...more: string[]) => ute('packs', 'add', 'tasks', ...more);
    const refused = await add('--agent', 'desk', '--tools', '@mail.json');
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('401');
    expect(await add('--agent', 'desk')).toMatchObject({ code: 2 });
    expect(await add('--tools', '@mail.json')).toMatchObject({ code: 2 });
    writeFileSync(join(cwd, 'wrong.json'), '{"email": ');
    expect((await add('--agent', 'desk', '--tools', '@wrong.json')).code).toBe(2);
    env = { ...env, UTE_URL: 'http://127.0.0.1:1' };
    expect((await add('--agent', 'desk', '--tools', '@mail.json')).stderr).toContain('cannot be reached');
    expect(readFileSync(file(), 'utf8')).toBe(before);
  });

  it('waits for a replica that has not looked at its gateway.yaml yet', async () => {
    reach(gateway.keys.admin.text);
    let early = 2;
    asking = async (input, init) => {
      const request = new Request(input, init);
      if (request.method !== 'PUT' || early === 0) return fetch(request);
      early -= 1;
      return Response.json({ detail: 'In words of its own.', reason: 'TOOL_NOT_FOUND' }, { status: 404 });
    };
    const added = await ute('packs', 'add', 'email', '--agent', 'late', '--tools', '@mail.json');
    expect(added).toMatchObject({ code: 0, stderr: '' });
    expect((await ute('agents', 'tools', 'late')).stdout).toContain('email');
  });

  it('does not wait where a tool is refused for any other reason, whatever the words of it', async () => {
    reach(gateway.keys.admin.text);
    let asked = 0;
    asking = async (input, init) => {
      const request = new Request(input, init);
      if (request.method !== 'PUT') return fetch(request);
      asked += 1;
      const detail = 'config names a mailbox: There is no tool of this name in it.';
      return Response.json({ detail, reason: 'AGENT_CONFIG_INVALID' }, { status: 400 });
    };
    const refused = await ute('packs', 'add', 'email', '--agent', 'other', '--tools', '@mail.json');
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('names a mailbox') });
    expect(asked).toBe(1);
  });

  it('waits until that gateway has the tools, and tells what it makes of them', async () => {
    reach(gateway.keys.admin.text);
    const { code, stdout } = await ute('packs', 'add', 'system');
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('that runs has it') });
    expect(await ute('call', 'get_current_time', '{}')).toMatchObject({ code: 0 });
    const problems = [{ file: 'tools.yaml', tool: 'fetch_url', message: 'is taken already' }];
    asking = async () => Response.json({ ok: false, problems });
    const refused = await ute('packs', 'add', 'web');
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('did not take it') });
    expect(refused.stderr).toContain('fetch_url: is taken already');
  });

  it('tells where that gateway was started with another gateway.yaml', async () => {
    reach(gateway.keys.admin.text);
    const elsewhere = join(cwd, 'gateway.yaml');
    writeFileSync(elsewhere, 'loaders: []\n');
    env = { ...env, UTE_CONFIG: elsewhere };
    const { code, stderr } = await ute('packs', 'add', 'memory', '--agent', 'desk', '--tools', '@mail.json');
    expect(code).not.toBe(0);
    expect(stderr).toContain('another gateway.yaml');
  });
});
