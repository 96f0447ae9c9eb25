// Attacks with arguments that a tool does not declare: none reaches a handler, a query or a model's idea of the tool.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { grpcDoor, restDoor, type Door } from '../helpers/doors.ts';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { request, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { ECHO_HANDLER, removeDir, tempDir } from '../helpers/temp-tools.ts';

const city = { type: 'object', properties: { city: { type: 'string' } } };
const echo = { tool_type: 'javascript', implementation_config: { handler: './echo.js', trusted: true } };
const throughAllOf = {
  type: 'object',
  properties: { city: { type: 'string' } },
  allOf: [{ properties: { days: { type: 'integer' } } }],
};

let servers: LoopbackServers;
let dir: string;
let gateway: RunningGateway;
let doors: readonly Door[];
const asked: (string | undefined)[] = [];

beforeAll(async () => {
  servers = new LoopbackServers();
  const upstream = await servers.http((incoming, response) => {
    asked.push(incoming.url);
    response.setHeader('content-type', 'application/json').end('{}');
  });
  dir = tempDir();
  writeFileSync(join(dir, 'echo.js'), ECHO_HANDLER);
  const search = { path: '/search', method: 'GET', query: 'remaining' };
  const tools = [
    { name: 'plain', input_schema: city, ...echo },
    { name: 'parts', input_schema: throughAllOf, ...echo },
    {
      name: 'dropping',
      input_schema: city,
      ...echo,
      extensions: { validation: { undeclared_arguments: 'drop' } },
    },
    {
      name: 'allowing',
      input_schema: city,
      ...echo,
      extensions: { validation: { undeclared_arguments: 'allow' } },
    },
    {
      name: 'search',
      input_schema: city,
      tool_type: 'http',
      implementation_config: { connection: 'upstream', ...search },
    },
  ];
  const reach = { allow_private: ['127.0.0.0/8'], allow_ports: ['1-65535'] };
  const connections = { upstream: { type: 'http', base_url: upstream, ...reach } };
  const described = tools.map((tool) => ({ description: tool.name, ...tool }));
  writeFileSync(join(dir, 'tools.yaml'), stringify({ connections, tools: described }));
  gateway = await startGateway({ tools: [join(dir, 'tools.yaml')] });
  doors = [restDoor(gateway), grpcDoor(gateway)];
});

afterAll(async () => {
  for (const door of doors) door.close();
  await gateway.stop();
  await servers.close();
  removeDir(dir);
});

async function called(tool: string, args: unknown) {
  const key = gateway.keys.agent.text;
  return Promise.all(doors.map((door) => door.call({ tool, argumentsJson: JSON.stringify(args), key })));
}

describe('an argument that the tool does not declare', () => {
  it.each(['plain', 'parts', 'search'])('is refused by name, through each door, by %s', async (tool) => {
    for (const answer of await called(tool, { city: 'x', citty: 'y' })) {
      expect(answer).toMatchObject({ ok: false, type: 'VALIDATION', reason: 'SCHEMA_MISMATCH' });
      expect(answer.message).toContain('/citty is not an expected property');
    }
    expect(asked).toEqual([]);
  });

  it('never joins the query of "remaining"', async () => {
    for (const answer of await called('search', { city: 'x' })) expect(answer.ok).toBe(true);
    expect(asked).toEqual(['/search?city=x', '/search?city=x']);
  });

  it('is dropped, or passed on, only where the tool says so', async () => {
    for (const { data } of await called('dropping', { city: 'x', admin: true }))
      expect(data).toEqual({ city: 'x' });
    for (const { data } of await called('allowing', { city: 'x', admin: true }))
      expect(data).toEqual({ city: 'x', admin: true });
  });

  it('is none where it is the business_id of an older caller', async () => {
    for (const { data } of await called('plain', { city: 'x', business_id: 'acme' }))
      expect(data).toEqual({ city: 'x' });
    for (const answer of await called('plain', { city: 'x', business_id: 'umbrella' }))
      expect(answer.reason).toBe('TENANT_MISMATCH');
  });

  it.each([
    ['openai', (tool: Listed) => tool.function?.parameters],
    ['anthropic', (tool: Listed) => tool.input_schema],
    ['gemini', (tool: Listed) => tool.parametersJsonSchema],
    ['mcp', (tool: Listed) => tool.inputSchema],
  ])('is not offered to a model in the format of %s', async (format, schemaOf) => {
    const target = targetOf(gateway, 'agent');
    const { body } = await request<unknown>(target, 'GET', `/v1/tools?format=${format}`);
    const tools = listedIn(body);
    const schemas = ['plain', 'parts'].map((name) =>
      schemaOf(tools.find((tool) => nameOf(tool) === name) ?? {}),
    );
    expect(schemas[0]).toMatchObject({ properties: { city: {} }, additionalProperties: false });
    const closed =
      format === 'mcp'
        ? { unevaluatedProperties: false }
        : { properties: { days: {} }, additionalProperties: false };
    expect(schemas[1]).toMatchObject(closed);
  });
});

interface Listed {
  readonly name?: string;
  readonly function?: { readonly name: string; readonly parameters: unknown };
  readonly input_schema?: unknown;
  readonly inputSchema?: unknown;
  readonly parametersJsonSchema?: unknown;
}

function nameOf(tool: Listed): string | undefined {
  return tool.name ?? tool.function?.name;
}

/** Wherever a format keeps its list. */
function listedIn(body: unknown): readonly Listed[] {
  if (Array.isArray(body)) return body.flatMap(listedIn);
  if (typeof body !== 'object' || body === null) return [];
  if (nameOf(body) !== undefined) return [body];
  return Object.values(body).flatMap(listedIn);
}

describe('the setting of the whole gateway', () => {
  it('holds for every tool that says nothing of its own', async () => {
    const settings = { extensions: { validation: { undeclared_arguments: 'drop' } } };
    const dropping = await startGateway({ tools: [join(dir, 'tools.yaml')], settings });
    try {
      const door = restDoor(dropping);
      const argumentsJson = JSON.stringify({ city: 'x', admin: true });
      const key = dropping.keys.agent.text;
      expect((await door.call({ tool: 'parts', argumentsJson, key })).data).toEqual({ city: 'x' });
    } finally {
      await dropping.stop();
    }
  });
});
