// The openapi loader over real documents: GitHub's whole API, 3.1 in YAML, filters, changes of the file, a document by URL.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import type { LoadedTools } from '../../src/contract/tool/loaded-tools.ts';
import { optionsSchema } from '../../src/loaders/openapi/options.ts';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { documentOf, OpenApiBench, toolNamed, toolNames } from '../helpers/openapi-kit.ts';

const GITHUB = resolve(
  import.meta.dirname,
  '../../node_modules/@octokit/openapi/generated/api.github.com.json',
);

let bench: OpenApiBench;
let servers: LoopbackServers;

beforeEach(() => {
  bench = new OpenApiBench();
  servers = new LoopbackServers();
});

afterEach(async () => {
  await servers.close();
  await bench.close();
});

const never = new AbortController().signal;

describe('GitHub’s document', () => {
  let operations: number;

  beforeAll(() => {
    const { paths } = JSON.parse(readFileSync(GITHUB, 'utf8')) as { paths: Record<string, object> };
    const methods = ['get', 'put', 'post', 'delete', 'patch', 'head'];
    operations = Object.values(paths).flatMap((item) =>
      Object.keys(item).filter((key) => methods.includes(key)),
    ).length;
  });

  it('is imported whole: every operation passes the registry and is built by the http executor', async () => {
    const before = process.cpuUsage();
    const loaded = await bench.loader({ document: GITHUB, prefix: 'github_' }).load(never);
    const { tools } = bench.checked(loaded);
    const { user, system } = process.cpuUsage(before);
    expect(loaded.problems).toEqual([]);
    expect(bench.leftOut().size).toBe(0);
    expect(operations).toBeGreaterThan(1_000);
    expect(tools).toHaveLength(operations);
    // Work of this process, about three seconds of it: what runs beside it does not count.
    expect((user + system) / 1e6).toBeLessThan(20);
    expect((await bench.prepared(loaded)).size).toBe(operations);
    const place = loaded.tools[0]?.locate([]);
    const line = readFileSync(GITHUB, 'utf8').split('\n')[(place?.line ?? 0) - 1];
    expect(line).toContain('"get"');
  });

  it('makes calls that are right on the wire', async () => {
    const seen: { request: string; headers: Record<string, unknown>; body: string }[] = [];
    const origin = await servers.http(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      seen.push({ request: `${request.method} ${request.url}`, headers: request.headers, body });
      response.writeHead(201, { 'content-type': 'application/json' }).end('{"number":7}');
    });
    const names = ['issues/create', 'issues/list-for-repo', 'orgs/list-pat-grants', 'repos/update'];
    const loaded = await bench.loader({ document: GITHUB, connection: 'api', operations: names }).load(never);
    const connection = {
      type: 'http',
      base_url: `${origin}/api/v3`,
      allow_private: ['127.0.0.0/8'],
      allow_ports: ['1-65535'],
      auth: { type: 'bearer', token: 't0ken' },
    };
    const issue = { owner: 'ada', repo: 'engine', title: 'A & B', labels: ['bug'], milestone: null };
    expect(await bench.call(loaded, 'issues_create', issue, connection)).toEqual({ number: 7 });
    await bench.call(
      loaded,
      'issues_list-for-repo',
      { owner: 'a b', repo: 'r', labels: 'x,y', page: 2 },
      connection,
    );
    await bench.call(loaded, 'orgs_list-pat-grants', { org: 'o', owner: ['a', 'b&c'] }, connection);
    await bench.call(loaded, 'repos_update', { owner: 'o', repo: 'r', description: 'new' }, connection);
    expect(seen).toMatchObject([
      {
        request: 'POST /api/v3/repos/ada/engine/issues',
        headers: { authorization: 'Bearer t0ken', 'content-type': 'application/json' },
        body: '{"title":"A & B","milestone":null,"labels":["bug"]}',
      },
      { request: 'GET /api/v3/repos/a%20b/r/issues?labels=x%2Cy&page=2', body: '' },
      { request: 'GET /api/v3/orgs/o/personal-access-tokens?owner=a&owner=b%26c', body: '' },
      // Not one of the defaults that the document names: "private: false" would publish the repository.
      { request: 'PATCH /api/v3/repos/o/r', body: '{"description":"new"}' },
    ]);
  });
});

