// `ute import`: whatever an mcp.json holds, no secret of it comes out.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { run } from '../../src/cli/run.ts';
import type { JsonObject } from '../../src/contract/json.ts';

async function imported(text: string, as = 'loaders') {
  const out = { stdout: '', stderr: '' };
  const code = await run(['import', '-', '--as', as], {
    stdout: (said) => (out.stdout += said),
    stderr: (said) => (out.stderr += said),
    readStdin: async () => text,
    fetch: () => Promise.reject(new Error('nobody is asked')),
    env: {},
    cwd: '/',
  });
  return { code, ...out };
}

/** By its looks. */
const token = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_]{12,24}[0-9][a-z][A-Za-z0-9_]{10,22}$/),
  fc.stringMatching(/^[0-9a-f]{32}$/),
  fc.stringMatching(/^(?:sk|ghp|glpat|xoxb)[-_][A-Za-z0-9]{12,30}$/),
  fc.uuid(),
);
/** Where the name says that it is one. */
const anything = fc
  .string({ unit: 'grapheme-ascii', minLength: 9, maxLength: 40 })
  .map((text) => text.replaceAll(/[-${}\s"'\\]/g, 'x'));
const named = fc.constantFrom('api-key', 'token', 'password', 'db-pass', 'client_secret', 'auth');
const secret = fc.oneof(token, anything);

const place = fc.oneof(
  fc.tuple(named, secret).map(([name, value]) => ({ value, args: [`--${name}=${value}`] })),
  fc.tuple(named, secret).map(([name, value]) => ({ value, args: [`--${name}`, value] })),
  fc
    .tuple(named, secret)
    .map(([name, value]) => ({ value, args: ['-e', `X_${name.toUpperCase()}=${value}`] })),
  token.map((value) => ({ value, args: ['start', value] })),
  token.map((value) => ({ value, args: [`--config={"a":["${value}"]}`] })),
  token.map((value) => ({ value, args: [`--endpoint=https://x.example/${value}/mcp`] })),
  secret.map((value) => ({ value, args: ['--header', `Authorization: Bearer ${value}`] })),
  token.map((value) => ({ value, args: ['--db', `postgres://me:${value}@db.example/app`] })),
  token.map((value) => ({ value, args: ['--db', `Server=x;Password=${value};`] })),
  fc
    .tuple(named, secret)
    .map(([name, value]) => ({ value, env: { [`MY_${name}`.replaceAll('-', '_')]: value } })),
  token.map((value) => ({ value, env: { PLAIN: value } })),
  token.map((value) => ({ value, env: { PLAIN: `mysql://me:${value}@db.example/app` } })),
  secret.map((value) => ({ value, headers: { Authorization: `Bearer ${value}` } })),
  secret.map((value) => ({ value, headers: { 'X-Team': value } })),
  token.map((value) => ({ value, headers: { 'User-Agent': value } })),
  fc.tuple(named, secret).map(([name, value]) => ({ value, query: `${name}=${encodeURIComponent(value)}` })),
  token.map((value) => ({ value, query: `plain=${value}` })),
  token.map((value) => ({ value, user: `me:${value}` })),
  token.map((value) => ({ value, path: `/s/${value}/mcp` })),
);

type Place = { value: string } & Partial<Record<'query' | 'user' | 'path', string>> & {
    args?: string[];
    env?: JsonObject;
    headers?: JsonObject;
  };

const server = fc.array(place as fc.Arbitrary<Place>, { minLength: 1, maxLength: 4 }).map((places) => {
  const isRemote = places.some(({ args, env }) => args === undefined && env === undefined);
  const of = places.filter(({ args, env }) => (args === undefined && env === undefined) === isRemote);
  const query = of.flatMap((each) => each.query ?? []).join('&');
  const user = of.find((each) => each.user !== undefined)?.user;
  const path = of.find((each) => each.path !== undefined)?.path ?? '/mcp';
  const entry: JsonObject = isRemote
    ? {
        url: `https://${user === undefined ? '' : `${user}@`}mcp.example${path}${query === '' ? '' : `?${query}`}`,
        headers: Object.assign({}, ...of.map(({ headers }) => headers)),
      }
    : {
        command: 'node',
        args: ['server.js', ...of.flatMap(({ args = [] }) => args)],
        env: Object.assign({}, ...of.map(({ env }) => env)),
      };
  return { entry, values: of.map(({ value }) => value) };
});

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

describe('ute import', () => {
  it('writes no secret of arguments, variables, headers and URLs, and says for each what to set', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(server, { minLength: 1, maxLength: 3 }), async (servers) => {
        const entries = Object.fromEntries(servers.map(({ entry }, at) => [`s${at}`, entry]));
        const { stdout, stderr, code } = await imported(JSON.stringify({ mcpServers: entries }));
        expect(code).toBe(0);
        const texts = [...textsIn(parse(stdout)), stderr];
        for (const value of servers.flatMap(({ values }) => values))
          for (const form of [value, encodeURIComponent(value)])
            expect(texts.filter((text) => text.includes(form))).toEqual([]);
        const used = new Set([...stdout.matchAll(/\$\{env:(\w+)\}/g)].map(([, name = '']) => name));
        expect(used.size).toBeGreaterThan(0);
        for (const name of used) expect(stderr).toContain(`  ${name} (`);
      }),
      { numRuns: 300 },
    );
  });

  it('of a file that is not JSON tells the place, and nothing that stands there', async () => {
    const { code, stderr } = await imported('{"mcpServers": {"a": {\n  "env": {"KEY": s3cret}}}}');
    expect(code).toBe(1);
    expect(stderr).toContain('it is not JSON from line 2, column 18 on');
    expect(stderr).not.toContain('s3cret');
  });

  it('tells each variable with the server and the place that it stands for', async () => {
    const { stderr } = await imported(
      JSON.stringify({
        mcpServers: {
          one: { command: 'a', args: ['--token=t1'], env: { API_KEY: 'k1' } },
          two: { command: 'b', env: { API_KEY: 'k2' } },
        },
      }),
      'connections',
    );
    expect(stderr).toContain(
      "set in the gateway's environment, as the file has it:\n" +
        '  ONE_API_KEY (one: env API_KEY)\n  ONE_TOKEN (one: argument --token)\n  TWO_API_KEY (two: env API_KEY)\n',
    );
  });
});
