// Definitions of foreign tools: approved by hash alone, shown with hidden characters written out, and loaded when approved.
import { describe, expect, it } from 'vitest';
import { ask, only } from '../../../../test/helpers/management-kit.ts';
import type {
  ApprovalOutcome,
  TrustedDefinitions,
  DefinitionRecord,
} from '../../../ports/registry/trusted-definitions.ts';
import type { Problem } from '../../../contract/tool/loaded-tools.ts';
import type { RegistryControl, ReloadStatus } from '../../../ports/registry/registry-control.ts';
import { DefinitionsController } from './controller.ts';
import { approveToolDefinition, listToolDefinitions } from './schema.ts';

const HASH = 'a'.repeat(64);
const NEW: DefinitionRecord = {
  server: 'files',
  tool: 'files.read',
  remoteName: 'read',
  state: 'new',
  seen: { hash: HASH, definition: { description: 'reads\u202e all' } },
};
const PINNED: DefinitionRecord = {
  ...NEW,
  tool: 'files.write',
  state: 'pinned',
  pinned: { hash: HASH, definition: {}, at: 0, by: '' },
};
const approve = (controller: DefinitionsController, body: unknown) =>
  ask(controller, approveToolDefinition, { params: { name: 'files.read' }, body });

function controllerOf(
  trusted: Partial<TrustedDefinitions>,
  reloads: string[] = [],
  leftOut: readonly Problem[] = [],
) {
  const registry = {
    reload: () => Promise.resolve({ ok: reloads.push('reload') > 0, leftOut } as unknown as ReloadStatus),
  } as RegistryControl;
  return new DefinitionsController(only(trusted), registry);
}

describe('the list of definitions', () => {
  const controller = controllerOf({ list: () => Promise.resolve([NEW, PINNED]) });

  it('shows what waits for a decision whole, its hidden characters written out, and the rest without its text', async () => {
    const { body } = await ask(controller, listToolDefinitions);
    expect(body).toMatchObject({
      definitions: [
        { tool: 'files.read', definition: { description: 'reads\\u{202e} all' }, pinned_by: null },
        { tool: 'files.write', definition: null, pinned_by: 'first use', seen_hash: HASH },
      ],
    });
  });

  it('is of one state where one is named, and of a known one only', async () => {
    const { body } = await ask(controller, listToolDefinitions, { query: { state: 'pinned' } });
    expect(body).toMatchObject({ definitions: [{ state: 'pinned' }] });
    const lost = ask(controller, listToolDefinitions, { query: { state: 'pined' } });
    await expect(lost).rejects.toThrow(
      '/state must be one of pinned, changed, new, gone; did you mean "pinned"?',
    );
  });
});

describe('an approval of a definition', () => {
  const answering = (outcome: ApprovalOutcome) => ({ approve: () => Promise.resolve(outcome) });

  it.each([[{}], [[]], [{ hash: 1 }], [{ hash: 'A'.repeat(64) }], [{ hash: `${HASH}0` }]])(
    '%j names no hash and agrees to nothing',
    async (body) => {
      await expect(approve(controllerOf({}), body)).rejects.toThrow('hash');
    },
  );

  it('is given in the name of the credential, and loads the tool', async () => {
    const asked: unknown[] = [];
    const reloads: string[] = [];
    const trusted = {
      approve: (...question: unknown[]) => {
        asked.push(question);
        return Promise.resolve({ approved: true as const, record: PINNED });
      },
    };
    const answer = await approve(controllerOf(trusted, reloads), { hash: HASH });
    expect(asked).toEqual([['files.read', HASH, 'op']]);
    expect(answer.body).toMatchObject({ state: 'pinned', reloaded: true });
    expect(reloads).toHaveLength(1);
  });

  it('of a tool that is left out says that it is not in force', async () => {
    const trusted = { approve: () => Promise.resolve({ approved: true as const, record: PINNED }) };
    const leftOut = [{ file: 'schema.json', tool: 'files.read', message: 'expected "object"' }];
    const { body } = await approve(controllerOf(trusted, [], leftOut), { hash: HASH });
    expect(body).toMatchObject({ reloaded: false });
  });

  it.each([
    ['unknown', 'NOT_FOUND', 'DEFINITION_NOT_FOUND'],
    ['other', 'CONFLICT', 'DEFINITION_CHANGED'],
    ['refused', 'CONFLICT', 'DEFINITION_REFUSED'],
  ] as const)('that is not taken (%s) is %s, and loads nothing', async (why, type, reason) => {
    const reloads: string[] = [];
    const controller = controllerOf(answering({ approved: false, why }), reloads);
    await expect(approve(controller, { hash: HASH })).rejects.toMatchObject({
      type,
      reason,
    });
    expect(reloads).toEqual([]);
  });
});
