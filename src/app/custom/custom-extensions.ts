// Loads an operator's own extensions from the paths that gateway.yaml names. They run inside the gateway: trusted code.
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { fromHooks } from '../../core/from-hooks.ts';
import type { AnyExtensionPlugin } from '../../extensions/index.ts';

export interface CustomExtension {
  readonly plugin: AnyExtensionPlugin;
  readonly priority: number;
}

/** What the module's `plugin` function is given, so that it needs no import of ours. */
const EXTENSION_API = Object.freeze({ fromHooks, ToolFailure, z });

/** Throws Error with the module's path and what was expected of it. */
export async function loadCustomExtensions(
  entries: readonly { path: string; priority: number }[],
): Promise<readonly CustomExtension[]> {
  return Promise.all(
    entries.map(async ({ path, priority }) => ({ plugin: await loadPlugin(path), priority })),
  );
}

async function loadPlugin(path: string): Promise<AnyExtensionPlugin> {
  let exported: { plugin?: unknown };
  try {
    exported = (await import(pathToFileURL(path).href)) as { plugin?: unknown };
  } catch (cause) {
    throw new Error(`custom extension ${path} cannot be imported: ${String(cause)}`, { cause });
  }
  if (typeof exported.plugin !== 'function') {
    throw new Error(
      `custom extension ${path} must export a function \`plugin\` that returns name, summary and create`,
    );
  }
  const plugin = (exported.plugin as (api: typeof EXTENSION_API) => Partial<AnyExtensionPlugin>)(
    EXTENSION_API,
  );
  const { name, summary, create, check, optionsSchema = z.strictObject({}) } = plugin;
  if (typeof name !== 'string' || typeof summary !== 'string' || typeof create !== 'function') {
    throw new Error(`custom extension ${path}: plugin() must return {name, summary, create, optionsSchema?}`);
  }
  return { name, summary, create, check, optionsSchema };
}
