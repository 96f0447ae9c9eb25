// The schema for editors takes and refuses what the gateway does.
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toolsFileSchema } from './config-schema.ts';
import type { SpecRules } from './spec-validation.ts';

interface Tree {
  readonly children?: readonly Tree[];
}
const tree: z.ZodType<Tree> = z.strictObject({ children: z.array(z.lazy(() => tree)).optional() });

const executor = (name: string, optionsSchema: z.ZodType, connectionTypes?: Record<string, z.ZodType>) => ({
  name,
  summary: '',
  optionsSchema,
  connectionTypes,
  create: () => ({ prepare: () => ({ execute: () => Promise.resolve({ data: null }) }) }),
});

const rules: SpecRules = {
  executors: new Map([
    [
      'http',
      executor(
        'http',
        z.strictObject({ path: z.string().describe('Where to.'), body: z.json().optional() }),
        { http: z.strictObject({ type: z.literal('http'), url: z.url() }) },
      ),
    ],
    ['shell', executor('shell', z.strictObject({ tree }))],
  ]),
  extensions: new Map([['cache', { name: 'cache', optionsSchema: z.strictObject({ ttl_ms: z.int() }) }]]),
};

describe('the schema for editors', () => {
  const schema = toolsFileSchema(rules);
  const ajv = new Ajv({ allErrors: true, strict: false });
  addFormats.default(ajv);
  const validate = ajv.compile(schema);
  const base = { name: 'a', description: 'A' };
  const accepts = (tool: object) => validate({ tools: [{ ...base, ...tool }] });

  it.each([
    { tool_type: 'http', implementation_config: { path: '/x', body: { a: [1] } } },
    { tool_type: 'shell', implementation_config: { tree: { children: [{ children: [] }] } } },
    { tool_type: 'sandbox', implementation_config: { tree: {} } },
    { tool_type: 'http', extensions: { cache: { ttl_ms: 5 } }, implementation_config: { path: '/x' } },
  ])('takes %j', (tool) => {
    expect(accepts(tool)).toBe(true);
  });

  it.each([
    { tool_type: 'http', implementation_config: { tree: {} } },
    { tool_type: 'shell', implementation_config: { tree: { children: [{ kids: [] }] } } },
    { tool_type: 'python' },
    { tool_type: 'http', implementation_config: { path: '/x' }, extensions: { cache: { ttl: 5 } } },
    { tool_type: 'http', implementation_config: { path: '/x' }, metadata: { risk: 'low' } },
  ])('refuses %j', (tool) => {
    expect(accepts(tool)).toBe(false);
  });

  it('takes a reference where the text of a connection will stand', () => {
    expect(validate({ connections: { a: { type: 'http', url: '${env:URL}' } } })).toBe(true);
    expect(validate({ connections: { a: { type: 'http', uri: 'x' } } })).toBe(false);
  });

  it('describes every field of a tool', () => {
    const { items } = (schema['properties'] as unknown as { tools: { items: { properties: object } } }).tools;
    for (const [field, about] of Object.entries(items.properties))
      expect([field, about]).toEqual([
        field,
        expect.objectContaining({ description: expect.stringMatching(/\S/) }),
      ]);
    expect(JSON.stringify(schema)).toContain('Where to.');
  });
});
