// Whether the headers of a call say what its arguments say, for those that its tool asks for. Proxies go by the headers.
import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import type { ParameterHeader } from '../../../formats/mcp/parameter-headers.ts';
import { decodedHeader } from './header-value.ts';

const INTEGER = /^-?\d+$/;
/** An integer that no double holds stands in the arguments as its digits: those of 64 bits are at most 20. */
const LARGE = /^-?\d{16,20}$/;

/** Undefined: they do. An argument of another kind than its schema says is refused by that, with the field. */
export function unlikeArguments(
  asked: readonly ParameterHeader[],
  args: JsonObject,
  headers: IncomingHttpHeaders,
): string | undefined {
  for (const { header, path, type } of asked) {
    const value = valueAt(args, path);
    const said = headers[header];
    const where = `arguments.${path.join('.')}`;
    if (value === undefined || value === null) {
      if (said !== undefined) return `The header ${header} is there, and ${where} is not.`;
    } else if (isOf(value, type)) {
      if (typeof said !== 'string')
        return `The header ${header} is missing: it has to say what ${where} says.`;
      if (!isSame(decodedHeader(said), value)) return `The header ${header} does not say what ${where} says.`;
    }
  }
  return undefined;
}

function isOf(value: JsonValue, type: ParameterHeader['type']): value is string | number | boolean {
  if (type !== 'integer') return typeof value === type;
  return Number.isInteger(value) || (typeof value === 'string' && LARGE.test(value));
}

function isSame(said: string | undefined, value: string | number | boolean): boolean {
  if (said === undefined) return false;
  return typeof value === 'number' ? INTEGER.test(said) && Number(said) === value : said === String(value);
}

function valueAt(args: JsonObject, path: readonly string[]): JsonValue | undefined {
  let at: JsonValue | undefined = args;
  for (const key of path) at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  return at;
}
