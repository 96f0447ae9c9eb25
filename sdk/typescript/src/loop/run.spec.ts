import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { Envelope } from '../generated/gateway.ts';
import { run, type ModelFunction, type RunOptions } from './run.ts';
import { refused, type Toolbox } from './toolbox.ts';

const SAID = [{ role: 'user', content: 'go' }];

function toolbox(answer: (name: string, args: object) => Envelope | Promise<Envelope>) {
  const call = vi.fn<Toolbox['call']>(async (name, args) => answer(name, args));
  return { as: async () => [], list: async () => [], call } satisfies Toolbox;
}
const succeeds = (data: unknown): Envelope => ({
  ...refused('INTERNAL', '', ''),
  ok: true,
  data,
  intents: [],
});
const waiting = (): Envelope => {
  const { meta, error } = refused('CONFIRMATION_REQUIRED', 'APPROVAL_REQUIRED', 'A human has to approve it.');
  return {
    ok: false,
    meta,
    error: { ...error, details: { approval_id: 'ap-1', confirmation_token: 'tok' } },
  };
};

/** Asks for so many calls in each of its first turns, and then answers. */
function talker(callsPerTurn: readonly number[], tokens = 10): ModelFunction {
  let turn = 0;
  return async () => {
    const count = callsPerTurn[turn] ?? 0;
    turn += 1;
    const calls = Array.from({ length: count }, (_, at) => ({
      id: `c${turn}-${at}`,
      name: 'add',
      arguments: { at },
    }));
    return { text: `turn ${turn}`, calls, usage: { inputTokens: tokens, outputTokens: 0 } };
  };
}

interface Message {
  readonly role: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string }[];
}
/** Every call in the messages has an answer behind it: another run, or a provider, takes them. */
function unanswered(messages: readonly unknown[]): string[] {
  const all = messages as Message[];
  const answered = new Set(all.map((each) => each.tool_call_id));
  return all
    .flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id))
    .filter((id) => !answered.has(id));
}

describe('the loop', () => {
  it('ends with the model’s answer, and gives it what the tools said', async () => {
    const tools = toolbox((_, args) => succeeds(args));
    const result = await run(talker([2, 1]), tools, SAID);
    expect(result).toMatchObject({ reason: 'answered', text: 'turn 3', turns: 3, calls: 3 });
    expect(result.messages.at(2)).toEqual({ role: 'tool', tool_call_id: 'c1-0', content: '{"at":0}' });
    expect(result.usage).toEqual({ inputTokens: 30, outputTokens: 0 });
  });

  it('keeps its limits, and leaves no call without an answer', async () => {
    const limits = fc.record(
      {
        turns: fc.integer({ min: 0, max: 6 }),
        tokens: fc.integer({ min: 0, max: 60 }),
        calls: fc.integer({ min: 0, max: 8 }),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 8 }),
        limits,
        async (wanted, limits) => {
          const tools = toolbox(() => succeeds(1));
          const result = await run(talker(wanted), tools, SAID, { limits });
          expect(result.turns).toBeLessThanOrEqual(limits.turns ?? 10);
          expect(tools.call.mock.calls.length).toBeLessThanOrEqual(limits.calls ?? Infinity);
          // What was spent before the last turn was below the limit.
          expect((result.turns - 1) * 10 < (limits.tokens ?? Infinity) || result.turns <= 1).toBe(true);
          expect(unanswered(result.messages)).toEqual([]);
          expect(result.messages.slice(0, 1)).toEqual(SAID);
        },
      ),
    );
  });

  it('tells the model what it got wrong, and goes on', async () => {
    let turn = 0;
    const model: ModelFunction = async () => {
      turn += 1;
      if (turn > 1) return { text: 'I see.' };
      return {
        calls: [{ id: 'c', name: 'add', arguments: undefined, problem: 'The arguments are not JSON.' }],
      };
    };
    const tools = toolbox(() => succeeds(1));
    const { messages, reason } = await run(model, tools, SAID);
    expect(reason).toBe('answered');
    expect(tools.call).not.toHaveBeenCalled();
    expect(JSON.stringify(messages)).toContain('ARGUMENTS_NOT_JSON');
  });

  it('stops where a human has to approve, if it is told to, and says what', async () => {
    const onApproval = vi.fn<NonNullable<RunOptions['onApproval']>>();
    const options = { approvals: 'stop', onApproval } as const;
    const result = await run(talker([1, 1]), toolbox(waiting), SAID, options);
    expect(result).toMatchObject({ reason: 'approval_required', turns: 1 });
    expect(result.approvals[0]?.asked).toMatchObject({ approvalId: 'ap-1', confirmationToken: 'tok' });
    expect(onApproval).toHaveBeenCalledOnce();
    expect(unanswered(result.messages)).toEqual([]);
  });

  it('never shows the model a token that redeems an approval', async () => {
    const result = await run(talker([1]), toolbox(waiting), SAID);
    expect(JSON.stringify(result.messages)).toContain('ap-1');
    expect(JSON.stringify(result.messages)).not.toContain('tok"');
  });

  it('waits for the decision, if it is told to', async () => {
    const tools = toolbox(() => succeeds(1));
    await run(talker([1]), tools, SAID, { approvals: 'wait' });
    expect(tools.call.mock.calls[0]?.[2]).toMatchObject({ waitForApproval: true });
  });

  it('ends when its caller has had enough, also while the model thinks', async () => {
    const stop = new AbortController();
    const model: ModelFunction = ({ signal }) => {
      queueMicrotask(() => stop.abort());
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('in its own words')), { once: true });
      });
    };
    const result = await run(
      model,
      toolbox(() => succeeds(1)),
      SAID,
      { signal: stop.signal },
    );
    expect(result).toMatchObject({ reason: 'cancelled', messages: SAID });
  });

  it('ends when its time is over', async () => {
    const model: ModelFunction = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('late')), { once: true });
      });
    const result = await run(
      model,
      toolbox(() => succeeds(1)),
      SAID,
      { limits: { timeMs: 5 } },
    );
    expect(result.reason).toBe('time_limit');
  });

  it('rejects with what the model rejects with', async () => {
    const model: ModelFunction = async () => {
      throw new Error('no quota');
    };
    await expect(
      run(
        model,
        toolbox(() => succeeds(1)),
        SAID,
      ),
    ).rejects.toThrow('no quota');
  });
});
