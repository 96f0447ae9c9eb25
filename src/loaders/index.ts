// The list of loaders. A folder's name is the `type` that selects it in gateway.yaml.
import type { LoaderPlugin } from '../contract/plugin.ts';
import type { Ports } from '../ports/ports.ts';
import { openApiLoader } from './openapi/index.ts';
import { pythonModuleLoader } from './python-module/index.ts';
import { yamlFileLoader } from './yaml-file/index.ts';

export interface LoaderNeeds extends Ports {
  /** Absolute folder of gateway.yaml, where its relative paths start. */
  readonly configDir: string;
}

export type AnyLoaderPlugin = LoaderPlugin<unknown, LoaderNeeds>;

export const LOADERS: readonly AnyLoaderPlugin[] = [yamlFileLoader, openApiLoader, pythonModuleLoader];
