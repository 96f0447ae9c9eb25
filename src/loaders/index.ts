// The list of loaders. A folder's name is the `type` that selects it in gateway.yaml.
import type { EntryProblem, LoaderPlugin } from '../contract/plugin.ts';
import type { Ports } from '../ports/ports.ts';
import type { SpecReader } from '../ports/registry/spec-store.ts';
import { grpcLoader } from './grpc/index.ts';
import { httpLoader } from './http/index.ts';
import { mcpServerLoader } from './mcp-server/index.ts';
import { openApiLoader } from './openapi/index.ts';
import { packLoader } from './pack/index.ts';
import { postgresLoader } from './postgres/index.ts';
import { pythonModuleLoader } from './python-module/index.ts';
import { toolFolderLoader } from './tool-folder/index.ts';
import { yamlFileLoader } from './yaml-file/index.ts';

/** What a loader may ask for. */
type LoaderPort =
  | 'clock'
  | 'trustedDefinitions'
  | 'grpcUpstreams'
  | 'http'
  | 'log'
  | 'mcpServers'
  | 'metrics'
  | 'spawner';

export interface LoaderNeeds extends Pick<Ports, LoaderPort> {
  readonly specs: SpecReader;
  /** Absolute folder of gateway.yaml, where its relative paths start. */
  readonly configDir: string;
  /** Absolute folder of what the gateway keeps. */
  readonly dataDir: string;
  readonly entryProblem: EntryProblem;
}

export type AnyLoaderPlugin = LoaderPlugin<unknown, LoaderNeeds>;

export const LOADERS: readonly AnyLoaderPlugin[] = [
  yamlFileLoader,
  httpLoader,
  openApiLoader,
  pythonModuleLoader,
  grpcLoader,
  mcpServerLoader,
  packLoader,
  toolFolderLoader,
  postgresLoader,
];
