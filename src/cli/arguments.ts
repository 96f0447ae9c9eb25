// Reads what the user wrote for one call: arguments as JSON, @file or standard input, and context as key=value.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { parseInstant } from '../lib/schedule/instant.ts';
import { isJsonObject, type JsonObject } from '../contract/json.ts';
import type { CliIo } from './cli-io.ts';
import { CliFailure, EXIT } from './exit-code.ts';
import { reasonOf } from './gateway/gateway-client.ts';

/** The one field of the context that is true or false. */
const YES_OR_NO = 'dry_run';

/** `{}` where nothing was written. */
export async function readArguments(written: string | undefined, io: CliIo): Promise<JsonObject> {
  const text = await textOf(written, io);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CliFailure(EXIT.usage, `the arguments are not JSON: ${reasonOf(error)}`);
  }
  if (isJsonObject(value)) return value;
  throw new CliFailure(EXIT.usage, `the arguments must be a JSON object, found ${kindOf(value)}`);
}

/** Adds one `key=value`; commander calls it for each. */
export function addContextField(
  written: string,
  collected: ReadonlyMap<string, string>,
): Map<string, string> {
  const split = written.indexOf('=');
  if (split < 1) throw new InvalidArgumentError('Expected key=value, for example session_id=s-1.');
  const [key, value] = [written.slice(0, split), written.slice(split + 1)];
  if (key === YES_OR_NO && value !== 'true' && value !== 'false')
    throw new InvalidArgumentError(`Expected ${YES_OR_NO}=true or ${YES_OR_NO}=false.`);
  return new Map([...collected, [key, value]]);
}

/** As a body carries them: one of them is no text there. */
export function contextBody(fields: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries(
    [...fields].map(([key, value]) => [key, key === YES_OR_NO ? value === 'true' : value]),
  );
}

/** ISO 8601, with a time zone. */
export function isTime(text: string): boolean {
  return parseInstant(text) !== undefined;
}

export function milliseconds(written: string): string {
  if (/^[1-9]\d{0,8}$/.test(written)) return written;
  throw new InvalidArgumentError('Expected a whole number of milliseconds above 0.');
}

async function textOf(written: string | undefined, io: CliIo): Promise<string> {
  if (written === undefined) return '{}';
  if (written === '-') return io.readStdin();
  if (!written.startsWith('@')) return written;
  const path = written.slice(1);
  try {
    return await readFile(resolve(io.cwd, path), 'utf8');
  } catch (error) {
    throw new CliFailure(EXIT.usage, `the arguments file ${path} cannot be read: ${reasonOf(error)}`);
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}