const PETS = `
openapi: 3.1.0
info: { title: Pets, version: 1.0.0 }
servers:
  - url: /{stage}/api
    variables: { stage: { default: live } }
paths:
  /pets:
    get:
      operationId: listPets
      tags: [pets]
      parameters:
        - { name: 'ids[]', in: query, style: form, explode: false, schema: { type: array, items: { type: integer } } }
    post:
      tags: [pets, write]
      deprecated: true
      requestBody:
        required: true
        content:
          application/vnd.pets+json:
            schema:
              type: object
              required: [name, id]
              properties:
                id: { type: integer, readOnly: true }
                name: { type: [string, 'null'], examples: [Rex] }
                age: { $ref: '#/components/schemas/Age', description: In years }
  /pets/{pet-id}:
    delete: { operationId: removePet, summary: Removes a pet. }
components:
  schemas:
    Age: { type: integer, exclusiveMinimum: 0 }
`;

describe('a document of 3.1 in YAML', () => {
  it('becomes tools with everything it says', async () => {
    const origin = await servers.http((_, response) => response.end(PETS));
    const document = {
      url: `${origin}/docs/openapi.yaml`,
      allow_private: ['127.0.0.0/8'],
      allow_ports: ['1-65535'],
    };
    const loaded = await bench
      .loader({ document, allow_ports: ['1-65535'], permissions: ['pets:use'] }, bench.http)
      .load(never);
    bench.checked(loaded);
    expect(toolNames(loaded)).toEqual(['listPets', 'post_pets', 'removePet']);
    expect(toolNamed(loaded, 'listPets')).toMatchObject({
      input_schema: { properties: { ids_: { type: 'array', items: { type: 'integer' } } } },
      implementation_config: {
        url: `${origin}/live/api/pets`,
        query: { 'ids[]': { from: 'ids_', style: 'form', explode: false } },
      },
      metadata: { read_only: true, idempotent: true, category: 'retrieval', permissions: ['pets:use'] },
    });
    expect(toolNamed(loaded, 'post_pets')).toMatchObject({
      description: 'POST /pets (deprecated)',
      input_schema: {
        properties: {
          name: { type: ['string', 'null'] },
          age: { exclusiveMinimum: 0, description: 'In years' },
        },
        required: ['name'],
      },
      implementation_config: {
        body: { name: '{name}', age: '{age}' },
        headers: { 'Content-Type': 'application/vnd.pets+json' },
      },
      metadata: { read_only: false, idempotent: false, tags: ['pets', 'write'] },
    });
    expect(toolNamed(loaded, 'post_pets')['input_schema']).not.toHaveProperty('properties.id');
    expect(toolNamed(loaded, 'removePet')).toMatchObject({
      input_schema: { properties: { pet_id: { type: 'string' } }, required: ['pet_id'] },
      implementation_config: { url: `${origin}/live/api/pets/{pet_id}`, method: 'DELETE' },
      metadata: { read_only: false, idempotent: true, risk_level: 'high' },
    });
    expect(toolNamed(loaded, 'listPets')['metadata']).not.toHaveProperty('risk_level');
  });

  it('takes what the operator says of its tools by name, id, or method and path', async () => {
    const loaded = await bench.load(PETS, {
      base_url: 'https://pets.example.com',
      prefix: 'zoo_',
      overrides: {
        'DELETE *': { risk_level: 'critical', requires_approval: true },
        'zoo_post_*': { read_only: true, timeout_ms: 100, description: 'Looks pets up.' },
        listPets: { off: true },
      },
    });
    bench.checked(loaded);
    expect(toolNames(loaded)).toEqual(['zoo_post_pets', 'zoo_removePet']);
    expect(toolNamed(loaded, 'zoo_removePet')).toMatchObject({
      metadata: { risk_level: 'critical', requires_approval: true },
    });
    expect(toolNamed(loaded, 'zoo_post_pets')).toMatchObject({
      description: 'Looks pets up.',
      timeout_ms: 100,
      metadata: { read_only: true, idempotent: true, category: 'retrieval' },
    });
  });

  it('is refused where an entry of overrides fits no operation', async () => {
    const overrides = { 'DELETE /pet/*': { off: true } };
    const { problems, tools } = await bench.load(PETS, { base_url: 'https://pets.example.com', overrides });
    expect(tools).toEqual([]);
    expect(problems[0]?.message).toContain('the option overrides names "DELETE /pet/*"');
  });

  it.each<[string, JsonObject, string[]]>([
    ['a tag', { tags: ['write'] }, ['post_pets']],
    [
      'an operation by id, and one by method and path',
      { operations: ['removePet', 'GET /pets'] },
      ['listPets', 'removePet'],
    ],
    ['a method', { methods: ['DELETE'] }, ['removePet']],
    ['a path', { path_prefix: '/pets/' }, ['removePet']],
    ['two filters, both of which must hold', { tags: ['pets'], methods: ['GET'] }, ['listPets']],
  ])('is cut down to %s', async (_, options, expected) => {
    const loaded = await bench.load(PETS, { base_url: 'https://pets.example.com', ...options });
    expect(toolNames(loaded)).toEqual(expected);
  });

  it('is refused for a filter that names nothing, with what was most likely meant', async () => {
    const { problems, tools } = await bench.load(PETS, { operations: ['listPet'], connection: 'pets' });
    expect(tools).toEqual([]);
    expect(problems[0]?.message).toContain('did you mean "listPets"?');
  });

  it('without an absolute server needs to be told where the API is', async () => {
    const { problems } = await bench.load(PETS);
    expect(problems[0]?.message).toContain('say base_url or connection');
    expect(problems[0]?.line).toBe(9);
  });
});

