// What holds for every pack that comes with the gateway: it loads, is documented, and its first call answers.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { JsonObject } from '../../src/contract/json.ts';
import { ownPacks } from '../../src/lib/packs/own-packs.ts';
import { readManifest, type PackManifest } from '../../src/lib/packs/pack-manifest.ts';
import { callTool, sendTo } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const PACKS = resolve(import.meta.dirname, '../../packs');
const folder = (name: string, file: string) => join(PACKS, name, file);

interface Declared {
  readonly name: string;
  readonly description: string;
  readonly input_schema?: JsonObject;
  readonly metadata?: { readonly internal?: boolean };
}

function toolsOf(name: string): readonly Declared[] {
  const { tools } = parse(readFileSync(folder(name, 'tools.yaml'), 'utf8'), { merge: true }) as {
    tools: Declared[];
  };
  return tools;
}

async function manifestOf(name: string): Promise<PackManifest> {
  const read = await readManifest(folder(name, 'pack.yaml'));
  if ('faults' in read) throw new Error(JSON.stringify(read.faults));
  return read.manifest;
}

let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway({
    tools: [],
    settings: {
      loaders: ownPacks().map((name) => ({ type: 'pack', name })),
      // A test reaches nothing beyond this machine.
      executors: { 'web-page': { allow_hosts: ['nowhere.invalid'] } },
    },
    more: { demo: { tenant: 'default', roles: ['admin'] } },
  });
});
afterAll(() => gateway?.stop());

describe.each(ownPacks())('the pack %s', (name) => {
  it('says its own name, and has a README that its tools stand in', async () => {
    expect((await manifestOf(name)).name).toBe(name);
    expect(existsSync(folder(name, 'README.md'))).toBe(true);
    const readme = readFileSync(folder(name, 'README.md'), 'utf8');
    for (const tool of toolsOf(name)) expect(readme).toContain(`\`${tool.name}\``);
  });

  it('bounds every text that a caller gives', () => {
    for (const tool of toolsOf(name))
      for (const [path, schema] of textsOf(tool.input_schema ?? {}))
        expect(isBounded(schema), `${tool.name}: ${path}`).toBe(true);
  });

  it('is in force with every tool of it, as it comes', async () => {
    const { body, status } = await sendTo<{ tools: { name: string }[] }>(
      gateway.key('demo'),
      'GET',
      '/v1/tools',
    );
    expect({ status, body }).toMatchObject({ status: 200 });
    expect(body.tools.map((tool) => tool.name)).toEqual(
      expect.arrayContaining(
        toolsOf(name).flatMap((tool) => (tool.metadata?.internal === true ? [] : [tool.name])),
      ),
    );
  });

  it('answers its first call, or says that something has to be set up before', async () => {
    const { before, network, first_call: first } = await manifestOf(name);
    const { body } = await callTool(gateway.key('demo'), first.tool, first.arguments);
    const notYet = { ok: false, error: { reason: 'TOOL_NOT_CONFIGURED' } };
    const notReached = { ok: false, error: { reason: 'EGRESS_DENIED' } };
    const answered = network === true ? notReached : { ok: true };
    expect(body).toMatchObject(before === undefined ? answered : notYet);
  });
});

/** Schemas of texts, with their paths. */
function textsOf(schema: JsonObject, path = ''): readonly (readonly [string, JsonObject])[] {
  const inner = Object.entries(schema).flatMap(([key, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? textsOf(value, `${path}/${key}`)
      : [],
  );
  return schema['type'] === 'string' ? [[path, schema], ...inner] : inner;
}

/** A format that has a length of its own bounds a text as well as a limit does. */
function isBounded(schema: JsonObject): boolean {
  return (
    schema['maxLength'] !== undefined ||
    schema['enum'] !== undefined ||
    schema['pattern'] !== undefined ||
    ['date', 'date-time', 'uuid'].some((format) => format === schema['format'])
  );
}
