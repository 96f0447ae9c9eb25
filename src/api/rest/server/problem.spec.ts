// What a route throws, on the wire: a problem; and where a human has to approve first, no error but what to come back with.
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { only } from '../../../../test/helpers/management-kit.ts';
import { openRestDoor } from '../../../../test/helpers/rest-door.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { Schedules } from '../../../schedules/schedules.ts';
import { SCHEDULES } from '../../tokens.ts';

const details = { approval_url: '/v1/approvals/a1', confirmation_token: 't' };
const schedules = only<Schedules>({
  create: () =>
    Promise.reject(new ToolFailure('CONFIRMATION_REQUIRED', 'ask', { reason: 'APPROVAL_REQUIRED', details })),
  get: () => Promise.reject(new ToolFailure('PERMANENT', 'no', { reason: 'EGRESS_DENIED' })),
});

let app: NestFastifyApplication;

beforeAll(async () => {
  ({ app } = await openRestDoor(new Map([[SCHEDULES, schedules]])));
});

afterAll(() => app.close());

const post = (body: object, query = '') =>
  app.inject({
    method: 'POST',
    url: `/v1/schedules${query}`,
    headers: { authorization: 'Bearer tools:call' },
    payload: body,
  });

it('a schedule of a tool that needs approval waits, and says where the approval is', async () => {
  const answer = await post({ tool: 'send', schedule: 'daily 9am' });
  expect([answer.statusCode, answer.headers.location]).toEqual([202, '/v1/approvals/a1']);
  expect(answer.json()).toMatchObject({ status: 'approval_required', ...details });
});

it('a route that an upstream is denied to fails, and says so by its status', async () => {
  const headers = { authorization: 'Bearer tools:call' };
  const answer = await app.inject({ method: 'GET', url: '/v1/schedules/s1', headers });
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([
    502,
    'application/problem+json; charset=utf-8',
  ]);
  expect(answer.json()).toMatchObject({ status: 502, code: 'PERMANENT', reason: 'EGRESS_DENIED' });
});

it('everything that is wrong with a request is told at once, and what was meant', async () => {
  const answer = await post({ tol: 'send', schedule: '', max_runs: 0, misfire: 'onse' });
  expect(answer.statusCode).toBe(400);
  const { detail, violations } = answer.json<{
    detail: string;
    violations: readonly { pointer: string; message: string }[];
  }>();
  expect(Object.fromEntries(violations.map(({ pointer, message }) => [pointer, message]))).toEqual({
    '/tool': 'must be the name of a tool',
    '/schedule': expect.stringContaining('must say when'),
    '/max_runs': 'must be a whole number from 1 to 1000000',
    '/misfire': 'must be one of skip, once, catch_up; did you mean "once"?',
    '/tol': expect.stringContaining('is no field of this body; did you mean "tool"? (known: schedule,'),
  });
  expect(detail).toContain('/max_runs must be a whole number from 1 to 1000000.');
});

it('a query parameter that is not known is told with its nearest, before the body is', async () => {
  const answer = await post({}, '?dry=1');
  expect(answer.json<{ violations: { pointer: string }[] }>().violations[0]?.pointer).toBe('/dry');
});

it('a header that cannot be read is told by its name', async () => {
  const headers = { authorization: 'Bearer tools:call', 'if-match': 'x' };
  const answer = await app.inject({ method: 'DELETE', url: '/v1/schedules/s1', headers });
  expect(answer.json<{ detail: string }>().detail).toBe(
    'the header If-Match must be the ETag of the schedule, such as "3".',
  );
});
