// Definitions of foreign tools: approved by hash alone, shown with hidden characters written out, and loaded when approved.
import { describe, expect, it } from 'vitest';
import { namedPermissions, only, requestWith, recordedActs } from '../../../test/helpers/management-kit.ts';
import type {
  ApprovalOutcome,
  DefinitionPins,
  DefinitionRecord,
} from '../../ports/registry/definition-pins.ts';
import type { RegistryControl, ReloadStatus } from '../../ports/registry/registry-control.ts';
import { DefinitionsController } from './definitions.controller.ts';

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
const asAdmin = requestWith({ permissions: ['platform:admin'] });
const approving = (body: unknown) => requestWith({ permissions: ['platform:admin'], body });

function controllerOf(pins: Partial<DefinitionPins>, reloads: string[] = []) {
  const registry = {
    reload: () => Promise.resolve({ ok: reloads.push('reload') > 0 } as ReloadStatus),
  } as RegistryControl;
  return new DefinitionsController(only(pins), registry, namedPermissions, recordedActs().acts);
}

describe('the list of definitions', () => {
  const controller = controllerOf({ list: () => Promise.resolve([NEW, PINNED]) });

  it('shows what waits for a decision whole, its hidden characters written out, and the rest without its text', async () => {
    const { definitions } = await controller.list(asAdmin);
    expect(definitions).toMatchObject([
      { tool: 'files.read', definition: { description: 'reads\\u{202e} all' }, pinned_by: null },
      { tool: 'files.write', definition: null, pinned_by: 'first use', seen_hash: HASH },
    ]);
  });

  it('is of one state where one is named, and of a known one only', async () => {
    expect((await controller.list(asAdmin, 'pinned')).definitions).toHaveLength(1);
    await expect(controller.list(asAdmin, 'lost')).rejects.toThrow('/state');
  });
});

describe('an approval of a definition', () => {
  const answering = (outcome: ApprovalOutcome) => ({ approve: () => Promise.resolve(outcome) });

  it.each([[{}], [[]], [{ hash: 1 }], [{ hash: 'A'.repeat(64) }], [{ hash: `${HASH}0` }]])(
    '%j names no hash and agrees to nothing',
    async (body) => {
      await expect(controllerOf({}).approve(approving(body), 'files.read')).rejects.toThrow('/hash');
    },
  );

  it('is given in the name of the credential, and loads the tool', async () => {
    const asked: unknown[] = [];
    const reloads: string[] = [];
    const pins = {
      approve: (...question: unknown[]) => {
        asked.push(question);
        return Promise.resolve({ approved: true as const, record: PINNED });
      },
    };
    const answer = await controllerOf(pins, reloads).approve(approving({ hash: HASH }), 'files.read');
    expect(asked).toEqual([['files.read', HASH, 'op']]);
    expect(answer).toMatchObject({ state: 'pinned', reloaded: true });
    expect(reloads).toHaveLength(1);
  });

  it.each([
    ['unknown', 'NOT_FOUND', 'DEFINITION_NOT_FOUND'],
    ['other', 'CONFLICT', 'DEFINITION_CHANGED'],
    ['refused', 'CONFLICT', 'DEFINITION_REFUSED'],
  ] as const)('that is not taken (%s) is %s, and loads nothing', async (why, type, reason) => {
    const reloads: string[] = [];
    const controller = controllerOf(answering({ approved: false, why }), reloads);
    await expect(controller.approve(approving({ hash: HASH }), 'files.read')).rejects.toMatchObject({
      type,
      reason,
    });
    expect(reloads).toEqual([]);
  });
});
