// PostgreSQL's text format as JSON, by type: what JSON's numbers cannot hold exactly stays text.
import type { JsonValue } from '../../contract/json.ts';
import { parseArray } from './inspect/parse-array.ts';

export type DecodeValue = (text: string) => JsonValue;

const BOOL = 16, BYTEA = 17, INT2 = 21, INT4 = 23, OID = 26, JSON_TYPE = 114, FLOAT4 = 700, FLOAT8 = 701,
  TIMESTAMP = 1114, TIMESTAMPTZ = 1184, TIMETZ = 1266, JSONB = 3802, VOID = 2278; // oxfmt-ignore

const SCALARS: ReadonlyMap<number, DecodeValue> = new Map<number, DecodeValue>([
  [BOOL, (text) => text === 't'],
  [BYTEA, (text) => Buffer.from(text.slice(2), 'hex').toString('base64')],
  [INT2, Number],
  [INT4, Number],
  [OID, Number],
  [FLOAT4, float],
  [FLOAT8, float],
  [JSON_TYPE, json],
  [JSONB, json],
  [TIMESTAMP, timestamp],
  [TIMESTAMPTZ, timestamp],
  [TIMETZ, isoOffset],
  [VOID, () => null],
]);

/** Type of an array → type of its elements, for the arrays that do not simply hold texts. */
const ARRAYS: ReadonlyMap<number, number> = new Map([
  [1000, BOOL],
  [1001, BYTEA],
  [1005, INT2],
  [1007, INT4],
  [1028, OID],
  [199, JSON_TYPE],
  [1021, FLOAT4],
  [1022, FLOAT8],
  [1115, TIMESTAMP],
  [1185, TIMESTAMPTZ],
  [1270, TIMETZ],
  [3807, JSONB],
]);

/** bigint, numeric, date, time, uuid, text, varchar, bpchar, name, interval, inet, cidr: arrays of texts. */
const TEXT_ARRAYS: ReadonlySet<number> = new Set([
  1016, 1231, 1182, 1183, 2951, 1009, 1015, 1014, 1003, 1187, 1041, 651,
]);

/** bigint, numeric, uuid, dates and everything unknown: as the server writes it. */
export function decoderOf(typeOid: number): DecodeValue {
  const scalar = SCALARS.get(typeOid);
  if (scalar !== undefined) return scalar;
  const element = ARRAYS.get(typeOid);
  if (element !== undefined) return arrayOf(SCALARS.get(element) ?? asText);
  return TEXT_ARRAYS.has(typeOid) ? arrayOf(asText) : asText;
}

function asText(text: string): JsonValue {
  return text;
}

function arrayOf(element: DecodeValue): DecodeValue {
  return (text) => parseArray(text, element);
}

/** NaN, Infinity and -Infinity have no JSON number. */
function float(text: string): JsonValue {
  const value = Number(text);
  return Number.isFinite(value) ? value : text;
}

function json(text: string): JsonValue {
  return (LONG_NUMBER.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text)) as JsonValue;
}

/** A number may be in there that a double does not hold: 16 digits, or an exponent. */
const LONG_NUMBER = /\d{16}|\d[eE]/;

function exactNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const exact = Number.isFinite(value) && !Number.isInteger(value);
  return exact ? value : (context?.source ?? String(value));
}

/** `2026-01-31 09:30:00.5+00` → `2026-01-31T09:30:00.5Z`; infinity and years BC stay as they are. */
function timestamp(text: string): JsonValue {
  return /^\d{4,}-\d\d-\d\d \d/.test(text) && !text.endsWith('BC') ? isoOffset(text.replace(' ', 'T')) : text;
}

function isoOffset(text: string): string {
  return text.endsWith('+00') ? `${text.slice(0, -3)}Z` : text.replace(/([+-]\d\d)$/, '$1:00');
}
