// findTools: whoever searches finds what they may call, and nothing else, whatever the search brings up.
import { describe, expect, it } from 'vitest';
import { compiledOf, principalOf, specOf } from '../../test/helpers/call-kit.ts';
import type { CompiledTool } from '../contract/tool/compiled-tool.ts';
import { functionsOf, type ToolFunction } from '../contract/tool/tool-function.ts';
import type { SearchWanted } from '../ports/registry/tool-search.ts';
import { findTools, type SearchAsked, type Searched } from './find-tools.ts';

const names = ['open', 'hidden', 'off', 'voiceless', 'for_one_agent'];
const functions = names.flatMap((name) =>
  functionsOf(specOf({ name, metadata: { modes: name === 'voiceless' ? ['text'] : ['text', 'voice'] } })),
);
const found = (fn: ToolFunction): CompiledTool => ({
  ...compiledOf(fn),
  isShownTo: ({ principal }) => fn.name !== 'hidden' || principal.id === 'somebody',
});
const set = {
  version: '1',
  contentHash: 'c',
  specs: functions.map(({ spec }) => spec),
  functions,
  find: (name: string) => functions.filter((fn) => fn.name === name).map(found)[0],
  providerName: (name: string) => name,
};

/** Brings up everything, the best first, as far as it is let through. */
const search = {
  search: async ({ set: searched, limit, may }: SearchWanted) =>
    searched.functions.filter((fn) => may(fn)).slice(0, limit),
};

function from(changes: Partial<Searched> = {}): Searched {
  return {
    catalog: { snapshot: () => set, isDisabled: (name) => name === 'off' },
    search,
    toolsets: { find: () => undefined, onChange: () => () => undefined },
    offered: {
      isOffered: ({ agentId }, { name }) => name !== 'for_one_agent' || agentId === 'reception',
    },
    ...changes,
  };
}

async function namesFound(asked: Partial<SearchAsked> = {}, searched = from()): Promise<readonly string[]> {
  const whole: SearchAsked = {
    principal: principalOf(),
    query: 'anything',
    limit: 10,
    toolset: undefined,
    agentId: undefined,
    mode: undefined,
    ...asked,
  };
  return (await findTools(searched, whole)).functions.map(({ name }) => name);
}

describe('a search', () => {
  it('leaves out what the caller may not see, and what is switched off', async () => {
    expect(await namesFound()).toEqual(['open', 'voiceless', 'for_one_agent']);
    expect(await namesFound({ principal: principalOf({ id: 'somebody' }) })).toContain('hidden');
  });

  it('for an agent finds what it is offered', async () => {
    expect(await namesFound({ agentId: 'reception' })).toContain('for_one_agent');
    expect(await namesFound({ agentId: 'desk' })).not.toContain('for_one_agent');
  });

  it('finds what is served in the mode, where one is said', async () => {
    expect(await namesFound({ mode: 'voice' })).toEqual(['open', 'for_one_agent']);
    expect(await namesFound({ mode: 'text' })).toContain('voiceless');
  });

  it('is cut after what may not be found was left out', async () => {
    expect(await namesFound({ limit: 2 })).toEqual(['open', 'voiceless']);
  });

  it('is of no agent that the credential does not speak for, and of no toolset that is not its own', async () => {
    await expect(
      namesFound({ principal: principalOf({ agents: ['desk'] }), agentId: 'reception' }),
    ).rejects.toMatchObject({ type: 'PERMISSION_DENIED' });
    await expect(namesFound({ toolset: 'elsewhere' })).rejects.toMatchObject({ type: 'NOT_FOUND' });
  });
});
