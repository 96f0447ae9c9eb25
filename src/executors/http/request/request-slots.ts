// Request slots: every place of a request that takes an argument, with its path in the options.
import type { JsonValue } from '../../../contract/json.ts';
import type { HttpOptions, RequestOptions } from '../options-schema.ts';
import { requestTemplate } from './agent-values.ts';

export interface RequestSlot {
  /** Name of the argument. */
  readonly name: string;
  readonly path: readonly string[];
}

/** The slots of the one request, or of every action's; those paths begin with `actions` and the action's name. */
export function slotsOfOptions({ actions, ...own }: HttpOptions): readonly RequestSlot[] {
  if (actions === undefined) return slotsOfRequest(own);
  return Object.entries(actions).flatMap(([action, request]) =>
    slotsOfRequest(request).map(({ name, path }) => ({ name, path: ['actions', action, ...path] })),
  );
}

export function slotsOfRequest(request: RequestOptions): readonly RequestSlot[] {
  const { url, path, query, headers, header_arguments: styled, cookies, body } = request;
  const slots: RequestSlot[] = [];
  if (url !== undefined) addTemplate(url, ['url'], slots);
  if (path !== undefined) addTemplate(path, ['path'], slots);
  if (query !== undefined && query !== 'remaining') {
    for (const [name, value] of Object.entries(query)) {
      if (typeof value === 'string') addTemplate(value, ['query', name], slots);
      else if (typeof value === 'object') slots.push({ name: value.from, path: ['query', name, 'from'] });
    }
  }
  for (const [name, text] of Object.entries(headers ?? {})) addTemplate(text, ['headers', name], slots);
  for (const [name, { from }] of Object.entries(styled ?? {}))
    slots.push({ name: from, path: ['header_arguments', name, 'from'] });
  for (const [name, value] of Object.entries(cookies ?? {})) {
    if (typeof value === 'string') addTemplate(value, ['cookies', name], slots);
    else if (typeof value === 'object') slots.push({ name: value.from, path: ['cookies', name, 'from'] });
  }
  if (body !== undefined && body !== 'remaining') addBody(body, ['body'], slots);
  return slots;
}

function addTemplate(text: string, path: readonly string[], slots: RequestSlot[]): void {
  for (const name of requestTemplate(text).names) slots.push({ name, path });
}

function addBody(body: JsonValue, path: readonly string[], slots: RequestSlot[]): void {
  if (typeof body === 'string') addTemplate(body, path, slots);
  else if (typeof body === 'object' && body !== null) {
    for (const [key, item] of Object.entries(body)) addBody(item, [...path, key], slots);
  }
}
