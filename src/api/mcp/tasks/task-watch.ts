// TaskWatch: what becomes of a client's own tasks, for those that listen: notifications/tasks of 2026-07-28.
import type { AsyncCalls } from '../../../calls/async-calls.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { StoredCall } from '../../../ports/calls/call-store.ts';
import { calledForOf, type TaskParams } from './task-params.ts';
import { principalOf, type TaskAsker, type Tasks } from './tasks.ts';

export interface TaskWatchDeps {
  readonly tasks: Pick<Tasks, 'own' | 'detailed'>;
  readonly calls: Pick<AsyncCalls, 'watch'>;
}

export interface WatchedTasks {
  /** Those that are told of: the caller's own, as many as there is room for. */
  readonly agreed: readonly string[];
  /** JSON text of the fields of a task as it is now: each at first, then whenever it has changed, until all are over. */
  readonly changes: AsyncIterable<string>;
}

export class TaskWatch {
  readonly #deps: TaskWatchDeps;

  constructor(deps: TaskWatchDeps) {
    this.#deps = deps;
  }

  /** Throws ToolFailure. */
  async open(
    ids: readonly string[],
    params: TaskParams,
    asker: TaskAsker,
    gone: AbortSignal,
  ): Promise<WatchedTasks> {
    const principal = principalOf(asker.exchange);
    const of = calledForOf(params, asker.exchange);
    const own = async (id: string): Promise<boolean> => {
      try {
        await this.#deps.tasks.own(principal, id, of);
        return true;
      } catch (error) {
        if (error instanceof ToolFailure && error.type === 'NOT_FOUND') return false;
        throw error;
      }
    };
    const found = await Promise.all(ids.map(own));
    const visible = ids.filter((_id, at) => found[at]);
    const { ids: agreed, changes } = this.#deps.calls.watch(principal, visible, gone);
    return { agreed, changes: this.#told(changes, asker) };
  }

  async *#told(changes: AsyncIterable<StoredCall>, asker: TaskAsker): AsyncIterable<string> {
    for await (const call of changes) {
      const { fields, pasted } = await this.#deps.tasks.detailed(call, asker);
      const text = JSON.stringify(fields).slice(1, -1);
      yield pasted === undefined ? text : `${text},${pasted}`;
    }
  }
}
