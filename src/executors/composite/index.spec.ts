// The composite executor: order, groups, lists, conditions, and what is said when a step fails. The pipeline is a fake.
import { describe, expect, it } from 'vitest';
import { callOf, functionOf, requestOf, specOf, compiledOf } from '../../../test/helpers/call-kit.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { CallEvent, ToolCall } from '../../contract/call/tool-call.ts';
import { ToolFailure, type FailureDetails } from '../../contract/call/tool-failure.ts';
import { refusalOf, successOf } from '../../core/settle.ts';
import type { ErrorType } from '../../contract/call/error-types.ts';
import type { NestedCalls } from '../../ports/nested-calls.ts';
import { snapshotOf } from '../../registry/tool-spec-registry.ts';
import { compositeExecutor } from './index.ts';

type Handler = (args: JsonObject, parent: ToolCall) => JsonValue | Promise<JsonValue>;
interface Made {
  readonly tool: string;
  readonly args: JsonObject;
}

/** Tools by name; those whose name begins with `read` are read-only. */
class FakePipeline implements NestedCalls {
  readonly made: Made[] = [];
  running = 0;
  mostAtOnce = 0;
  readonly #tools: Readonly<Record<string, Handler>>;

  constructor(tools: Readonly<Record<string, Handler>>) {
    this.#tools = tools;
  }

  async run(parent: ToolCall, tool: string, args: JsonObject) {
    this.made.push({ tool, args });
    this.mostAtOnce = Math.max(this.mostAtOnce, (this.running += 1));
    const step = callOf({ id: `step-${this.made.length}`, function: functionOf({ name: tool }) });
    step.progress.executorEntered = true;
    try {
      const handler = this.#tools[tool];
      if (handler === undefined) throw new ToolFailure('NOT_FOUND', 'There is no tool of this name.');
      return successOf(step, { data: await handler(args, parent) }, 1 << 26);
    } catch (error) {
      return refusalOf(step, error);
    } finally {
      this.running -= 1;
    }
  }

  get snapshot() {
    const functions = Object.keys(this.#tools).map((name) =>
      functionOf({ name, metadata: { readOnly: name.startsWith('read') } }),
    );
    return snapshotOf(
      functions.map(({ spec }) => spec),
      functions.map(compiledOf),
    );
  }
}

function fail(type: ErrorType, message: string, extra: FailureDetails = {}): () => never {
  return () => {
    throw new ToolFailure(type, message, extra);
  };
}

async function run(
  options: object,
  tools: Readonly<Record<string, Handler>>,
  input: JsonObject = {},
  signal?: AbortSignal,
) {
  const pipeline = new FakePipeline(tools);
  const { snapshot } = pipeline;
  const executor = compositeExecutor.create({ nestedCalls: pipeline });
  const prepared = await executor.prepare({
    function: functionOf({ name: 'whole' }),
    options: compositeExecutor.optionsSchema.parse(options),
  });
  const events: CallEvent[] = [];
  const call = callOf({ request: requestOf({ arguments: input }), snapshot, ...(signal && { signal }) });
  const outcome = await prepared
    .execute(call, (event) => void events.push(event))
    .catch((error: unknown) => error);
  return { pipeline, outcome, events, rendered: () => prepared.render?.(call) };
}

async function failureOf(
  ...args: Parameters<typeof run>
): Promise<{ failure: ToolFailure; pipeline: FakePipeline }> {
  const { outcome, pipeline } = await run(...args);
  expect(outcome).toBeInstanceOf(ToolFailure);
  return { failure: outcome as ToolFailure, pipeline };
}

