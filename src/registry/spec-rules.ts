// SpecRules: what declarations are held to; CheckedTool: a declaration that was found good.
import type { ZodType } from 'zod';
import type { RawDeclaration } from '../contract/tool/loaded-tools.ts';
import type { ExecutorPlugin, OptionFault } from '../contract/plugin.ts';
import type { ToolFunction } from '../contract/tool/tool-function.ts';
import type { ToolSpec } from '../contract/tool/tool-spec.ts';

export interface SpecRules {
  /** By tool_type. */
  readonly executors: ReadonlyMap<string, ExecutorPlugin<unknown, never>>;
  /** Those whose options a tool may set, by name. */
  readonly extensions: ReadonlyMap<string, ExtensionRules>;
  /** What model providers refuse of a function, and are shown instead. Paths start from its input schema. */
  advise?(fn: ToolFunction): readonly OptionFault[];
  /** Those of gateway.yaml, by name: tools that name one are given its tokens. Left out: there are none. */
  readonly oauthProviders?: ReadonlyMap<string, OAuthProviderRules>;
  /** Types of connections that this gateway cannot serve, each with the reason. */
  readonly refusedConnections?: ReadonlyMap<string, string>;
}

export interface OAuthProviderRules {
  readonly hosts: readonly string[];
  /** Tools that run code may be given its tokens. */
  readonly handlers: boolean;
}

export interface ExtensionRules {
  readonly name: string;
  readonly optionsSchema: ZodType;
  shape?(spec: ToolSpec, options: unknown): ToolSpec;
  check?(fn: ToolFunction, options: unknown): readonly OptionFault[];
  /** The gateway's own options, which lie under every tool's. */
  readonly defaults?: { readonly [option: string]: unknown };
}

/** Keeps its identity over reloads for as long as its content stays the same. */
export interface CheckedTool {
  readonly spec: ToolSpec;
  /** implementation_config as the executor's schema read it. */
  readonly options: unknown;
  /** Options by extension, as its schema read them. */
  readonly extensionOptions: { readonly [extension: string]: unknown };
  /** The connection that the options name. */
  readonly connectionName?: string;
  /** Where it stands now: for problems that are found later. */
  readonly declaration: RawDeclaration;
}
