// What is configured for the agent of a call, in the places of a request: {config.name} and {sensitive_config.name}.
import type { JsonObject } from '../../../contract/json.ts';
import type { ToolCall } from '../../../contract/call/tool-call.ts';
import { parseTemplate, type Template } from '../../../lib/text/template.ts';

export function requestTemplate(text: string): Template {
  return parseTemplate(text, { ofAgent: true });
}

/** True of a placeholder that no argument fills, whatever it is called. */
export function isOfAgent(name: string): boolean {
  return name.includes('.');
}

type Values = (call: Pick<ToolCall, 'arguments' | 'config' | 'sensitiveConfig'>) => JsonObject;

/** `names`: of all placeholders of a request. The arguments, and beside them what the request takes of the configuration. */
export function valuesFor(names: readonly string[]): Values {
  const ofAgent = [...new Set(names)].filter(isOfAgent).map((name) => {
    const [part, field = ''] = name.split('.');
    return { name, isSecret: part === 'sensitive_config', field };
  });
  if (ofAgent.length === 0) return ({ arguments: args }) => args;
  return ({ arguments: args, config, sensitiveConfig }) => {
    const values: JsonObject = { ...args };
    // What is not set is left out, even where an argument has that very name.
    for (const { name, isSecret, field } of ofAgent)
      values[name] = (isSecret ? sensitiveConfig : config)[field] ?? null;
    return values;
  };
}
