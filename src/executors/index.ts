// The list of executors. A folder's name is the tool_type that selects it.
import type { ExecutorPlugin } from '../contract/plugin.ts';
import type { Ports } from '../ports/ports.ts';
import { compositeExecutor } from './composite/index.ts';
import { grpcExecutor } from './grpc/index.ts';
import { httpExecutor } from './http/index.ts';
import { javascriptExecutor } from './javascript/index.ts';
import { mcpExecutor } from './mcp/index.ts';
import { planExecutor } from './plan/index.ts';
import { pythonExecutor } from './python/index.ts';
import { schedulesExecutor } from './schedules/index.ts';
import { shellExecutor } from './shell/index.ts';
import { smtpExecutor } from './smtp/index.ts';
import { sqlExecutor } from './sql/index.ts';
import { toolDocsExecutor } from './tool-docs/index.ts';
import { webPageExecutor } from './web-page/index.ts';

/** What an executor may ask for: ports, and its own section of gateway.yaml's `executors`, checked by its schema. */
export interface ExecutorNeeds extends Ports {
  /** As the executor's own settingsSchema made it: only the executor knows its type. */
  readonly settings: never;
}

export type AnyExecutorPlugin = ExecutorPlugin<unknown, ExecutorNeeds>;

export const EXECUTORS: readonly AnyExecutorPlugin[] = [
  compositeExecutor,
  grpcExecutor,
  httpExecutor,
  javascriptExecutor,
  mcpExecutor,
  planExecutor,
  pythonExecutor,
  schedulesExecutor,
  shellExecutor,
  smtpExecutor,
  sqlExecutor,
  toolDocsExecutor,
  webPageExecutor,
];