const double: Handler = ({ n }) => ({ n: Number(n) * 2 });
const call = (id: string, tool: string, more: object = {}) => ({ id, tool, ...more });
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a composite', () => {
  it('passes results on, in order', async () => {
    const { outcome, pipeline } = await run(
      {
        steps: [
          call('first', 'double', { arguments: { n: { $: 'input.n' } } }),
          call('second', 'double', { arguments: { n: { $: 'steps.first.n' } } }),
        ],
        result: '{sum: sum([steps.first.n, steps.second.n])}',
      },
      { double },
      { n: 3 },
    );
    expect(outcome).toMatchObject({ data: { sum: 18 } });
    expect(pipeline.made.map(({ args }) => args)).toEqual([{ n: 3 }, { n: 6 }]);
  });

  it('without a result expression answers with the results of all steps by id', async () => {
    const { outcome } = await run(
      { steps: [call('a', 'double', { arguments: { n: 1 } }), call('b', 'none')] },
      { double, none: () => null },
    );
    expect(outcome).toMatchObject({ data: { a: { n: 2 }, b: null } });
  });

  it('runs the steps of a parallel group at once and what follows after all of them', async () => {
    const slow: Handler = async ({ n }) => {
      await turn();
      return n ?? null;
    };
    const { outcome, pipeline } = await run(
      {
        steps: [
          {
            parallel: [
              call('a', 'slow', { arguments: { n: 1 } }),
              call('b', 'slow', { arguments: { n: 2 } }),
            ],
          },
          call('c', 'slow', { arguments: { n: { $: '[steps.a, steps.b]' } } }),
        ],
        result: 'steps.c',
      },
      { slow },
    );
    expect(outcome).toMatchObject({ data: [1, 2] });
    expect(pipeline.mostAtOnce).toBe(2);
  });

  it('for_each calls once per entry, in as many at a time as said, and keeps the order', async () => {
    const slow: Handler = async ({ n }) => {
      for (let turns = 5 - Number(n); turns > 0; turns -= 1) await turn();
      return n ?? null;
    };
    const { outcome, pipeline } = await run(
      {
        steps: [
          call('each', 'slow', {
            for_each: 'input.list',
            concurrency: 3,
            arguments: { n: { $: 'item' }, at: { $: 'index' } },
          }),
        ],
      },
      { slow },
      { list: [0, 1, 2, 3, 4] },
    );
    expect(outcome).toMatchObject({ data: { each: [0, 1, 2, 3, 4] } });
    expect(pipeline.mostAtOnce).toBe(3);
    expect(pipeline.made.map(({ args }) => args['at'])).toEqual([0, 1, 2, 3, 4]);
  });

  it('leaves out a step whose condition is not true', async () => {
    const { outcome, pipeline, events } = await run(
      {
        steps: [
          call('a', 'double', { when: 'input.go', arguments: { n: 1 } }),
          call('b', 'double', { when: '!(input.go)', arguments: { n: 2 } }),
        ],
      },
      { double },
      { go: false },
    );
    expect(outcome).toMatchObject({ data: { a: null, b: { n: 4 } } });
    expect(pipeline.made).toHaveLength(1);
    expect(events).toEqual([
      { kind: 'progress', fraction: 0.5, message: 'step a skipped' },
      { kind: 'progress', fraction: 1, message: 'step b ended' },
    ]);
  });

  it('on_error: continue gives null and tells the error to later steps', async () => {
    const { outcome } = await run(
      {
        steps: [
          call('a', 'bad', { on_error: 'continue' }),
          call('b', 'double', { when: 'errors.a', arguments: { n: 1 } }),
        ],
        result: '{a: steps.a, why: errors.a.reason, b: steps.b.n}',
      },
      { double, bad: fail('TRANSIENT', 'down', { reason: 'DOWN', origin: 'tool' }) },
    );
    expect(outcome).toMatchObject({ data: { a: null, why: 'DOWN', b: 2 } });
  });
});

