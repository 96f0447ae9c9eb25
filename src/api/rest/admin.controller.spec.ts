// The operator's side: what a reload, a switch and a version look like on the wire, and what an unknown tool is answered.
import { describe, expect, it } from 'vitest';
import { namedPermissions, only, requestWith, recordedActs } from '../../../test/helpers/management-kit.ts';
import type { RegistryControl, ReloadStatus } from '../../ports/registry/registry-control.ts';
import { AdminController } from './admin.controller.ts';

const STATUS: ReloadStatus = {
  ok: false,
  registryVersion: '1.0.abc',
  tools: 2,
  lastAttemptAt: '2026-01-02T00:00:00.000Z',
  lastSuccessAt: '2026-01-01T00:00:00.000Z',
  durationMs: 5,
  problems: [{ file: 'tools.yaml', message: 'expected a name' }],
  warnings: [],
};
const asAdmin = requestWith({ permissions: ['platform:admin'] });

function controllerOf(registry: Partial<RegistryControl>): AdminController {
  return new AdminController(only(registry), only(), namedPermissions, only(), recordedActs().acts);
}

describe('a reload', () => {
  it('that was refused says so, with its problems and the set still in force', async () => {
    const controller = controllerOf({ reload: () => Promise.resolve(STATUS) });
    expect(await controller.reload(asAdmin)).toEqual({
      ok: false,
      registry_version: '1.0.abc',
      tools: 2,
      last_attempt_at: STATUS.lastAttemptAt,
      last_success_at: STATUS.lastSuccessAt,
      duration_ms: 5,
      problems: STATUS.problems,
      warnings: [],
    });
  });
});

describe('the kill switch', () => {
  it('turns the tool of the path off and on', async () => {
    const turned: unknown[] = [];
    const controller = controllerOf({ setDisabled: (name, disabled) => turned.push([name, disabled]) > 0 });
    expect(await controller.disable(asAdmin, 'send')).toEqual({ tool: 'send', disabled: true });
    expect(await controller.enable(asAdmin, 'send')).toEqual({ tool: 'send', disabled: false });
    expect(turned).toEqual([
      ['send', true],
      ['send', false],
    ]);
  });

  it('of a tool that is not there is NOT_FOUND', async () => {
    const controller = controllerOf({ setDisabled: () => false });
    await expect(controller.disable(asAdmin, 'nothing')).rejects.toMatchObject({
      type: 'NOT_FOUND',
      reason: 'TOOL_NOT_FOUND',
    });
  });
});
