// tasks/result of 2025-11-25: whoever waits hears what happens, gets the end, and leaves nothing open behind.
import { describe, expect, it } from 'vitest';
import { storedCall } from '../../../../test/helpers/async-kit.ts';
import { principalOf } from '../../../../test/helpers/call-kit.ts';
import { AskingClient, tasksOver } from '../../../../test/helpers/task-kit.ts';
import type { Followed } from '../../../calls/follow/follow-call.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { StoredCall } from '../../../ports/calls/call-store.ts';
import { ClientQuestions } from '../tools/client-questions.ts';
import { RELATED_TASK, TaskResults } from './task-results.ts';

const ID = '0199aaaa-0000-7000-8000-00000000000a';
const params = { taskId: ID };
const call = (over: Partial<StoredCall> = {}) =>
  storedCall({ id: ID, tool: 'greet', principalId: principalOf().id, kind: 'async', door: 'mcp', ...over });
const ENDED = call({ status: 'succeeded', finishedAt: new Date(1_000) });
const WAITING = call({
  status: 'waiting_approval',
  approval: { id: 'apr-1', expires_at: '2030-01-01T00:00:00Z' },
});
const RESULT = '{"ok":true,"data":{"n":1},"intents":[],"meta":{"tool":"greet"}}';
const END: Followed = { kind: 'end', seq: 2, call: ENDED };
const HALF = {
  kind: 'event',
  event: { seq: 1, kind: 'progress', data: { fraction: 0.5 } },
} as unknown as Followed;

interface Kit {
  readonly found?: StoredCall;
  readonly envelope?: string;
  readonly news?: (gone: AbortSignal) => AsyncGenerator<Followed>;
  readonly authenticate?: () => Promise<never>;
  readonly opensUrls?: boolean;
}

function setUp({ found = call(), envelope = RESULT, news, authenticate, opensUrls = false }: Kit) {
  const client = new AskingClient('legacy', { opensUrls });
  const questions = new ClientQuestions();
  const { tasks, done } = tasksOver(() => found, envelope);
  let follows = 0;
  const results = new TaskResults({
    tasks,
    calls: {
      follow: async (_principal, _id, _from, gone) => {
        follows += 1;
        if (news === undefined) throw new Error('nobody follows what has ended');
        return news(gone ?? AbortSignal.abort());
      },
    },
    questions,
    authenticator: { authenticate: authenticate ?? (async () => principalOf()), recall: () => principalOf() },
  });
  const emitted: unknown[] = [];
  const get = () => results.get(params, client.asker, (event) => void emitted.push(event));
  return { client, questions, done, emitted, get, follows: () => follows };
}

describe('of a task that has ended', () => {
  it('the result is given at once, and says which task it is of', async () => {
    const { get, client, follows } = setUp({ found: ENDED });
    expect(await get()).toMatchObject({ _meta: { [RELATED_TASK]: { taskId: ID } } });
    expect(client.pasted).toContain('"structuredContent":{"n":1}');
    expect(follows()).toBe(0);
  });

  it('in an error of the protocol, that error is given', async () => {
    const error = { type: 'INTERNAL', message: 'It broke.', origin: 'gateway' };
    const envelope = JSON.stringify({ ok: false, error, meta: {} });
    const { get } = setUp({ found: { ...ENDED, status: 'failed' }, envelope });
    await expect(get()).rejects.toMatchObject({ code: -32_603, message: 'It broke.' });
  });
});

describe('of a task that runs', () => {
  it('what it says is passed on, its status told, and the result given at its end', async () => {
    const { get, client, emitted } = setUp({
      async *news() {
        yield HALF;
        yield END;
      },
    });
    await get();
    expect(emitted).toEqual([{ kind: 'progress', fraction: 0.5 }]);
    expect(client.notified.map(({ params: told }) => (told as { status: string }).status)).toEqual([
      'working',
      'completed',
    ]);
    expect(client.pasted).not.toBe('');
  });

  it('nobody hears more once the credential is withdrawn', async () => {
    const { get, emitted } = setUp({
      async *news() {
        yield HALF;
      },
      authenticate: async () => {
        throw new ToolFailure('AUTH', 'The key was revoked.');
      },
    });
    await expect(get()).rejects.toMatchObject({ type: 'AUTH' });
    expect(emitted).toEqual([]);
  });

  it('a client that has gone ends the wait, and is answered nothing', async () => {
    const { get, client } = setUp({
      async *news(gone) {
        if (!gone.aborted) await new Promise((heard) => gone.addEventListener('abort', heard));
        yield* [];
      },
    });
    const answer = get();
    // As soon as it is followed.
    await new Promise((next) => setImmediate(next));
    client.leave();
    expect(await answer).toEqual({});
    expect([client.endedWithout, client.pasted]).toEqual([true, '']);
  });

  it('a gateway that shuts down says so', async () => {
    const { get } = setUp({
      async *news() {
        yield { kind: 'reconnect' };
      },
    });
    await expect(get()).rejects.toMatchObject({ type: 'UNAVAILABLE' });
  });
});

describe('of a task that waits for an approval', () => {
  const asks = (client: AskingClient) =>
    client.notified.find(({ method }) => method === 'elicitation/create');

  it('a client that opens URLs is asked to, and told once when that is done', async () => {
    const { get, client } = setUp({
      found: WAITING,
      opensUrls: true,
      async *news() {
        yield HALF;
        yield HALF;
        yield END;
      },
    });
    await get();
    expect(asks(client)).toMatchObject({ params: { url: 'https://gateway.example/v1/approvals/apr-1' } });
    expect(client.methods().filter((method) => method === 'notifications/elicitation/complete')).toHaveLength(
      1,
    );
  });

  it('any other client is asked nothing', async () => {
    const { get, client } = setUp({
      found: WAITING,
      async *news() {
        yield END;
      },
    });
    await get();
    expect(asks(client)).toBeUndefined();
  });

  it('who declines has it cancelled, and an answer after the end does nothing', async () => {
    const answered = async (when: 'before' | 'after') => {
      const { promise: decided, resolve: decide } = Promise.withResolvers<void>();
      const { get, client, questions, done } = setUp({
        found: WAITING,
        opensUrls: true,
        async *news() {
          await decided;
          yield END;
        },
      });
      const answer = get();
      await new Promise((next) => setImmediate(next));
      const { id } = asks(client) as unknown as { id: string };
      const say = async () => {
        questions.answered({ jsonrpc: '2.0', id, result: { action: 'decline' } });
        await new Promise((next) => setImmediate(next));
      };
      if (when === 'before') await say();
      decide();
      await answer;
      if (when === 'after') await say();
      return done;
    };
    expect(await answered('before')).toContain(`cancel ${ID}`);
    expect(await answered('after')).toEqual([]);
  });
});
