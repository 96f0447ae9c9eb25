// The registry: its version is that of its content, and content that was changed is not taken.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { readRegistry, registryOf, registryText, type RegistryTool } from './registry-document.ts';

const toolOf = (toolId: string, more: Partial<RegistryTool> = {}): RegistryTool => ({
  toolId,
  category: 'utility',
  jsonSchema: { type: 'object' },
  providerSchemas: {},
  summary: 'Does it.',
  documentation: '# x',
  handlerPath: `${toolId}/handler.js`,
  files: { 'handler.js': 'a'.repeat(64) },
  declaration: { name: toolId },
  ...more,
});
const at = (buildTimestamp: string, gitCommit: string | null = null) => ({ buildTimestamp, gitCommit });

it('the same content has the same version, whenever and from whichever commit it is built, in any order', () => {
  const one = registryOf([toolOf('a'), toolOf('b')], at('2026-01-01T00:00:00Z'));
  const again = registryOf([toolOf('b'), toolOf('a')], at('2026-02-02T00:00:00Z', 'f'.repeat(40)));
  expect(again.version).toBe(one.version);
  expect(one.version).toMatch(/^1\.0\.[0-9a-f]{8}$/);
  expect(registryOf([toolOf('a', { summary: 'Does it well.' })], at('')).version).not.toBe(one.version);
});

it('what was written is read again, whoever has formatted it meanwhile', () => {
  const registry = registryOf([toolOf('a')], at('2026-01-01T00:00:00Z'));
  expect(readRegistry(registryText(registry))).toEqual({ registry });
  expect(readRegistry(JSON.stringify(registry))).toEqual({ registry });
});

it('any change of the content is refused, and so is another version', () => {
  const registry = registryOf([toolOf('a'), toolOf('b')], at('2026-01-01T00:00:00Z'));
  const text = JSON.stringify(registry);
  const tools = text.slice(text.indexOf('"tools"'));
  const letters = [...tools.matchAll(/[a-z]/g)].map(({ index }) => text.indexOf('"tools"') + index);
  fc.assert(
    fc.property(fc.constantFrom(...letters), (place) => {
      const changed = text.slice(0, place) + (text[place] === 'q' ? 'z' : 'q') + text.slice(place + 1);
      expect(readRegistry(changed)).toHaveProperty('message');
    }),
  );
  expect(readRegistry(text.replace(registry.version, '1.0.00000000'))).toMatchObject({
    message: expect.stringContaining('was changed after it was built'),
  });
});

it.each(['', '[]', '{', '{"version": "1.0.abc123de", "tools": []}'])('%j is no registry', (text) => {
  expect(readRegistry(text)).toHaveProperty('message');
});

it('a tool cannot lie outside the folder', () => {
  const registry = registryOf([toolOf('../etc')], at(''));
  expect(readRegistry(registryText(registry))).toMatchObject({ message: expect.stringContaining('toolId') });
});
