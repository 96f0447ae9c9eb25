// A call that a human has to approve: who is asked where to send its user, what goes on by itself, and when nobody waits any more.
import { describe, expect, it } from 'vitest';
import { callOf, principalOf, requestOf } from '../../../../test/helpers/call-kit.ts';
import type { ToolRequest } from '../../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../../contract/call/tool-response.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import { refusalOf, successOf } from '../../../core/settle.ts';
import type { Exchange } from '../protocol/exchange.ts';
import { newSession } from '../protocol/legacy-session.ts';
import { ApprovalAsking, type Retried } from './approval-asking.ts';
import { ClientQuestions } from './client-questions.ts';

const ID = '0199aaaa-0000-7000-8000-00000000000a';
const OPENS_URLS = { elicitation: { url: {} } };
const FIRST: Retried = { state: undefined, responses: undefined, capabilities: OPENS_URLS };
const STATE = `${ID}.token-1`;
const details = { approval_id: ID, confirmation_token: 'token-1' };
const pending = refusalOf(callOf(), toolFailure('APPROVAL_PENDING', 'A human has to.', { details }));
const success = successOf(callOf(), { data: 7 }, 1_000);

interface Said {
  readonly method?: string;
  readonly id?: string;
}

/** `status`: of the approval, each time somebody looks. */
function setUp(status: () => string = () => 'pending', answer: ToolResponse = pending) {
  const made: ToolRequest[] = [];
  const looks: string[] = [];
  const questions = new ClientQuestions();
  const asking = new ApprovalAsking(
    {
      caller: {
        execute: async (request) => {
          made.push(request);
          return request.context.confirmationToken === undefined ? answer : success;
        },
      },
      approvals: {
        get: async (tenantId: string) => {
          looks.push(tenantId);
          return { status: status() } as never;
        },
      },
      authenticator: { authenticate: async () => principalOf() } as never,
    },
    questions,
  );
  return { asking, questions, made, looks };
}

function clientOf(era: 'modern' | 'legacy', over: object = {}) {
  const said: Said[] = [];
  const gone: (() => void)[] = [];
  const asked = {
    era,
    session: newSession(OPENS_URLS),
    takesEvents: true,
    approvalsUrl: () => 'https://ute',
  };
  const exchange = {
    asked: { ...asked, ...over },
    notify: (message: Said) => void said.push(message),
    whenGone: (listener: () => void) => void gone.push(listener),
  } as unknown as Exchange;
  return { exchange, said, leave: () => gone.forEach((listener) => listener()) };
}

describe('a client of 2026-07-28', () => {
  it('is told where to send its user, and what to come back with', async () => {
    const { exchange } = clientOf('modern');
    expect(await setUp().asking.execute(requestOf(), exchange, FIRST)).toMatchObject({
      resultType: 'input_required',
      inputRequests: { approval: { params: { mode: 'url', url: `https://ute/v1/approvals/${ID}` } } },
      requestState: STATE,
    });
  });

  it('that opens no URLs is refused as by any other door', async () => {
    const { exchange } = clientOf('modern');
    expect(await setUp().asking.execute(requestOf(), exchange, { ...FIRST, capabilities: {} })).toBe(pending);
  });

  it('that comes back has its call made with the token of the approval', async () => {
    const { asking, made } = setUp(() => 'approved');
    const back = { ...FIRST, state: STATE, responses: { approval: { action: 'accept' } } };
    expect(await asking.execute(requestOf(), clientOf('modern').exchange, back)).toBe(success);
    expect(made.map(({ context }) => context.confirmationToken)).toEqual(['token-1']);
  });

  it.each(['decline', 'cancel', 'anything'])('that says %s has no call made', async (action) => {
    const { asking, made, looks } = setUp();
    const back = { ...FIRST, state: STATE, responses: { approval: { action } } };
    expect(await asking.execute(requestOf(), clientOf('modern').exchange, back)).toMatchObject({
      isError: true,
    });
    expect([made, looks]).toEqual([[], []]);
  });

  it.each([
    7,
    null,
    {},
    '',
    STATE.toUpperCase(),
    `${ID}.`,
    `${STATE} `,
    `${ID}.${'x'.repeat(513)}`,
    `x${STATE}`,
  ])('that comes back with a state that is none is told so: %j', async (state) => {
    const { asking, made } = setUp();
    const asked = asking.execute(requestOf(), clientOf('modern').exchange, { ...FIRST, state });
    await expect(asked).rejects.toMatchObject({ code: -32_602, data: { reason: 'invalid_request_state' } });
    expect(made).toEqual([]);
  });
});

describe('a client of before', () => {
  it('is asked beside its call, which goes on once it is decided', async () => {
    const { asking, made } = setUp(() => 'approved');
    const { exchange, said } = clientOf('legacy');
    expect(await asking.execute(requestOf(), exchange, FIRST)).toBe(success);
    expect(said.map(({ method }) => method)).toEqual([
      'elicitation/create',
      'notifications/elicitation/complete',
    ]);
    expect(made.map(({ context }) => context.confirmationToken)).toEqual([undefined, 'token-1']);
  });

  it.each([
    ['opens no URLs', { session: newSession({}) }],
    ['has no session', { session: undefined }],
    ['takes no events', { takesEvents: false }],
  ])('that %s is refused, and asked nothing', async (_what, over) => {
    const { exchange, said } = clientOf('legacy', over);
    expect(await setUp().asking.execute(requestOf(), exchange, FIRST)).toBe(pending);
    expect(said).toEqual([]);
  });

  it('that declines has its call not made, and nobody looks for a decision any more', async () => {
    const { asking, made, looks, questions } = setUp();
    // More than may wait at once: each of those before would hold a slot for ten minutes.
    for (let each = 1; each <= 1_100; each += 1) {
      const { exchange, said } = clientOf('legacy');
      const answered = asking.execute(requestOf(), exchange, FIRST);
      await expect.poll(() => looks.length, { interval: 0 }).toBe(each);
      questions.answered({ id: said[0]?.id, result: { action: 'decline' } });
      expect(await answered).toMatchObject({ isError: true });
    }
    expect(made).toHaveLength(1_100);
  });

  it('that leaves is waited for no longer', async () => {
    const { asking, looks } = setUp();
    const { exchange, leave } = clientOf('legacy');
    const answered = asking.execute(requestOf(), exchange, FIRST);
    await expect.poll(() => looks.length, { interval: 0 }).toBe(1);
    leave();
    await answered;
    expect(looks).toHaveLength(1);
  });
});

it('a refusal for anything else is handed on', async () => {
  const denied = refusalOf(callOf(), toolFailure('TOOL_DISABLED_FOR_AGENT', 'No.'));
  const { asking } = setUp(undefined, denied);
  expect(await asking.execute(requestOf(), clientOf('legacy').exchange, FIRST)).toBe(denied);
});
