// What a tool's declaration is held to: the shelves of executors and extensions. One for the server and for `ute validate`.
import { EXECUTORS, type AnyExecutorPlugin } from '../../executors/index.ts';
import { audit } from '../../extensions/audit/index.ts';
import { TOOL_EXTENSIONS, type AnyExtensionPlugin } from '../../extensions/index.ts';
import { providerAdvice } from '../../formats/provider-advice.ts';
import type { SpecRules } from '../../registry/checks/spec-validation.ts';
import type { OAuthProviderRules } from '../../registry/spec-rules.ts';

/**
 * Request-stage extensions run before the tool is known, so a tool cannot set their options. Audit alone looks at the
 * tool that is asked for by itself: how a call is recorded depends on what it may do.
 */
export function specRules(
  customToolExtensions: readonly AnyExtensionPlugin[] = [],
  customExecutors: readonly AnyExecutorPlugin[] = [],
  extensionDefaults: { readonly [extension: string]: { readonly [option: string]: unknown } } = {},
  oauthProviders: { readonly [name: string]: OAuthProviderRules } = {},
): SpecRules {
  const extensions: readonly AnyExtensionPlugin[] = [audit, ...TOOL_EXTENSIONS, ...customToolExtensions];
  return {
    executors: new Map([...EXECUTORS, ...customExecutors].map((plugin) => [plugin.name, plugin])),
    extensions: new Map(
      extensions.map((plugin) => [plugin.name, { ...plugin, defaults: extensionDefaults[plugin.name] }]),
    ),
    advise: providerAdvice,
    oauthProviders: new Map(Object.entries(oauthProviders)),
  };
}
