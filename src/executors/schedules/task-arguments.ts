// What the arguments and the agent's configuration say, read as what they have to be.
import type { JsonObject } from '../../contract/json.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { wrongArgument } from './argument-failure.ts';

/** Throws ToolFailure VALIDATION. */
export function textIn(args: JsonObject, name: string): string {
  const said = args[name];
  if (typeof said === 'string' && said.trim() !== '') return said;
  throw wrongArgument(`/${name}`, 'must be a text that is not empty');
}

/** The argument goes before what is configured for the agent. */
export function zoneOf({ arguments: args, config }: ToolCall): { readonly timeZone?: string } {
  const zone = args['time_zone'] ?? config['time_zone'];
  return typeof zone === 'string' ? { timeZone: zone } : {};
}

export function countIn(args: JsonObject, name: string, most: number): number {
  const said = args[name];
  return typeof said === 'number' ? Math.min(Math.max(1, Math.trunc(said)), most) : most;
}
