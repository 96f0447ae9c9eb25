// What a server is started with: its program found, and installed before where it comes in a package.
import { withoutCovered } from '../../../lib/files/program-needs.ts';
import type { McpPackage, McpServerSettings } from '../../../ports/egress/mcp-servers.ts';

export interface Packages {
  /** Throws ToolFailure UNAVAILABLE (PACKAGE_NOT_INSTALLED), or the signal's reason. */
  ready(
    asked: McpPackage,
    confined: boolean,
    signal: AbortSignal,
  ): Promise<{
    readonly argv: readonly string[];
    readonly env: { readonly [name: string]: string };
    readonly folders: readonly string[];
    readonly readable: readonly string[];
  }>;
}

export async function startedFrom(
  settings: McpServerSettings,
  packages: Packages,
  signal: AbortSignal,
): Promise<McpServerSettings> {
  if (settings.kind === 'http' || settings.package === undefined) return settings;
  const { package: asked, ...rest } = settings;
  const { argv, env, folders, readable } = await packages.ready(
    asked,
    settings.sandbox === 'required',
    signal,
  );
  const { PATH = '' } = settings.env;
  return {
    ...rest,
    argv: [...argv, ...settings.argv],
    env: { ...env, ...settings.env, PATH: [...new Set([...folders, ...PATH.split(':')])].join(':') },
    readable: withoutCovered([...readable, ...settings.readable]),
  };
}
