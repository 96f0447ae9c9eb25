// Serves subscriptions/listen of 2026-07-28, or says why not.
import { ProtocolError } from '@modelcontextprotocol/server';
import type { FastifyReply } from 'fastify';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { TaskWatch, WatchedTasks } from '../tasks/task-watch.ts';
import { declaredIn, opensUrlsNow, takesTasks, tasksMissing } from '../protocol/client-capabilities.ts';
import type { Exchange } from '../protocol/exchange.ts';
import type { ListChanges, Listener, Wish } from './list-changes.ts';
import { listenFilterOf } from './listen-filter.ts';
import { faultOf, NO_EVENTS, TOO_MANY_STREAMS, type RpcFault } from '../protocol/rpc-fault.ts';
import { INVALID_PARAMS } from '../protocol/told-failure.ts';

export interface ListenDeps {
  readonly changes: Pick<ListChanges, 'listen'>;
  readonly watch: Pick<TaskWatch, 'open'>;
}

/** Resolves when the stream is over; to why there is none. */
export async function listen(
  { changes, watch }: ListenDeps,
  reply: FastifyReply,
  exchange: Exchange,
  listener: Listener,
  params: JsonObject | undefined,
): Promise<RpcFault | undefined> {
  if (!exchange.asked.takesEvents) return NO_EVENTS;
  try {
    const wish = wishOf(watch, exchange, params);
    return (await changes.listen(reply, exchange, listener, wish)) ? undefined : TOO_MANY_STREAMS;
  } catch (error) {
    if (error instanceof ToolFailure) return faultOf(error);
    if (!(error instanceof ProtocolError)) throw error;
    const { code, message, data } = error;
    // As the other methods answer: HTTP has nothing against the request.
    return { status: code === INVALID_PARAMS ? 200 : 400, code, message, data };
  }
}

const NO_TASKS: WatchedTasks = { agreed: [], changes: (async function* none() {})() };

function wishOf(watch: ListenDeps['watch'], exchange: Exchange, params: JsonObject | undefined): Wish {
  const { toolsListChanged, taskIds } = listenFilterOf(params);
  const declared = declaredIn(params);
  if (taskIds === undefined) return { toolsListChanged, watch: async () => NO_TASKS };
  if (!takesTasks(declared)) throw tasksMissing();
  const asker = { exchange, opensUrls: opensUrlsNow(declared) };
  const open: Wish['watch'] = (gone) => watch.open(taskIds, params ?? {}, asker, gone);
  return { toolsListChanged, watch: open };
}
