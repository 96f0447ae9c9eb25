// What a status of gRPC says: the gateway's own words, or that something between has failed.
import { status as codes, type ServiceError } from '@grpc/grpc-js';
import { ConnectionError, errorOfRefusal, type GatewayError } from '../errors/gateway-error.ts';
import type { Meta, Refusal, ToolError } from '../generated/gateway.ts';
import { decoded, entriesOf, objectOf, type Fields } from './schema.ts';

const DOMAIN = 'unified-tool-executor';
/** As REST would answer it: nothing of it may be sent again. */
const OF_NO_USE = 501;
const NOTHING_SENT = /no connection established|name resolution failed|failed to connect/i;

/** As the envelope that the status stands for; undefined where it is not the gateway's. */
export function refusalOf({ details: message, metadata }: ServiceError): Refusal | undefined {
  const found = detailsIn(metadata.get('grpc-status-details-bin')[0]);
  const info = found.get('google.rpc.ErrorInfo');
  if (info?.['domain'] !== DOMAIN) return undefined;
  const said = Object.fromEntries(entriesOf<string>(info['metadata']));
  const violations = (found.get('google.rpc.BadRequest')?.['field_violations'] as Fields[] | undefined)?.map(
    ({ field, description }) => ({ pointer: field, message: description }),
  );
  const error = {
    type: said['type'],
    message,
    retryable: said['retryable'] === 'true',
    partial_side_effects: said['partial_side_effects'] === 'true',
    origin: said['origin'],
    reason: info['reason'],
    retry_after_ms: millisecondsOf(found.get('google.rpc.RetryInfo')?.['retry_delay']),
    details: { ...objectOf(found.get('google.protobuf.Struct')), ...(violations && { violations }) },
  } as unknown as ToolError;
  return { ok: false, error, meta: metaFrom(said) };
}

/** Of a stream: the gateway's error, or that the connection is lost. */
export function errorOfStatus(status: ServiceError): GatewayError | ConnectionError {
  const refusal = refusalOf(status);
  return refusal === undefined ? lossOf(status) : errorOfRefusal(refusal, 0);
}

export function lossOf(status: ServiceError): ConnectionError {
  const { code, details } = status;
  const isPassing = code === codes.UNAVAILABLE || code === codes.RESOURCE_EXHAUSTED;
  return new ConnectionError(`No answer of the gateway over gRPC: ${details || `status ${code}`}.`, {
    notSent: code === codes.UNAVAILABLE && NOTHING_SENT.test(details),
    ...(!isPassing && { status: OF_NO_USE }),
    cause: status,
  });
}

function detailsIn(bytes: unknown): ReadonlyMap<string, Fields> {
  const status = Buffer.isBuffer(bytes) ? decoded('google.rpc.Status', bytes) : undefined;
  const details = (status?.['details'] ?? []) as { type_url: string; value: Buffer }[];
  const named = details.map(({ type_url: url, value }) => {
    const name = url.slice(url.lastIndexOf('/') + 1);
    return [name, decoded(name, value) ?? {}] as const;
  });
  return new Map(named);
}

/** What is known of a call that ended in a status. */
function metaFrom(said: Readonly<Record<string, string>>): Meta {
  return {
    schema_version: '1.0.0',
    call_id: said['call_id'] ?? '',
    tool: said['tool'] ?? '',
    tool_version: '',
    executor: '',
    duration_ms: 0,
    attempts: Number(said['attempts'] ?? 0),
    cached: false,
    replayed: said['replayed'] === 'true',
    fallback: false,
    degraded: [],
    registry_version: '',
    trace_id: '',
  };
}

function millisecondsOf(delay: unknown): number | null {
  if (delay === undefined || delay === null) return null;
  const { seconds, nanos } = delay as { seconds: number; nanos: number };
  return Math.ceil(seconds * 1000 + nanos / 1e6);
}
