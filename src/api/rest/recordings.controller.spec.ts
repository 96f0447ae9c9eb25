// Recordings by REST: no name leads out of their folder, an unknown one is NOT_FOUND, and a replay is reported before it begins anew.
import { describe, expect, it } from 'vitest';
import {
  namedPermissions,
  only,
  recordingReply,
  requestWith,
  recordedActs,
} from '../../../test/helpers/management-kit.ts';
import type { Recordings, ReplayTape } from '../../ports/recordings.ts';
import { RecordingsController, ReplayController } from './recordings.controller.ts';

const asAdmin = requestWith({ permissions: ['admin'] });
const asPlatform = requestWith({ permissions: ['platform:admin'] });
const missing = { type: 'NOT_FOUND', reason: 'RECORDING_NOT_FOUND' };
const controllerOf = (recordings: Partial<Recordings>) =>
  new RecordingsController(
    only({ find: () => Promise.resolve(undefined), ...recordings }),
    namedPermissions,
    recordedActs().acts,
  );

describe('a recording', () => {
  it.each(['../../etc/passwd', '.', 'a/b', 'a.jsonl', '', 'x'.repeat(65), 'a"b'])(
    'of the name %j is neither read, ended nor deleted',
    async (name) => {
      const controller = controllerOf({});
      await expect(controller.stop(asAdmin, name)).rejects.toMatchObject(missing);
      await expect(controller.remove(asAdmin, name)).rejects.toMatchObject(missing);
      await expect(controller.download(asAdmin, name, recordingReply().reply)).rejects.toMatchObject(missing);
    },
  );

  it('that there is not is NOT_FOUND', async () => {
    const controller = controllerOf({
      stop: () => Promise.resolve(undefined),
      read: () => Promise.resolve(undefined),
      remove: () => Promise.resolve(false),
    });
    await expect(controller.stop(asAdmin, 'r')).rejects.toMatchObject(missing);
    await expect(controller.remove(asAdmin, 'r')).rejects.toMatchObject(missing);
    await expect(controller.download(asAdmin, 'r', recordingReply().reply)).rejects.toMatchObject(missing);
  });

  it('that is gone is said to be', async () => {
    const controller = controllerOf({ remove: () => Promise.resolve(true) });
    expect(await controller.remove(asAdmin, 'r')).toEqual({ name: 'r', deleted: true });
  });

  it.each([[[]], [{}], [{ name: '../x' }], [{ name: 'r', more: 1 }]])('is not begun by %j', async (body) => {
    const request = requestWith({ permissions: ['admin'], body });
    await expect(controllerOf({}).start(request)).rejects.toMatchObject({ type: 'VALIDATION' });
  });
});

describe('a replay', () => {
  it('that this gateway does not make is NOT_FOUND', () => {
    const controller = new ReplayController({ tape: undefined }, namedPermissions, recordedActs().acts);
    expect(() => controller.report(asPlatform)).toThrow(expect.objectContaining({ reason: 'NO_REPLAY' }));
  });

  it('is reported as it went before it begins anew', async () => {
    const done: string[] = [];
    const tape = only<ReplayTape>({
      report: () => {
        done.push('reported');
        throw new Error('enough');
      },
      rewind: () => void done.push('rewound'),
    });
    const controller = new ReplayController({ tape }, namedPermissions, recordedActs().acts);
    await expect(controller.rewind(asPlatform)).rejects.toThrow('enough');
    expect(done).toEqual(['reported']);
  });
});
