// What the server of an era does with requests about tasks: those of 2025-11-25, or of the extension of 2026-07-28.
import {
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolError,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject } from '../../../contract/json.ts';
import { ANY_PARAMS } from '../protocol/any-params.ts';
import { opensUrlsNow, takesTasks, tasksMissing } from '../protocol/client-capabilities.ts';
import type { EraServer } from '../protocol/era-server.ts';
import type { Era, Exchange } from '../protocol/exchange.ts';
import { opensUrls, type LogLevels } from '../protocol/legacy-session.ts';
import { INVALID_PARAMS, toldByProtocol } from '../protocol/told-failure.ts';
import { emitTo, type Listener } from '../tools/call-events.ts';
import type { Result } from '../tools/write-tool-result.ts';
import { taskIdOf, type TaskParams } from './task-params.ts';
import { RELATED_TASK, type TaskResults } from './task-results.ts';
import type { TaskAsker, Tasks } from './tasks.ts';

export interface ServedTasks {
  readonly tasks: Tasks;
  readonly results: TaskResults;
  readonly levels: LogLevels;
}

type McpRequest = ServerContext['mcpReq'];

export function serveTasks(server: EraServer, era: Era, { tasks, results, levels }: ServedTasks): void {
  const on = (
    method: string,
    answer: (params: TaskParams, asker: TaskAsker, request: McpRequest) => Promise<Result>,
  ) =>
    server.setRequestHandler(method, { params: ANY_PARAMS }, (params, { mcpReq }) => {
      const exchange = server.door.exchangeOf(mcpReq.id);
      if (era === 'modern' && !takesTasks(envelopeOf(mcpReq)[CLIENT_CAPABILITIES_META_KEY]))
        throw tasksMissing();
      return toldByProtocol(exchange, () => answer(params, askerOf(exchange, mcpReq), mcpReq));
    });
  on('tasks/get', (params, asker) => tasks.get(params, asker));
  on('tasks/cancel', (params, asker) => tasks.cancel(params, asker));
  if (era === 'modern') {
    on('tasks/update', (params, asker, { inputResponses }) => {
      if (isJsonObject(inputResponses)) return tasks.update(params, inputResponses, asker);
      throw new ProtocolError(
        INVALID_PARAMS,
        'params.inputResponses must be an object: an answer for each key.',
      );
    });
    return;
  }
  on('tasks/list', (params, asker) => tasks.list(params, asker));
  on('tasks/result', (params, asker) => {
    const { exchange } = asker;
    const { progressToken } = isJsonObject(params._meta) ? params._meta : {};
    const wanted = { progressToken, logLevel: levels.of(exchange.asked.session) };
    return results.get(params, asker, emitTo(aboutTask(exchange, taskIdOf(params)), wanted));
  });
}

export function askerOf(exchange: Exchange, request: Pick<McpRequest, 'envelope'>): TaskAsker {
  const { era, session, takesEvents } = exchange.asked;
  const opens =
    era === 'modern'
      ? opensUrlsNow(envelopeOf(request)[CLIENT_CAPABILITIES_META_KEY])
      : opensUrls(session) && takesEvents;
  return { exchange, opensUrls: opens };
}

function envelopeOf({ envelope }: Pick<McpRequest, 'envelope'>): JsonObject {
  return { ...envelope };
}

/** Whatever is told of a task names it. */
function aboutTask(exchange: Exchange, taskId: string): Listener {
  return {
    asked: exchange.asked,
    notify: ({ params, ...message }, mayBeLeftOut) => {
      const _meta = { ...params?._meta, [RELATED_TASK]: { taskId } };
      exchange.notify({ ...message, params: { ...params, _meta } }, mayBeLeftOut);
    },
  };
}
