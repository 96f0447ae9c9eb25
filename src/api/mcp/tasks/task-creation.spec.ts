// Which calls become tasks, and what is answered to one that does: never for a client that takes none, and never without a row.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { storedCall } from '../../../../test/helpers/async-kit.ts';
import { callOf, compiledOf, functionOf, principalOf, requestOf } from '../../../../test/helpers/call-kit.ts';
import { notFound } from '../../../calls/call-failures.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { ToolResponse } from '../../../contract/call/tool-response.ts';
import { acceptedOf, refusalOf } from '../../../core/settle.ts';
import { snapshotOf } from '../../../registry/tool-spec-registry.ts';
import type { Era } from '../protocol/exchange.ts';
import { refusedTask, TaskCreation } from './task-creation.ts';
import type { TaskAsker } from './tasks.ts';

const LONG_FROM_MS = 30_000;
const ID = '0199aaaa-0000-7000-8000-00000000000a';

const asker = (era: Era, opensUrls = false, takesTasks = true) => ({
  exchange: { asked: { era } } as TaskAsker['exchange'],
  opensUrls,
  takesTasks,
});

interface Kit {
  readonly timeoutMs?: number;
  readonly isDangerous?: boolean;
  readonly response?: ToolResponse;
  /** What `own` finds. */
  readonly found?: () => ReturnType<typeof storedCall>;
}

function setUp({ timeoutMs = 1_000, isDangerous = false, response, found }: Kit = {}) {
  const fn = functionOf({ timeoutMs, metadata: { isDangerous } });
  let made = 0;
  const call = storedCall({ id: ID, tool: 'greet' });
  const asked: object[] = [];
  const creation = new TaskCreation({
    tasks: {
      own: async (_principal: object, id: string) => {
        asked.push({ id });
        return found === undefined ? call : found();
      },
      fields: () => ({ taskId: ID, status: 'input_required' }),
    } as never,
    calls: {
      accept: async (request) => {
        asked.push(request);
        return response ?? acceptedOf(callOf(), { at: `/v1/calls/${ID}` });
      },
    },
    catalog: { snapshot: () => snapshotOf([fn.spec], [compiledOf(fn)]) },
    toolsets: { find: () => undefined },
    authenticator: { authenticate: async () => principalOf(), recall: () => principalOf() },
    longFromMs: LONG_FROM_MS,
    made: { add: () => void (made += 1) },
  });
  return { creation, asked, count: () => made };
}

describe('a call becomes a task', () => {
  it('of 2025 where the client says so, and of 2026 by what the tool is and what the client can do', () => {
    const conditions = fc.record({
      isLegacy: fc.boolean(),
      isSaid: fc.boolean(),
      takesTasks: fc.boolean(),
      opensUrls: fc.boolean(),
      isLong: fc.boolean(),
      isDangerous: fc.boolean(),
      isDry: fc.boolean(),
      isConfirmed: fc.boolean(),
      isKnown: fc.boolean(),
      isRefused: fc.boolean(),
    });
    fc.assert(
      fc.property(conditions, (is) => {
        const { creation } = setUp({
          timeoutMs: is.isLong ? LONG_FROM_MS : 1_000,
          isDangerous: is.isDangerous,
        });
        const request = requestOf({
          tool: is.isKnown ? 'greet' : 'nobody',
          context: {
            ...(is.isDry && { dryRun: true }),
            ...(is.isConfirmed && { confirmationToken: 'ute_confirm_x' }),
          },
          ...(is.isRefused && { refusal: new ToolFailure('VALIDATION', 'It is wrong.') }),
        });
        const params = is.isSaid ? { task: {} } : {};
        const era = is.isLegacy ? 'legacy' : 'modern';
        const wants = creation.wants(request, params, asker(era, is.opensUrls, is.takesTasks));
        const waits = is.isDangerous && !is.opensUrls && !is.isConfirmed;
        const inModern = is.takesTasks && !is.isDry && is.isKnown && (is.isLong || waits);
        expect(wants).toBe(!is.isRefused && (is.isLegacy ? is.isSaid : inModern));
      }),
    );
  });

  it.each([
    ['modern', { resultType: 'task', taskId: ID, status: 'working' }],
    ['legacy', { task: { taskId: ID, status: 'working' } }],
  ] as const)('that works at first, whatever it waits for, and is counted: %s', async (era, answered) => {
    const { creation, asked, count } = setUp();
    const emit = () => undefined;
    expect(await creation.create(requestOf({ emit }), asker(era))).toMatchObject(answered);
    // Nobody is there to be told anything while it runs.
    expect(asked[0]).not.toHaveProperty('emit');
    expect(asked[1]).toEqual({ id: ID });
    expect(count()).toBe(1);
  });
});

describe('a call becomes no task', () => {
  const refused = refusalOf(callOf(), new ToolFailure('RATE_LIMIT', 'Too many.'));

  it('where it is refused: the envelope says why', async () => {
    const { creation, count } = setUp({ response: refused });
    expect(await creation.create(requestOf(), asker('modern'))).toBe(refused);
    expect(count()).toBe(0);
  });

  it('where an idempotency key leads to a call that is not the caller’s to see', async () => {
    const response = acceptedOf(callOf(), { at: `/v1/calls/${ID}` });
    const { creation, count } = setUp({
      response,
      found: () => {
        throw notFound();
      },
    });
    expect(await creation.create(requestOf(), asker('modern'))).toBe(response);
    expect(count()).toBe(0);
  });

  it('where the database is away: that is told, and not taken for a call of somebody else', async () => {
    const away = new ToolFailure('UNAVAILABLE', 'The database is away.');
    const { creation } = setUp({
      found: () => {
        throw away;
      },
    });
    await expect(creation.create(requestOf(), asker('modern'))).rejects.toBe(away);
  });

  it('of 2025 with the caller’s error told apart from the gateway’s', () => {
    const wrong = refusalOf(callOf(), new ToolFailure('VALIDATION', 'It is wrong.'));
    if (wrong.ok || refused.ok) throw new Error('they are refusals');
    expect(refusedTask(wrong)).toMatchObject({
      code: -32_602,
      message: expect.stringContaining('It is wrong.'),
    });
    expect(refusedTask(refused).code).toBe(-32_603);
  });
});
