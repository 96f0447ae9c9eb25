// Schedules by REST: bodies, tokens and If-Match are read strictly; a tool that needs approval is answered 202, not with an error.
import { describe, expect, it } from 'vitest';
import {
  namedPermissions,
  only,
  recordingReply,
  requestWith,
  recordedActs,
} from '../../../test/helpers/management-kit.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Schedules } from '../../schedules/schedules.ts';
import { SchedulesController } from './schedules.controller.ts';

const asked = (body?: unknown, headers = {}) => requestWith({ permissions: ['tools:call'], body, headers });
const controllerOf = (schedules: Partial<Schedules>) =>
  new SchedulesController(only<Schedules>(schedules), namedPermissions, recordedActs().acts);
const DAILY = { tool: 'send', schedule: 'daily 9am' };

describe('a schedule', () => {
  it.each([
    ['no tool', { schedule: 'daily 9am' }, '/tool'],
    ['no time', { tool: 'send' }, '/schedule'],
    ['arguments that are no object', { ...DAILY, arguments: [] }, '/arguments'],
    ['a field that there is not', { ...DAILY, tenant: 'other' }, '/tenant'],
    ['a count out of bounds', { ...DAILY, max_runs: 0 }, '/max_runs'],
  ])('with %s is not made', async (_what, body, pointer) => {
    await expect(controllerOf({}).create(asked(body), recordingReply().reply)).rejects.toMatchObject({
      type: 'VALIDATION',
      details: { violations: [{ pointer }] },
    });
  });

  it('of a tool that needs approval waits, and says where the approval is', async () => {
    const details = { approval_url: '/v1/approvals/a1', confirmation_token: 't' };
    const waits = new ToolFailure('CONFIRMATION_REQUIRED', 'ask', { reason: 'APPROVAL_REQUIRED', details });
    const { said, reply } = recordingReply();
    await controllerOf({ create: () => Promise.reject(waits) }).create(asked(DAILY), reply);
    expect(said.status).toBe(202);
    expect(said.headers.get('location')).toBe('/v1/approvals/a1');
    expect(JSON.parse(String(said.sent))).toMatchObject({ status: 'approval_required', ...details });
  });

  it('that is refused otherwise is refused as it was', async () => {
    const refused = new ToolFailure('PERMISSION_DENIED', 'no');
    const controller = controllerOf({ create: () => Promise.reject(refused) });
    await expect(controller.create(asked(DAILY), recordingReply().reply)).rejects.toBe(refused);
  });

  it.each([
    ['"3"', 3],
    ['*', undefined],
    [undefined, undefined],
  ])('is deleted only as If-Match %s says', async (header, version) => {
    const deleted: unknown[] = [];
    const controller = controllerOf({
      delete: (...question) => {
        deleted.push(question.slice(1));
        return Promise.resolve();
      },
    });
    await controller.delete(asked(undefined, header === undefined ? {} : { 'if-match': header }), 's1');
    expect(deleted).toEqual([['s1', version]]);
  });

  it.each(['3', 'W/"3"', '"x"', '""'])('is neither changed nor deleted with If-Match %s', async (header) => {
    const headers = { 'if-match': header };
    await expect(controllerOf({}).delete(asked(undefined, headers), 's1')).rejects.toThrow('If-Match');
    const change = controllerOf({}).change(asked({ enabled: false }, headers), recordingReply().reply, 's1');
    await expect(change).rejects.toThrow('If-Match');
  });

  it('is not changed by a body that changes nothing', async () => {
    await expect(controllerOf({}).change(asked({}), recordingReply().reply, 's1')).rejects.toThrow(
      'must change something',
    );
  });
});

describe('the list of schedules', () => {
  it.each([[{ page_token: '../x' }], [{ page_size: '-1' }]])(
    '%j is refused and asks for nothing',
    async (query) => {
      await expect(controllerOf({}).list(asked(), query)).rejects.toMatchObject({ type: 'VALIDATION' });
    },
  );

  it('asks for one more than the page, so that the last page says that it is', async () => {
    let limit = 0;
    const controller = controllerOf({
      list: (_principal, page) => {
        ({ limit } = page);
        return Promise.resolve([]);
      },
    });
    expect(await controller.list(asked(), { page_size: '2' })).toEqual({
      schedules: [],
      next_page_token: '',
    });
    expect(limit).toBe(3);
  });
});
