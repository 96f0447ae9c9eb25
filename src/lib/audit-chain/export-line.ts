// A line of an exported chain: what was hashed, byte by byte, and beside it the hash and the personal data with their salt.
import type { Place } from './chained-record.ts';

export interface Exported {
  /** Canonical JSON, as it was hashed. */
  readonly record: string;
  readonly place: Place;
  readonly hash: string;
  /** Absent: there was none, or it was erased. */
  readonly personal?: { readonly salt: string; readonly data: string };
}

export interface ReadLine extends Exported {
  /** The hash of the personal data that the record says; empty: there is none. */
  readonly personalHash: string;
  /** What the record says of itself. */
  readonly said: Readonly<Record<string, unknown>>;
}

/** Without the line break. */
export function exportLine({ record, place, hash, personal }: Exported): string {
  return frameOf(record, place, hash, personal);
}

const FRAME =
  /^\{"hash":"([0-9a-f]{64})",(?:"personal":\{"data":(.*),"salt":"([0-9a-f]{32})"\},)?"previous":"([0-9a-f]{64})","record":(\{.*\}),"recorded_at":"([^"\\]{1,40})","seq":([1-9]\d{0,15}),"tenant":("(?:[^"\\]|\\.)*")\}$/s;

/** Undefined: not as it was written, to the last byte. */
export function readExportLine(line: string): ReadLine | undefined {
  const [whole, hash, data, salt, previous, record, recordedAt, seq, written] = FRAME.exec(line) ?? [];
  const texts = [hash, previous, record, recordedAt, seq, written];
  if (whole === undefined || texts.some((text) => text === undefined)) return undefined;
  const [tenant, said] = [parsed(written ?? ''), parsed(record ?? '')];
  if (typeof tenant !== 'string' || typeof said !== 'object' || said === null) return undefined;
  const place = { previous: previous ?? '', recordedAt: recordedAt ?? '', seq: Number(seq), tenant };
  const personal = data === undefined || salt === undefined ? undefined : { salt, data };
  if (frameOf(record ?? '', place, hash ?? '', personal) !== line) return undefined;
  const personalHash = (said as { personal?: unknown }).personal;
  return {
    record: record ?? '',
    place,
    hash: hash ?? '',
    personalHash: typeof personalHash === 'string' ? personalHash : '',
    ...(personal && { personal }),
    said: said as Readonly<Record<string, unknown>>,
  };
}

function frameOf(
  record: string,
  { previous, recordedAt, seq, tenant }: Place,
  hash: string,
  personal: ReadLine['personal'],
): string {
  const beside =
    personal === undefined ? '' : `"personal":{"data":${personal.data},"salt":"${personal.salt}"},`;
  return `{"hash":"${hash}",${beside}"previous":"${previous}","record":${record},"recorded_at":"${recordedAt}","seq":${seq},"tenant":${JSON.stringify(tenant)}}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