describe('a step that fails', () => {
  it('ends the whole with its type and reason, and the list of what ran', async () => {
    const { failure, pipeline } = await failureOf(
      { steps: [call('a', 'write'), call('b', 'bad'), call('c', 'write')] },
      {
        write: () => 1,
        bad: fail('TRANSIENT', 'try later', { reason: 'BUSY', origin: 'tool', retryAfterMs: 50 }),
      },
    );
    expect(failure).toMatchObject({
      type: 'TRANSIENT',
      reason: 'BUSY',
      origin: 'tool',
      retryAfterMs: 50,
      message: 'The step "b" (bad) failed: try later',
      partialSideEffects: true,
      retryable: false,
      details: {
        step: 'b',
        steps: [
          { id: 'a', tool: 'write', outcome: 'ok', call_id: 'step-1' },
          { id: 'b', tool: 'bad', outcome: 'TRANSIENT', call_id: 'step-2' },
        ],
      },
    });
    expect(pipeline.made.map(({ tool }) => tool)).toEqual(['write', 'bad']);
  });

  it('after read-only steps leaves no side effects, and may be tried again', async () => {
    const { failure } = await failureOf(
      { steps: [call('a', 'read_it'), call('b', 'read_bad')] },
      { read_it: () => 1, read_bad: fail('TRANSIENT', 'no', { partialSideEffects: false }) },
    );
    expect(failure).toMatchObject({ partialSideEffects: false, retryable: true });
  });

  it('in a group waits for its neighbours, so that the report is whole', async () => {
    const { failure } = await failureOf(
      { steps: [{ parallel: [call('a', 'bad'), call('b', 'write')] }, call('c', 'write')] },
      {
        bad: fail('PERMANENT', 'no'),
        write: async () => {
          await turn();
          return 1;
        },
      },
    );
    expect(failure.details['steps']).toMatchObject([
      { id: 'a', outcome: 'PERMANENT' },
      { id: 'b', outcome: 'ok' },
    ]);
  });

  it('inside a for_each starts no further entry', async () => {
    const { failure, pipeline } = await failureOf(
      { steps: [call('each', 'some', { for_each: 'input.list', arguments: { n: { $: 'item' } } })] },
      { some: ({ n }) => (n === 2 ? fail('PERMANENT', 'two')() : 1) },
      { list: [1, 2, 3, 4] },
    );
    expect(pipeline.made).toHaveLength(2);
    expect(failure.details['steps']).toEqual([
      { id: 'each', tool: 'some', outcome: 'PERMANENT', call_id: 'step-2', calls: 2, failed: 1 },
    ]);
  });

  it('for want of approval says where the approval is and which call it is for', async () => {
    const { failure } = await failureOf(
      { steps: [call('rm', 'danger', { arguments: { id: { $: 'input.id' } } })] },
      {
        danger: fail('CONFIRMATION_REQUIRED', 'needs approval', {
          details: { approval_id: 'a1', approval_url: '/v1/approvals/a1' },
          partialSideEffects: false,
        }),
      },
      { id: 7 },
    );
    expect(failure).toMatchObject({
      type: 'CONFIRMATION_REQUIRED',
      origin: 'gateway',
      partialSideEffects: false,
      details: {
        approval_id: 'a1',
        approval_url: '/v1/approvals/a1',
        step: 'rm',
        call: { tool: 'danger', arguments: { id: 7 } },
      },
    });
  });
});

describe('what bounds a composite', () => {
  it('a call that is cancelled starts no further step and ends with its own reason', async () => {
    const controller = new AbortController();
    const reason = new ToolFailure('CANCELLED', 'gone');
    const { outcome, pipeline } = await run(
      { steps: [call('a', 'stop'), call('b', 'write')] },
      {
        stop: () => {
          controller.abort(reason);
          return 1;
        },
        write: () => 1,
      },
      {},
      controller.signal,
    );
    expect(outcome).toBe(reason);
    expect(pipeline.made).toHaveLength(1);
  });

  it('a tool that is not there is found out before the first step runs', async () => {
    const { failure, pipeline } = await failureOf(
      { steps: [call('a', 'write'), call('b', 'nowhere')] },
      { write: () => 1 },
    );
    expect(failure).toMatchObject({
      type: 'NOT_FOUND',
      reason: 'STEP_TOOL_NOT_FOUND',
      partialSideEffects: false,
      details: { step: 'b' },
    });
    expect(pipeline.made).toEqual([]);
  });

  it.each([
    ['no list', { list: 'text' }, 'FOR_EACH_NOT_A_LIST'],
    ['too long a list', { list: [1, 2, 3] }, 'FOR_EACH_TOO_LONG'],
  ])('for_each with %s calls nothing', async (_what, input, reason) => {
    const { failure, pipeline } = await failureOf(
      { steps: [call('each', 'write', { for_each: 'input.list', max_items: 2 })] },
      { write: () => 1 },
      input,
    );
    expect(failure).toMatchObject({ type: 'PERMANENT', origin: 'tool', reason });
    expect(pipeline.made).toEqual([]);
  });

  it('results that are too large together end the run', async () => {
    const large = 'x'.repeat(9 * 1024 * 1024);
    const { failure } = await failureOf(
      { steps: [call('a', 'read'), call('b', 'read')] },
      { read: () => large },
    );
    expect(failure).toMatchObject({ type: 'OUTPUT_TOO_LARGE', reason: 'STEPS_TOO_LARGE' });
  });
});

