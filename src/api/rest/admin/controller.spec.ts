// The operator's side: what a reload, a switch and a version look like on the wire, and what an unknown tool is answered.
import { describe, expect, it } from 'vitest';
import { ask, only } from '../../../../test/helpers/management-kit.ts';
import type { RegistryControl, ReloadStatus } from '../../../ports/registry/registry-control.ts';
import { AdminController } from './controller.ts';
import { disableTool, enableTool, reload } from './schema.ts';

const STATUS: ReloadStatus = {
  ok: false,
  registryVersion: '1.0.abc',
  tools: 2,
  lastAttemptAt: '2026-01-02T00:00:00.000Z',
  lastSuccessAt: '2026-01-01T00:00:00.000Z',
  durationMs: 5,
  problems: [{ file: 'tools.yaml', message: 'expected a name' }],
  warnings: [],
  leftOut: [],
  advice: [],
  moreAdvice: 0,
};
function controllerOf(registry: Partial<RegistryControl>): AdminController {
  return new AdminController(only(registry), only(), only());
}

describe('a reload', () => {
  it('that was refused says so, with its problems and the set still in force', async () => {
    const controller = controllerOf({ reload: () => Promise.resolve(STATUS) });
    expect((await ask(controller, reload)).body).toEqual({
      ok: false,
      registry_version: '1.0.abc',
      tools: 2,
      last_attempt_at: STATUS.lastAttemptAt,
      last_success_at: STATUS.lastSuccessAt,
      duration_ms: 5,
      problems: STATUS.problems,
      warnings: [],
      left_out: [],
      advice: [],
      more_advice: 0,
    });
  });
});

describe('the kill switch', () => {
  it('turns the tool of the path off and on', async () => {
    const turned: unknown[] = [];
    const send = { params: { name: 'send' } };
    const controller = controllerOf({ setDisabled: (name, disabled) => turned.push([name, disabled]) > 0 });
    expect((await ask(controller, disableTool, send)).body).toEqual({ tool: 'send', disabled: true });
    expect((await ask(controller, enableTool, send)).body).toEqual({ tool: 'send', disabled: false });
    expect(turned).toEqual([
      ['send', true],
      ['send', false],
    ]);
  });

  it('of a tool that is not there is NOT_FOUND', async () => {
    const controller = controllerOf({ setDisabled: () => false });
    await expect(ask(controller, disableTool, { params: { name: 'nothing' } })).rejects.toMatchObject({
      type: 'NOT_FOUND',
      reason: 'TOOL_NOT_FOUND',
    });
  });
});
