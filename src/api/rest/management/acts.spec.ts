// Acts: every route of the management side that changes something leaves an audit record, refused or done.
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openRestDoor } from '../../../../test/helpers/rest-door.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { AuditRecord } from '../../../ports/audit-sink.ts';
import * as tokens from '../../tokens.ts';
import { ROUTES } from '../openapi/document.ts';

/** Changes nothing, or leaves a record of another kind: why. */
const OTHERWISE: Readonly<Record<string, string>> = {
  explainPolicy: 'asks what a policy would say',
  parseText: 'finds calls in a text, and runs none',
  previewSchedule: 'asks when a schedule would run',
  createSchedule: 'is admitted as a call: a record of kind accepted',
  beginTurn: 'counts turns of a conversation; what is done in one are calls, which have records',
};

const changing = ROUTES.filter(({ method, problems }) => method !== 'get' && problems !== undefined);
const acts = changing.filter(({ operationId }) => !(operationId in OTHERWISE));

let app: NestFastifyApplication;
let records: AuditRecord[] = [];

/** Of promises, and of Nest. */
const NOT_ASKED = /^(then$|on[A-Z]|before[A-Z])/;

/** Whatever is asked of it is refused. */
const refusing = new Proxy(
  {},
  {
    get: (_target, name) =>
      typeof name === 'symbol' || NOT_ASKED.test(name)
        ? undefined
        : () => {
            throw toolFailure('CALL_NOT_FOUND', 'There is none.');
          },
  },
);
const GIVEN = new Set<symbol>([
  tokens.AUTHENTICATOR,
  tokens.MANAGEMENT_ACTS,
  tokens.TOOL_CATALOG,
  tokens.TOOLSETS,
  tokens.DOOR_TELEMETRY,
]);

beforeAll(async () => {
  const others = Object.values(tokens).filter((each) => !GIVEN.has(each));
  const door = await openRestDoor(new Map(others.map((token) => [token, refusing])));
  ({ app, records } = door);
});
beforeEach(() => void records.splice(0));
afterAll(() => app.close());

it('names as exceptions only routes that there are', () => {
  const there = changing.map(({ operationId }) => operationId);
  expect(Object.keys(OTHERWISE).filter((id) => !there.includes(id))).toEqual([]);
});

it.each(acts)(
  '$operationId leaves a record of what was asked for, by whom, where it is refused',
  async ({ method, path }) => {
    const answer = await app.inject({
      method: method.toUpperCase() as 'POST',
      url: path.replaceAll(/\{\w+\}/g, 'x'),
      headers: { authorization: 'Bearer none' },
    });
    expect(answer.statusCode).toBeGreaterThanOrEqual(400);
    expect(records).toMatchObject([
      { kind: 'management', notes: { action: expect.stringMatching(/^[a-z]+\.[a-z_.]+$/) as string } },
    ]);
    expect(records[0]?.principal).not.toBe('');
    expect(records[0]?.outcome).not.toBe('ok');
  },
);