describe('a dry run', () => {
  it('shows the steps, with what the arguments decide filled in, and calls nothing', async () => {
    const { rendered, pipeline } = await run(
      {
        steps: [
          call('a', 'double', { when: 'input.n > `9`', arguments: { n: { $: 'input.n' }, fixed: 1 } }),
          {
            parallel: [
              call('b', 'double', { arguments: { n: { $: 'steps.a.n' } } }),
              call('c', 'double', { for_each: 'steps.a.list', arguments: { n: { $: 'item' } } }),
            ],
          },
        ],
      },
      { double },
      { n: 3 },
    );
    pipeline.made.length = 0;
    expect(await rendered()).toEqual({
      steps: [
        { id: 'a', tool: 'double', arguments: { n: 3, fixed: 1 }, when: false, on_error: 'stop' },
        {
          parallel: [
            { id: 'b', tool: 'double', arguments: { n: { $: 'steps.a.n' } }, on_error: 'stop' },
            {
              id: 'c',
              tool: 'double',
              arguments: { n: { $: 'item' } },
              for_each: { $: 'steps.a.list' },
              max_items: 100,
              on_error: 'stop',
            },
          ],
        },
      ],
    });
    expect(pipeline.made).toEqual([]);
  });
});

describe('at load', () => {
  const problems = (options: object) =>
    compositeExecutor.optionsSchema
      .safeParse(options)
      .error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);

  it.each([
    [
      { steps: [call('a', 't', { arguments: { x: { $: 'steps.b' } } }), call('b', 't')] },
      'steps.0.arguments.x: the step "b" has not ended here',
    ],
    [
      { steps: [call('a', 't', { arguments: { x: [{ $: 'steps.a' }] } })] },
      'steps.0.arguments.x.0: the step "a" has not ended here',
    ],
    [
      { steps: [{ parallel: [call('a', 't'), call('b', 't', { when: 'steps.a' })] }] },
      'steps.0.parallel.1.when: the step "a" has not ended here',
    ],
    [{ steps: [call('a', 't'), call('a', 't')] }, 'steps.1.id: the step "a" is declared twice'],
    [{ steps: [call('a', 't')], result: 'steps.c' }, 'result: there is no step "c"'],
    [
      { steps: [call('a', 't', { arguments: { $: 'input' } })] },
      'steps.0.arguments: expected a map of arguments by name',
    ],
    [
      { steps: [call('a', 't', { max_items: 5 })] },
      'steps.0.max_items: max_items is for a step with for_each',
    ],
    [
      { steps: [call('a', 't', { arguments: { x: { $: 'item' } } })] },
      'steps.0.arguments.x: "item" is no name here',
    ],
    [
      {
        steps: Array.from({ length: 26 }, (_, n) => ({ parallel: [call(`a${n}`, 't'), call(`b${n}`, 't')] })),
      },
      'steps: expected at most 50 steps, found 52',
    ],
  ])('case %#: the place and the reason', (options, expected) => {
    expect(problems(options)?.[0]).toContain(expected);
  });

  it('names the arguments it needs, so that the registry can hold them to the input schema', () => {
    const options = compositeExecutor.optionsSchema.parse({
      steps: [
        call('a', 't', {
          when: 'input.go',
          for_each: 'input.list[*].id',
          arguments: { x: { $: 'join(`-`, [input.name])' } },
        }),
      ],
      result: '{n: input.n}',
    });
    expect(compositeExecutor.placeholders?.(options)).toEqual([
      { name: 'go', path: ['steps', '0', 'when'] },
      { name: 'list', path: ['steps', '0', 'for_each'] },
      { name: 'name', path: ['steps', '0', 'arguments'] },
      { name: 'n', path: ['result'] },
    ]);
  });

  it('a step may not call the tool it is a step of, and a composite has no actions', () => {
    const executor = compositeExecutor.create({ nestedCalls: new FakePipeline({}) });
    const options = compositeExecutor.optionsSchema.parse({ steps: [call('a', 'whole')] });
    expect(() => executor.prepare({ function: functionOf({ name: 'whole' }), options })).toThrow(
      'The step "a" calls the tool that it is a step of.',
    );
    const action = { name: 'act', description: 'Acts', parameters: [] };
    const withAction = { ...functionOf(), spec: specOf({ actions: [action] }), action };
    expect(() => executor.prepare({ function: withAction, options })).toThrow('has no actions');
  });
});
