// A tool of a pack as the operator wants it: with connections of theirs, and with what `overrides` says.
import { hash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../contract/json.ts';
import { declaredBy, overrideFor } from '../../lib/overrides/tool-overrides.ts';
import type { ParsedTool } from '../../lib/tools-yaml/parse-whole.ts';
import type { PackOptions } from './options.ts';

interface AdaptedTool {
  readonly value: unknown;
  readonly contentHash: string;
}

export function nameOfTool({ value }: ParsedTool): string {
  const name = isJsonObject(value) ? value['name'] : undefined;
  return typeof name === 'string' ? name : '';
}

/** Undefined: it is switched off. What is no declaration stays as it is, for the registry to refuse. */
export function adaptTool(tool: ParsedTool, options: PackOptions): AdaptedTool | undefined {
  const { value, contentHash } = tool;
  const override = overrideFor(options.overrides, [nameOfTool(tool)]);
  if (override.off === true) return undefined;
  if (!isJsonObject(value)) return { value, contentHash };
  const { fields, metadata } = declaredBy(override);
  const own = isJsonObject(value['metadata']) ? value['metadata'] : {};
  const adapted: JsonObject = {
    ...value,
    ...withConnection(value, options.connections),
    ...fields,
    ...(Object.keys(metadata).length > 0 && { metadata: { ...own, ...metadata } }),
  };
  return { value: adapted, contentHash: hash('sha256', `${contentHash}\n${JSON.stringify(adapted)}`) };
}

function withConnection(value: JsonObject, connections: PackOptions['connections']): JsonObject {
  const config = value['implementation_config'];
  if (!isJsonObject(config) || typeof config['connection'] !== 'string') return {};
  const { connection } = config;
  if (!Object.hasOwn(connections, connection)) return {};
  return { implementation_config: { ...config, connection: connections[connection] ?? connection } };
}