it.each([
  ['swagger 2.0', '{"swagger":"2.0","paths":{}}', /expected openapi 3\.0 or 3\.1, found swagger "2\.0"/],
  ['no document', 'hello', /no OpenAPI document/],
  ['broken JSON', '{"openapi": "3.0.0",', /is not JSON/],
  ['broken YAML', 'openapi: [3', /is not YAML/],
  ['no paths', '{"openapi":"3.1.0"}', /map of paths/],
  ['no operation', '{"openapi":"3.1.0","paths":{}}', /has no operation/],
  ['bytes that are no text', '\ud800', /OpenAPI|UTF-8/],
])('%s is a problem that says what was expected', async (_, text, expected) => {
  expect((await bench.load(text)).problems[0]?.message).toMatch(expected);
});

it('a file that is not there is a problem with its path', async () => {
  const { problems } = await bench.loader({ document: 'none.json' }).load(never);
  expect(problems).toEqual([{ file: join(bench.dir, 'none.json'), message: 'does not exist' }]);
});

it('with a connection, base_url and allow_private are refused in the options', () => {
  const parsed = optionsSchema.safeParse({
    document: 'x',
    connection: 'a',
    base_url: 'https://x.example',
    allow_private: [],
  });
  expect(parsed.error?.issues.map(({ path }) => path[0])).toEqual(['base_url', 'allow_private']);
});

it('a parameter that the connection sets can be left out of every tool', async () => {
  const parameters = [{ name: 'api_key', in: 'query', required: true, schema: { type: 'string' } }];
  const loaded = await bench.load(documentOf({ '/x': { get: { operationId: 'x', parameters } } }), {
    omit_parameters: ['api_key'],
  });
  expect(toolNamed(loaded, 'x')['input_schema']).toMatchObject({ properties: {} });
});

it('the same document is not converted again, and a changed file says so once', async () => {
  const file = join(bench.dir, 'api.json');
  const stop = new AbortController();
  const get = (operationId: string) => JSON.stringify(documentOf({ '/x': { get: { operationId } } }));
  writeFileSync(file, get('one'));
  const loader = bench.loader({ document: 'api.json' });
  const first: LoadedTools = await loader.load(never);
  expect(await loader.load(never)).toBe(first);
  let changes = 0;
  const watching = loader.watch?.(() => (changes += 1), stop.signal);
  writeFileSync(file, get('two'));
  await expect.poll(() => changes).toBe(1);
  expect(toolNames(await loader.load(never))).toEqual(['two']);
  stop.abort();
  await watching;
});
