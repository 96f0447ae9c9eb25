// Toolsets through every door: which tools they hold and for whom, under which names, and that what they fix and hide holds on every call.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse, stringify } from 'yaml';
import { TOOL_FORMATS } from '../../src/formats/tool-lists.ts';
import { grpcDoor, mcpDoor, restDoor, type Door } from '../helpers/doors.ts';
import { request, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

let dir: string;
let gateway: RunningGateway;
let doors: readonly Door[];

const text = (more: object = {}) => ({ type: 'string', ...more });
const tool = (name: string, more: object = {}) => ({
  name,
  description: `Does ${name}.`,
  tool_type: 'javascript',
  implementation_config: { handler: './echo.js', trusted: true },
  input_schema: {
    type: 'object',
    properties: { owner: text(), repo: text(), title: text(), state: text({ default: 'open' }) },
    required: ['owner', 'repo', 'title'],
    additionalProperties: false,
  },
  ...more,
});
const TOOLS = [
  tool('issues.create', { metadata: { tags: ['write'] } }),
  tool('issues.list', { metadata: { category: 'retrieval' } }),
  tool('issues.delete'),
  tool('pay_out', { metadata: { permissions: ['money:pay'] } }),
  tool('other'),
];
const TOOLSETS = {
  support: {
    description: 'Bugs of the product.',
    include: { tools: ['issues.*', 'pay_out'] },
    exclude: { tools: ['*delete*'] },
    overrides: {
      'issues.create': {
        name: 'report_bug',
        description: 'Reports a bug of the product.',
        fixed: { owner: 'acme', repo: 'product' },
        hidden: ['state'],
      },
    },
  },
  acme_only: { tenants: ['acme'], include: { tools: ['other'] } },
  for_robot: { agents: ['robot'], include: { tags: ['write'], categories: ['retrieval'] } },
};

beforeAll(async () => {
  dir = tempDir();
  writeFileSync(join(dir, 'echo.js'), 'export const execute = (args) => args;\n');
  writeFileSync(join(dir, 'tools.yaml'), stringify({ tools: TOOLS }));
  gateway = await startGateway({
    tools: [join(dir, 'tools.yaml')],
    settings: { toolsets: TOOLSETS },
    more: { robot: { tenant: 'acme', roles: ['agent'], agents: ['robot'] } },
  });
  doors = [restDoor(gateway), grpcDoor(gateway), mcpDoor(gateway), mcpDoor(gateway, 'legacy')];
});

afterAll(async () => {
  for (const door of doors ?? []) door.close();
  await gateway?.stop();
  removeDir(dir);
});

interface Listed {
  readonly tools: readonly {
    readonly name: string;
    readonly input_schema: { readonly properties: object };
    readonly description: string;
  }[];
}

const list = (query: string, target: RestTarget = targetOf(gateway, 'agent')) =>
  request<Listed>(target, 'GET', `/v1/tools?${query}`);
const names = async (query: string, target?: RestTarget) =>
  (await list(query, target)).body.tools?.map(({ name }) => name);

function call(door: Door, toolset: string, called: string, args: object, key = gateway.keys.agent.text) {
  return door.call({ tool: called, argumentsJson: JSON.stringify(args), context: { toolset }, key });
}

describe('a list of a toolset', () => {
  it('holds the tools that it includes, of those that the caller may call, under their names there', async () => {
    expect(await names('toolset=support')).toEqual(['issues.list', 'report_bug']);
    expect(await names('toolset=support', targetOf(gateway, 'admin'))).toEqual([
      'issues.list',
      'pay_out',
      'report_bug',
    ]);
  });

  it('shows the words of the toolset, and nothing of what it fixes and hides', async () => {
    const { tools } = (await list('toolset=support')).body;
    const shown = tools.find(({ name }) => name === 'report_bug');
    expect(shown).toMatchObject({
      description: 'Reports a bug of the product.',
      input_schema: { properties: { title: { type: 'string' } }, required: ['title'] },
    });
    expect(Object.keys(shown?.input_schema.properties ?? {})).toEqual(['title']);
    expect(JSON.stringify(shown)).not.toContain('acme');
  });

  it.each(TOOL_FORMATS)('is the same in the form of %s', async (format) => {
    const response = await fetch(`${gateway.url}/v1/tools?toolset=support&format=${format}`, {
      headers: { authorization: `Bearer ${gateway.keys.agent.text}` },
    });
    const said = await response.text();
    expect(said).toContain('report_bug');
    expect(said).toContain('Reports a bug of the product.');
    const bug = said.slice(said.indexOf('report_bug'));
    for (const absent of ['owner', 'repo"', '"state"', 'milestone']) expect(bug).not.toContain(absent);
    for (const absent of ['issues.create', 'issues__create', 'pay_out', 'Does other'])
      expect(said).not.toContain(absent);
  });

  it('selects by tag and category as well', async () => {
    expect(await names('toolset=for_robot&agent_id=robot')).toEqual(['issues.create', 'issues.list']);
  });

  it('describes a tool of it by its name there, and none that is not in it', async () => {
    const target = targetOf(gateway, 'agent');
    const get = (path: string) => request<Listed['tools'][number]>(target, 'GET', path);
    expect((await get('/v1/tools/report_bug?toolset=support')).body.description).toBe(
      'Reports a bug of the product.',
    );
    expect((await get('/v1/tools/report_bug')).status).toBe(404);
    expect((await get('/v1/tools/issues.create?toolset=support')).status).toBe(404);
    expect((await get('/v1/tools/other/docs?toolset=support')).status).toBe(404);
  });
});

describe('a call through a toolset', () => {
  it('is the call of the tool, with what the toolset fixes, whatever door it comes through', async () => {
    for (const door of doors) {
      const { ok, data } = await call(door, 'support', 'report_bug', { title: 'Broken' });
      expect([door.name, ok, data]).toEqual([
        door.name,
        true,
        { owner: 'acme', repo: 'product', title: 'Broken', state: 'open' },
      ]);
    }
  });

  it.each(['owner', 'repo', 'state'])(
    'that gives %s itself is refused, and told which argument it was',
    async (name) => {
      for (const door of doors) {
        const told = await call(door, 'support', 'report_bug', { title: 'x', [name]: 'theirs' });
        expect([door.name, told.ok, told.type, told.reason]).toEqual([
          door.name,
          false,
          'VALIDATION',
          'ARGUMENT_NOT_OFFERED',
        ]);
        expect(told.message).toContain(name);
        expect(JSON.stringify(told)).not.toContain('acme');
      }
    },
  );

  it.each(['other', 'issues.create', 'issues.delete', 'issues__create', 'no_such'])(
    'of %s, which is no name in it, is refused as one of no tool',
    async (called) => {
      for (const door of doors) {
        const told = await call(door, 'support', called, { owner: 'a', repo: 'b', title: 'c' });
        expect([door.name, told.ok, told.type, told.reason]).toEqual([
          door.name,
          false,
          'NOT_FOUND',
          'TOOL_NOT_FOUND',
        ]);
        expect(told.message).not.toContain('issues.create');
      }
    },
  );

  it('gives nobody a right: what the key may not call is refused there too', async () => {
    for (const door of doors) {
      const told = await call(door, 'support', 'pay_out', { owner: 'a', repo: 'b', title: 'c' });
      expect([door.name, told.ok, told.type]).toEqual([door.name, false, 'PERMISSION_DENIED']);
    }
  });

  it('is on record as the tool that ran, with the toolset and the name that was called', async () => {
    const [rest] = doors;
    if (rest === undefined) throw new Error('there is no door');
    await call(rest, 'support', 'report_bug', { title: 'on record' });
    await vi.waitFor(async () => {
      const { body } = await request<{ records: readonly Record<string, unknown>[] }>(
        targetOf(gateway),
        'GET',
        '/v1/audit?tool=issues.create',
      );
      expect(body.records).toContainEqual(
        expect.objectContaining({
          tool: 'issues.create',
          requested_tool: 'report_bug',
          notes: { toolset: 'support' },
        }),
      );
    });
  });

  it('can be accepted for later, and runs then as it was meant', async () => {
    const target = targetOf(gateway, 'agent');
    const headers = { prefer: 'respond-async' };
    const body = { arguments: { title: 'later' }, context: { toolset: 'support' } };
    const response = await fetch(`${gateway.url}/v1/tools/report_bug/execute`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${target.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(202);
    const at = response.headers.get('location') ?? '';
    await vi.waitFor(
      async () => {
        const kept = await request<{ status: string; tool: string; result: { data: object } }>(
          target,
          'GET',
          at,
        );
        expect(kept.body).toMatchObject({
          status: 'succeeded',
          tool: 'issues.create',
          result: { data: { owner: 'acme', title: 'later' } },
        });
      },
      { timeout: 20_000 },
    );
  });
});

describe('a toolset that is for others', () => {
  const args = { owner: 'a', repo: 'b', title: 'c' };

  it.each([
    ['of another tenant', 'acme_only', 'other', () => gateway.keys.other.text],
    ['for an agent, where the caller names none', 'for_robot', 'issues.list', () => gateway.keys.agent.text],
    ['that there is not', 'nothing', 'other', () => gateway.keys.agent.text],
  ] as const)('%s is not there: neither in lists nor in calls', async (_what, toolset, called, key) => {
    const target = { url: gateway.url, key: key() };
    const listed = await list(`toolset=${toolset}`, target);
    expect([listed.status, (listed.body as unknown as { reason: string }).reason]).toEqual([
      404,
      'TOOLSET_NOT_FOUND',
    ]);
    for (const door of doors) {
      const told = await call(door, toolset, called, args, key());
      expect([door.name, told.type, told.reason]).toEqual([door.name, 'NOT_FOUND', 'TOOLSET_NOT_FOUND']);
      expect(JSON.stringify(told.meta ?? {})).not.toContain(called);
    }
  });

  it('is there for the agent that it is for: named, or the only one of the credential', async () => {
    const [rest] = doors;
    const named = await rest?.call({
      tool: 'issues.list',
      argumentsJson: JSON.stringify(args),
      context: { toolset: 'for_robot', agent_id: 'robot' },
      key: gateway.keys.agent.text,
    });
    expect(named?.ok).toBe(true);
    const robot = gateway.key('robot');
    expect(await names('toolset=for_robot', robot)).toEqual(['issues.create', 'issues.list']);
    for (const door of doors)
      expect((await call(door, 'for_robot', 'issues.list', args, robot.key)).ok).toBe(true);
  });
});

describe('gateway.yaml', () => {
  const file = () => join(gateway.dir, 'gateway.yaml');
  const change = (toolsets: unknown) => {
    const settings = parse(readFileSync(file(), 'utf8')) as Record<string, unknown>;
    writeFileSync(file(), stringify({ ...settings, toolsets }));
  };

  it('changes toolsets while the gateway runs; one that cannot be leaves those from before', async () => {
    change({ ...TOOLSETS, support: { ...TOOLSETS.support, exclude: { tools: ['issues.list'] } } });
    await vi.waitFor(
      async () => expect(await names('toolset=support')).toEqual(['issues.delete', 'report_bug']),
      {
        timeout: 10_000,
      },
    );
    change({ support: { includes: {} } });
    await request(targetOf(gateway), 'POST', '/v1/admin/reload');
    expect(await names('toolset=support')).toEqual(['issues.delete', 'report_bug']);
    change(TOOLSETS);
    await request(targetOf(gateway), 'POST', '/v1/admin/reload');
    expect(await names('toolset=support')).toEqual(['issues.list', 'report_bug']);
  });
});
