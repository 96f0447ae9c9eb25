// Recordings by REST: no name leads out of their folder, an unknown one is NOT_FOUND, and a replay is reported before it begins anew.
import { describe, expect, it } from 'vitest';
import { ask, only } from '../../../../test/helpers/management-kit.ts';
import type { Recordings, ReplaySource } from '../../../ports/recordings.ts';
import { RecordingsController } from './controller.ts';
import { ReplayController } from './replay-controller.ts';
import {
  deleteRecording,
  downloadRecording,
  getReplay,
  rewindReplay,
  startRecording,
  stopRecording,
} from './schema.ts';

const of = (name: string) => ({ params: { name } });
const missing = { type: 'NOT_FOUND', reason: 'RECORDING_NOT_FOUND' };
const controllerOf = (recordings: Partial<Recordings>) =>
  new RecordingsController(only({ find: () => Promise.resolve(undefined), ...recordings }));

describe('a recording', () => {
  it.each(['../../etc/passwd', '.', 'a/b', 'a.jsonl', '', 'x'.repeat(65), 'a"b'])(
    'of the name %j is neither read, ended nor deleted',
    async (name) => {
      const controller = controllerOf({});
      await expect(ask(controller, stopRecording, of(name))).rejects.toMatchObject(missing);
      await expect(ask(controller, deleteRecording, of(name))).rejects.toMatchObject(missing);
      await expect(ask(controller, downloadRecording, of(name))).rejects.toMatchObject(missing);
    },
  );

  it('that there is not is NOT_FOUND', async () => {
    const controller = controllerOf({
      stop: () => Promise.resolve(undefined),
      read: () => Promise.resolve(undefined),
      remove: () => Promise.resolve(false),
    });
    await expect(ask(controller, stopRecording, of('r'))).rejects.toMatchObject(missing);
    await expect(ask(controller, deleteRecording, of('r'))).rejects.toMatchObject(missing);
    await expect(ask(controller, downloadRecording, of('r'))).rejects.toMatchObject(missing);
  });

  it('that is gone is said to be', async () => {
    const controller = controllerOf({ remove: () => Promise.resolve(true) });
    expect((await ask(controller, deleteRecording, of('r'))).body).toEqual({ name: 'r', deleted: true });
  });

  it.each([[[]], [{}], [{ name: '../x' }], [{ name: 'r', more: 1 }]])('is not begun by %j', async (body) => {
    await expect(ask(controllerOf({}), startRecording, { body })).rejects.toMatchObject({
      type: 'VALIDATION',
    });
  });
});

describe('a replay', () => {
  it('that this gateway does not make is NOT_FOUND', async () => {
    const controller = new ReplayController({ source: undefined });
    await expect(ask(controller, getReplay)).rejects.toMatchObject({ reason: 'NO_REPLAY' });
  });

  it('is reported as it went before it begins anew', async () => {
    const done: string[] = [];
    const source = only<ReplaySource>({
      report: () => {
        done.push('reported');
        throw new Error('enough');
      },
      rewind: () => void done.push('rewound'),
    });
    const controller = new ReplayController({ source });
    await expect(ask(controller, rewindReplay)).rejects.toThrow('enough');
    expect(done).toEqual(['reported']);
  });
});
