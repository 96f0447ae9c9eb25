// The tool-docs executor: the documentation of what its caller is shown, and nothing of the rest.
import { expect, it } from 'vitest';
import { callOf, functionOf } from '../../../test/helpers/call-kit.ts';
import type { KnownTool } from '../../contract/tool/tool-function.ts';
import type { ToolSet } from '../../contract/tool/tool-set.ts';
import { toolDocsExecutor } from './index.ts';

const principal = { id: 'k', tenantId: 'acme', agents: ['*'], roles: [], permissions: new Set<string>() };

function known(name: string, metadata: object, isShown = true): KnownTool {
  const fn = functionOf({ name, metadata });
  return { function: { ...fn, name, description: `Does ${name}.` }, isShownTo: () => isShown };
}

const TOOLS = new Map([
  ['find', known('find', { summary: 'Short.', documentation: '# find' })],
  ['plain', known('plain', {})],
  ['hidden', known('hidden', { documentation: 'secret' }, false)],
]);
const snapshot = {
  find: (name: string) => TOOLS.get(name),
  functions: [...TOOLS.values()].map((tool) => tool.function),
} as unknown as ToolSet;

const prepared = async () => {
  const options = toolDocsExecutor.optionsSchema.parse({});
  const inputSchema = { type: 'object', properties: { tool: { type: 'string' } } };
  return toolDocsExecutor.create({}).prepare({ function: functionOf({ inputSchema }), options });
};
const docs = async (tool: unknown, who: object = { principal }) =>
  (await prepared()).execute(callOf({ arguments: { tool } as never, snapshot, ...who }), () => {});

it('tells the whole documentation, and what there is where there is none', async () => {
  expect(await docs('find')).toEqual({
    data: { name: 'find', description: 'Does find.', summary: 'Short.', documentation: '# find' },
  });
  expect(await docs('plain')).toMatchObject({ data: { summary: 'Does plain.', documentation: null } });
});

it.each(['hidden', 'nothing', '__proto__', '', 7])('%j is no tool, to whom it is not shown', async (name) => {
  await expect(docs(name)).rejects.toMatchObject({ type: 'NOT_FOUND', origin: 'tool' });
});

it('names what was probably meant, of what is shown alone', async () => {
  await expect(docs('fnd')).rejects.toThrow('Did you mean "find"?');
  await expect(docs('hiden')).rejects.toThrow(/^There is no tool of this name\.$/);
  await expect(docs('find', { principal: undefined })).rejects.toMatchObject({ type: 'NOT_FOUND' });
});

it('is refused without an argument that names the tool', async () => {
  const options = toolDocsExecutor.optionsSchema.parse({ argument: 'name' });
  const target = { function: functionOf({ inputSchema: { type: 'object' } }), options };
  await expect((async () => toolDocsExecutor.create({}).prepare(target))()).rejects.toThrow(
    'no property "name"',
  );
});
