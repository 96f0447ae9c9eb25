// Search instead of lists, through every door: what is found, and that nobody finds, reads about or calls what it may not call.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { credentials, loadPackageDefinition, Metadata } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { TOOL_FORMATS } from '../../src/formats/tool-lists.ts';
import { grpcDoor, mcpDoor, restDoor, type Door } from '../helpers/doors.ts';
import { request, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

let dir: string;
let gateway: RunningGateway;
let doors: readonly Door[];

const tool = (name: string, description: string, more: object = {}) => ({
  name,
  description,
  tool_type: 'javascript',
  implementation_config: { handler: './echo.js', trusted: true },
  input_schema: {
    type: 'object',
    properties: { n: { type: 'integer', format: 'int64' } },
    additionalProperties: false,
  },
  ...more,
});
const TOOLS = [
  tool('invoice.create', 'Creates an invoice for a customer.'),
  tool('invoice.pay', 'Pays an invoice.', { metadata: { permissions: ['money:pay'] } }),
  tool('invoice.audit', 'Audits an invoice.'),
  tool('invoice.off', 'Switches an invoice.'),
  tool('invoice.written', 'Writes an invoice.', { metadata: { modes: ['text'] } }),
  tool('invoice.risky', 'Burns an invoice.', { metadata: { requires_approval: true } }),
];
/** To an ordinary agent of the tenant these do not exist. */
const HIDDEN = ['invoice.pay', 'invoice.audit', 'invoice.off'];

beforeAll(async () => {
  dir = tempDir();
  writeFileSync(join(dir, 'echo.js'), 'export const execute = (args) => ({ args });\n');
  writeFileSync(join(dir, 'tools.yaml'), stringify({ tools: TOOLS }));
  const rule = { name: 'nobody-audits', tools: ['invoice.audit'], tenants: ['acme'], decision: 'deny' };
  gateway = await startGateway({
    tools: [join(dir, 'tools.yaml')],
    settings: {
      extensions: { policy: { rules: [rule] } },
      toolsets: {
        all: {
          listing: 'search',
          description: 'Invoices.',
          overrides: { 'invoice.create': { name: 'bill', fixed: { n: 7 } } },
        },
        plain: {},
        theirs: { listing: 'search', tenants: ['umbrella'] },
      },
    },
    roles: { payer: ['tools:read', 'tools:call', 'money:pay'], caller: ['tools:call'] },
    more: { payer: { tenant: 'acme', roles: ['payer'] }, caller: { tenant: 'acme', roles: ['caller'] } },
  });
  await request(targetOf(gateway), 'POST', '/v1/admin/tools/invoice.off/disable');
  doors = [restDoor(gateway), grpcDoor(gateway), mcpDoor(gateway), mcpDoor(gateway, 'legacy')];
});

afterAll(async () => {
  for (const door of doors ?? []) door.close();
  await gateway?.stop();
  removeDir(dir);
});

const agent = () => targetOf(gateway, 'agent');
interface Found {
  readonly tools: readonly {
    readonly name: string;
    readonly error?: string;
    readonly input_schema?: object;
  }[];
}
const through = (
  door: Door,
  called: string,
  args: object,
  more: { toolset?: string; mode?: string; key?: string } = {},
) => {
  const { toolset = 'all', mode, key = agent().key } = more;
  const context = { toolset, ...(mode !== undefined && { mode }) };
  return door.call({ tool: called, argumentsJson: JSON.stringify(args), context, key });
};
const namesIn = (data: unknown) => (data as Found).tools.map(({ name }) => name);
const search = async (query: string, target: RestTarget = agent()) => {
  const { body } = await request<Found>(target, 'GET', `/v1/tools/search?q=invoice&limit=50${query}`);
  return namesIn(body).toSorted();
};

describe('a toolset that is searched', () => {
  it.each(TOOL_FORMATS)('lists three tools in the form of %s', async (format) => {
    const response = await fetch(`${gateway.url}/v1/tools?toolset=all&format=${format}`, {
      headers: { authorization: `Bearer ${agent().key}` },
    });
    const said = await response.text();
    for (const name of ['search_tools', 'describe_tools', 'call_tool']) expect(said).toContain(name);
    expect(said).not.toContain('invoice.');
    expect(said).not.toContain('invoice_');
  });

  it('finds, describes and calls a tool by the name that it has there', async () => {
    for (const door of doors) {
      const found = await through(door, 'search_tools', { query: 'make a new invoice', limit: 1 });
      expect([door.name, namesIn(found.data)]).toEqual([door.name, ['bill']]);
      const told = await through(door, 'describe_tools', { names: ['bill'] });
      expect((told.data as Found).tools[0]?.input_schema).toMatchObject({ properties: {} });
      const called = await through(door, 'call_tool', { name: 'bill', arguments: {} });
      expect([door.name, called.data]).toEqual([door.name, { args: { n: 7 } }]);
      const refused = await through(door, 'call_tool', { name: 'bill', arguments: { n: 8 } });
      expect([door.name, refused.reason]).toEqual([door.name, 'ARGUMENT_NOT_OFFERED']);
    }
  });

  it('calls the tool as itself: its approval is asked for, and the record has its name', async () => {
    for (const door of doors) {
      const asked = await through(door, 'call_tool', { name: 'invoice.risky', arguments: {} });
      expect([door.name, asked.type]).toEqual([door.name, 'CONFIRMATION_REQUIRED']);
    }
    await vi.waitFor(async () => {
      const { body } = await request<{ records: readonly object[] }>(
        targetOf(gateway),
        'GET',
        '/v1/audit?tool=invoice.risky',
      );
      expect(body.records).toContainEqual(
        expect.objectContaining({
          requested_tool: 'invoice.risky',
          notes: expect.objectContaining({ toolset: 'all' }),
        }),
      );
    });
  });

  it('passes integers of 64 bits on as they came', async () => {
    for (const door of doors) {
      const { ok, data } = await door.call({
        tool: 'call_tool',
        argumentsJson: '{"name":"invoice.written","arguments":{"n":9007199254740993}}',
        context: { toolset: 'all' },
        key: agent().key,
      });
      expect([door.name, ok, JSON.stringify(data)]).toEqual([
        door.name,
        true,
        expect.stringContaining('9007199254740993'),
      ]);
    }
  });

  it('is searched by a call like any other: held to its schema, and to the permission of lists', async () => {
    for (const door of doors) {
      expect((await through(door, 'search_tools', { query: '', more: 1 })).type).toBe('VALIDATION');
      const blind = await through(door, 'search_tools', { query: 'x' }, { key: gateway.key('caller').key });
      expect([door.name, blind.type]).toEqual([door.name, 'PERMISSION_DENIED']);
    }
  });
});

describe('what the caller may not call', () => {
  it.each(HIDDEN)(
    '%s is neither found, nor described, nor called, in any toolset, by any door',
    async (name) => {
      for (const door of doors) {
        const found = await through(door, 'search_tools', {
          query: `${name} invoice pay audit switch`,
          limit: 50,
        });
        expect(namesIn(found.data)).not.toContain(name);
        const told = await through(door, 'describe_tools', { names: [name] });
        expect((told.data as Found).tools).toEqual([{ name, error: 'There is no tool of this name here.' }]);
        const called = await through(door, 'call_tool', { name, arguments: {} });
        expect([door.name, called.ok]).toEqual([door.name, false]);
      }
      for (const query of ['', '&toolset=all', '&toolset=plain'])
        expect(await search(query)).not.toContain(name);
    },
  );

  it('is found by whoever may call it', async () => {
    expect(await search('&toolset=all', gateway.key('payer'))).toContain('invoice.pay');
    const [rest] = doors;
    const found =
      rest &&
      (await through(rest, 'search_tools', { query: 'pay an invoice' }, { key: gateway.key('payer').key }));
    expect(namesIn(found?.data)[0]).toBe('invoice.pay');
  });

  it('is found by administrators no more than by others, though lists show it', async () => {
    expect(await search('', targetOf(gateway))).not.toContain('invoice.audit');
    expect(await search('', targetOf(gateway))).not.toContain('invoice.off');
  });

  it('is what does not serve the mode of the call, too', async () => {
    for (const door of doors) {
      const found = await through(
        door,
        'search_tools',
        { query: 'write an invoice', limit: 50 },
        { mode: 'voice' },
      );
      expect([door.name, namesIn(found.data)]).toEqual([
        door.name,
        expect.not.arrayContaining(['invoice.written']),
      ]);
    }
    expect(await search('&mode=voice')).not.toContain('invoice.written');
  });

  it('is all of a toolset of somebody else', async () => {
    for (const door of doors) {
      for (const called of ['search_tools', 'describe_tools', 'call_tool']) {
        const told = await through(
          door,
          called,
          { query: 'x', names: ['x'], name: 'x' },
          { toolset: 'theirs' },
        );
        expect([door.name, told.reason]).toEqual([door.name, 'TOOLSET_NOT_FOUND']);
      }
    }
    expect((await request(agent(), 'GET', '/v1/tools/search?q=x&toolset=theirs')).status).toBe(404);
  });
});

describe('GET /v1/tools/search', () => {
  it('gives as many as were asked for, also where better ones are not shown', async () => {
    const { body } = await request<Found>(
      agent(),
      'GET',
      '/v1/tools/search?q=pay+audit+switch+invoice&limit=3',
    );
    expect(body.tools).toHaveLength(3);
  });

  it.each(['', 'q=', 'q=x&limit=0', 'q=x&limit=51', 'q=x&limit=ten', 'q=x&more=1', `q=${'x'.repeat(1_001)}`])(
    'refuses %s',
    async (query) => expect((await request(agent(), 'GET', `/v1/tools/search?${query}`)).status).toBe(400),
  );

  it('finds nothing for words that say nothing, and is not held up by text of any kind', async () => {
    for (const q of ['the of and', '***', '__proto__ constructor', '🦜'.repeat(50), 'a '.repeat(400)]) {
      const { status } = await request(agent(), 'GET', `/v1/tools/search?q=${encodeURIComponent(q)}`);
      expect(status).toBe(200);
    }
  });

  it('has a twin in gRPC', async () => {
    const definition = loadSync('unified_tool_executor/v1/tool_executor_service.proto', {
      includeDirs: [join(import.meta.dirname, '../../proto')],
    });
    const loaded = loadPackageDefinition(definition) as unknown as {
      unified_tool_executor: {
        v1: { ToolExecutorService: new (address: string, credentials: object) => SearchClient };
      };
    };
    const client = new loaded.unified_tool_executor.v1.ToolExecutorService(
      gateway.service.grpcAddress,
      credentials.createInsecure(),
    );
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${agent().key}`);
    const reply = await new Promise<Found>((done, fail) =>
      client.SearchTools({ query: 'create an invoice', limit: 2, toolset: 'all' }, metadata, (error, found) =>
        error === null ? done(found) : fail(error),
      ),
    );
    client.close();
    expect(namesIn(reply)[0]).toBe('bill');
    expect(reply.tools).toHaveLength(2);
  });
});

interface SearchClient {
  SearchTools(request: object, metadata: Metadata, done: (error: Error | null, reply: Found) => void): void;
  close(): void;
}
