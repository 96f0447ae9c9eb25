// pack: the tools of a folder, as the operator adapts them; what fits nothing is a mistake.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { quietLog } from '../../../test/helpers/quiet-log.ts';
import { packLoader } from './index.ts';
import { optionsSchema } from './options.ts';

const MANIFEST = 'name: orders\nsummary: Orders of the shop.\nfirst_call: { tool: find, arguments: {} }\n';
const TOOLS = `connections:
  shop: { type: http, base_url: 'https://shop.example.com', auth: { type: bearer, token: '\${env:PACK_SPEC_TOKEN}' } }
tools:
  - name: find
    tool_type: http
    implementation_config: { connection: shop, method: GET, path: /orders }
    metadata: { category: retrieval, tags: [shop] }
  - name: cancel
    tool_type: http
    implementation_config: { connection: shop, method: DELETE, path: /orders }
`;

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ute-pack-'));
  writeFileSync(join(dir, 'pack.yaml'), MANIFEST);
  writeFileSync(join(dir, 'tools.yaml'), TOOLS);
  process.env['PACK_SPEC_TOKEN'] = 's3cret-0f-the-shop';
});
afterEach(() => {
  delete process.env['PACK_SPEC_TOKEN'];
  rmSync(dir, { recursive: true });
});

function load(options: Record<string, unknown> = {}) {
  const entryProblem = (path: readonly string[], message: string) => ({
    file: 'gateway.yaml',
    path: path.join('.'),
    message,
  });
  const needs = { clock: new FakeClock(), log: quietLog, configDir: dir, entryProblem };
  const parsed = optionsSchema.parse({ name: 'orders', path: '.', ...options });
  return packLoader.create(needs)(parsed).load(new AbortController().signal);
}

describe('the pack loader', () => {
  it('brings tools and connections of the folder, as they are written', async () => {
    const { tools, connections, problems } = await load();
    expect(problems).toEqual([]);
    expect(tools.map(({ value }) => value)).toMatchObject([{ name: 'find' }, { name: 'cancel' }]);
    expect(tools[1]?.locate(['name'])).toMatchObject({ file: join(dir, 'tools.yaml'), line: 8 });
    expect(connections).toMatchObject([
      { name: 'shop', resolved: { auth: { token: 's3cret-0f-the-shop' } } },
    ]);
    expect(JSON.stringify(connections[0]?.value)).not.toContain('s3cret');
  });

  it('a connection of the operator takes the place of the pack’s, whose secrets need not be there', async () => {
    delete process.env['PACK_SPEC_TOKEN'];
    expect((await load()).problems).toMatchObject([{ path: 'connections.shop.auth.token' }]);
    const { tools, connections, problems } = await load({ connections: { shop: 'ours' } });
    expect(problems).toEqual([]);
    expect(connections).toEqual([]);
    expect(tools[0]?.value).toMatchObject({ implementation_config: { connection: 'ours', path: '/orders' } });
  });

  it('overrides lie over what the pack says, and leave the rest', async () => {
    const { tools } = await load({
      overrides: { cancel: { off: true }, find: { requires_approval: true, timeout_ms: 50 } },
    });
    expect(tools.map(({ value }) => value)).toMatchObject([
      {
        name: 'find',
        timeout_ms: 50,
        metadata: { category: 'retrieval', tags: ['shop'], requires_approval: true },
      },
    ]);
  });

  it('an adapted tool has another hash, and only that one', async () => {
    const hashes = async (overrides: object) =>
      (await load({ overrides })).tools.map(({ contentHash }) => contentHash);
    const [before, after] = [await hashes({}), await hashes({ find: { timeout_ms: 1 } })];
    expect(after[0]).not.toBe(before[0]);
    expect(after[1]).toBe(before[1]);
  });

  it('what fits nothing is told', async () => {
    const { problems } = await load({ connections: { shoop: 'ours' }, overrides: { fnd: { off: true } } });
    expect(problems).toMatchObject([
      {
        file: 'gateway.yaml',
        path: 'connections.shoop',
        message: 'the pack has no connection of that name; it has shop',
      },
      { file: 'gateway.yaml', path: 'overrides.fnd', message: 'fits no tool of the pack' },
    ]);
  });

  it.each([
    [
      'name: other\nsummary: Orders of the shop.\nfirst_call: { tool: find, arguments: {} }\n',
      'not "orders"',
    ],
    ['name: orders\n', 'expected string'],
    ['[', ''],
  ])('a pack.yaml that is not right is refused with its place: %j', async (text, message) => {
    writeFileSync(join(dir, 'pack.yaml'), text);
    const { tools, problems } = await load();
    expect(tools).toEqual([]);
    expect(problems[0]).toMatchObject({ file: join(dir, 'pack.yaml') });
    expect(problems[0]?.message).toContain(message);
  });

  it('a pack that does not come with the gateway is told with those that do', async () => {
    const { problems } = await load({ name: 'sistem', path: undefined });
    expect(problems).toMatchObject([{ message: 'there is no pack "sistem"; did you mean "system"?' }]);
  });
});
