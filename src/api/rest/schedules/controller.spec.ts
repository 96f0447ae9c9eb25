// Schedules by REST: bodies, tokens and If-Match are read strictly.
import { describe, expect, it } from 'vitest';
import { ask, only } from '../../../../test/helpers/management-kit.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { Schedules } from '../../../schedules/schedules.ts';
import { SchedulesController } from './controller.ts';
import { changeSchedule, createSchedule, deleteSchedule, listSchedules } from './schema.ts';

const params = { id: 's1' };
const controllerOf = (schedules: Partial<Schedules>) => new SchedulesController(only<Schedules>(schedules));
const DAILY = { tool: 'send', schedule: 'daily 9am' };

describe('a schedule', () => {
  it.each([
    ['no tool', { schedule: 'daily 9am' }, '/tool'],
    ['no time', { tool: 'send' }, '/schedule'],
    ['arguments that are no object', { ...DAILY, arguments: [] }, '/arguments'],
    ['a field that there is not', { ...DAILY, tenant: 'other' }, '/tenant'],
    ['a count out of bounds', { ...DAILY, max_runs: 0 }, '/max_runs'],
  ])('with %s is not made', async (_what, body, pointer) => {
    await expect(ask(controllerOf({}), createSchedule, { body })).rejects.toMatchObject({
      type: 'VALIDATION',
      details: { violations: [{ pointer }] },
    });
  });

  it('that is refused is refused as it was', async () => {
    const refused = new ToolFailure('PERMISSION_DENIED', 'no');
    const controller = controllerOf({ create: () => Promise.reject(refused) });
    await expect(ask(controller, createSchedule, { body: DAILY })).rejects.toBe(refused);
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
    const headers: Record<string, string> = header === undefined ? {} : { 'if-match': header };
    await ask(controller, deleteSchedule, { params, headers });
    expect(deleted).toEqual([['s1', version]]);
  });

  it.each(['3', 'W/"3"', '"x"', '""'])('is neither changed nor deleted with If-Match %s', async (header) => {
    const headers = { 'if-match': header };
    await expect(ask(controllerOf({}), deleteSchedule, { params, headers })).rejects.toThrow('If-Match');
    const change = ask(controllerOf({}), changeSchedule, { params, headers, body: { enabled: false } });
    await expect(change).rejects.toThrow('If-Match');
  });

  it('is not changed by a body that changes nothing', async () => {
    await expect(ask(controllerOf({}), changeSchedule, { params, body: {} })).rejects.toThrow(
      'must change something',
    );
  });
});

describe('the list of schedules', () => {
  it.each<Record<string, string>>([{ page_token: '../x' }, { page_size: '-1' }])(
    '%j is refused and asks for nothing',
    async (query) => {
      await expect(ask(controllerOf({}), listSchedules, { query })).rejects.toMatchObject({
        type: 'VALIDATION',
      });
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
    expect((await ask(controller, listSchedules, { query: { page_size: '2' } })).body).toEqual({
      schedules: [],
      next_page_token: '',
    });
    expect(limit).toBe(3);
  });
});
