// Reads what an operator wants recorded: every field checked, bounds included, nothing unknown passed over.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { parseDuration } from '../../lib/text/duration.ts';
import { RECORDING_BOUNDS, RECORDING_NAME, type RecordingWish } from '../../ports/recordings.ts';
import { invalid } from './read-call.ts';

const FIELDS = ['name', 'tenant_id', 'session_id', 'tools', 'max_calls', 'max_bytes', 'ttl'];

type TenantsWish = RecordingWish & { readonly tenantId: string };

/** Where no tenant is named, the caller's own. Throws ToolFailure VALIDATION. */
export function readRecordingWish(body: unknown, ownTenant: string): TenantsWish {
  if (!isJsonObject(body)) throw invalid('', 'must be an object: {"name": "...", "session_id": "..."}');
  const unknown = Object.keys(body).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined)
    throw invalid(`/${unknown.slice(0, 64)}`, `is no field of a recording; there are ${FIELDS.join(', ')}`);
  const { name, tools } = body;
  if (typeof name !== 'string' || !RECORDING_NAME.test(name))
    throw invalid('/name', 'must be 1 to 64 letters, digits, _ or -, the first a letter or digit');
  const tenantId = readId(body, 'tenant_id') ?? ownTenant;
  if (tenantId === '')
    throw invalid(
      '/tenant_id',
      'is required: this credential belongs to no tenant, whose calls could be meant',
    );
  return {
    name,
    tenantId,
    sessionId: readId(body, 'session_id'),
    ...(tools !== undefined && { tools: readTools(tools) }),
    maxCalls: readNumber(body, 'max_calls', RECORDING_BOUNDS.calls),
    maxBytes: readNumber(body, 'max_bytes', RECORDING_BOUNDS.bytes),
    ttlMs: readTtl(body['ttl']),
  };
}

function readId(body: JsonObject, field: string): string | undefined {
  const value = body[field];
  if (value === undefined || (typeof value === 'string' && value.length >= 1 && value.length <= 256))
    return value;
  throw invalid(`/${field}`, 'must be a string of 1 to 256 characters');
}

function readTools(value: JsonValue): readonly string[] {
  const { tools: most } = RECORDING_BOUNDS;
  const globs = Array.isArray(value)
    ? value.filter((each) => typeof each === 'string' && each.length >= 1 && each.length <= 256)
    : [];
  if (Array.isArray(value) && value.length >= 1 && value.length <= most && globs.length === value.length)
    return globs as string[];
  throw invalid(
    '/tools',
    `must be a list of 1 to ${most} names of tools, in which * stands for any characters`,
  );
}

function readNumber(
  body: JsonObject,
  field: string,
  bounds: { least: number; most: number; usual: number },
): number {
  const { least, most, usual } = bounds;
  const value = body[field] ?? usual;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most)
    return value;
  throw invalid(`/${field}`, `must be a whole number from ${least} to ${most}`);
}

function readTtl(value: JsonValue | undefined): number {
  const { least, most, usual } = RECORDING_BOUNDS.ttlMs;
  if (value === undefined) return usual;
  const ttlMs = typeof value === 'string' ? parseDuration(value) : undefined;
  if (ttlMs !== undefined && ttlMs >= least && ttlMs <= most) return ttlMs;
  throw invalid('/ttl', 'must be a duration from 1s to 7d, such as "1h"');
}
