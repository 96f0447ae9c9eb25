// What a status of the upstream means, and what of its details callers read: bounded, scrubbed, and nobody's instructions.
import { fromBinary } from '@bufbuild/protobuf';
import { AnySchema, DurationSchema } from '@bufbuild/protobuf/wkt';
import type { ErrorType } from '../../contract/call/error-types.ts';
import { grpcStatusReason } from '../../contract/call/reasons/status-reason.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { JsonObject } from '../../contract/json.ts';
import { BoundedFields } from '../../lib/grpc/message/bounded-fields.ts';
import { oneLine } from '../../lib/upstream-error/one-line.ts';
import type { GrpcStatusError } from '../../ports/egress/grpc-upstreams.ts';

interface StatusRow {
  readonly name: string;
  readonly type: ErrorType;
  /** It turned the call down before it did anything. */
  readonly refused?: true;
  readonly retryable?: true;
}

/** By google.rpc.Code. */
const STATUSES: readonly StatusRow[] = [
  { name: 'OK', type: 'PERMANENT' },
  { name: 'CANCELLED', type: 'TRANSIENT' },
  { name: 'UNKNOWN', type: 'TRANSIENT' },
  { name: 'INVALID_ARGUMENT', type: 'VALIDATION', refused: true },
  { name: 'DEADLINE_EXCEEDED', type: 'TRANSIENT' },
  { name: 'NOT_FOUND', type: 'NOT_FOUND', refused: true },
  { name: 'ALREADY_EXISTS', type: 'CONFLICT', refused: true },
  { name: 'PERMISSION_DENIED', type: 'PERMISSION_DENIED', refused: true },
  { name: 'RESOURCE_EXHAUSTED', type: 'RATE_LIMIT', refused: true },
  { name: 'FAILED_PRECONDITION', type: 'PERMANENT', refused: true },
  { name: 'ABORTED', type: 'CONFLICT', retryable: true },
  { name: 'OUT_OF_RANGE', type: 'VALIDATION', refused: true },
  { name: 'UNIMPLEMENTED', type: 'PERMANENT', refused: true },
  { name: 'INTERNAL', type: 'TRANSIENT' },
  { name: 'UNAVAILABLE', type: 'TRANSIENT' },
  { name: 'DATA_LOSS', type: 'TRANSIENT' },
  { name: 'UNAUTHENTICATED', type: 'AUTH', refused: true },
];
const UNKNOWN: StatusRow = { name: 'UNKNOWN', type: 'TRANSIENT' };

const MOST_DETAILS_BYTES = 64 * 1024;
const MOST_DETAILS = 20;
const MOST_VIOLATIONS = 50;
const MOST_CHARS = 1_000;
const MOST_MESSAGE_CHARS = 500;
const DAY_MS = 86_400_000;

export interface Telling {
  readonly scrub: (text: string) => string;
  /** Whether callers read what the upstream says. */
  readonly shows: boolean;
  /** Messages had come already: then something was done. */
  readonly hasBegun: boolean;
}

export function statusFailure(error: GrpcStatusError, { scrub, shows, hasBegun }: Telling): ToolFailure {
  const { name, type, refused, retryable } = STATUSES[error.code] ?? UNKNOWN;
  const said = detailsIn(error.details);
  const cut = (text: string, most: number) => oneLine(text, scrub, most);
  const message = cut(error.message, MOST_MESSAGE_CHARS);
  const violations = said.violations.map(({ field, message: text }) => ({
    // A pointer is written in another way than the field: a secret might no longer be known in it, or only then.
    pointer: cut(pointerOf(cut(field, MOST_CHARS)), MOST_CHARS),
    message: cut(text, MOST_CHARS),
  }));
  const upstream: JsonObject = {
    untrusted: true,
    ...(message !== '' && { message }),
    ...(said.reason !== '' && { reason: cut(said.reason, MOST_CHARS) }),
  };
  return new ToolFailure(
    type,
    `The upstream answered ${name}${shows && message !== '' ? `: ${message}` : '.'}`,
    {
      origin: 'tool',
      reason: grpcStatusReason(name),
      ...(retryable === true && { retryable }),
      ...(said.retryAfterMs !== undefined && { retryAfterMs: said.retryAfterMs }),
      ...(refused === true && !hasBegun && { partialSideEffects: false }),
      details: {
        status: name,
        ...(shows && { upstream }),
        ...(shows && violations.length > 0 && { violations }),
      },
      cause: new Error(`${name}: ${cut(error.message, MOST_CHARS)}`),
    },
  );
}

interface Details {
  readonly violations: readonly { readonly field: string; readonly message: string }[];
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
}

/** What of a google.rpc.Status is known here; whatever else it is, nothing. */
function detailsIn(bytes: Uint8Array | undefined): Details {
  const found = {
    violations: [] as { field: string; message: string }[],
    reason: '',
    retryAfterMs: undefined as number | undefined,
  };
  if (bytes === undefined || bytes.length > MOST_DETAILS_BYTES) return found;
  const fields = new BoundedFields();
  try {
    for (const detail of fields.bytes(bytes, 3).slice(0, MOST_DETAILS)) {
      const { typeUrl, value } = fromBinary(AnySchema, detail);
      if (typeUrl.endsWith('/google.rpc.BadRequest'))
        for (const each of fields.bytes(value, 1).slice(0, MOST_VIOLATIONS - found.violations.length))
          found.violations.push({ field: fields.text(each, 1), message: fields.text(each, 2) });
      else if (typeUrl.endsWith('/google.rpc.ErrorInfo')) found.reason = fields.text(value, 1);
      else if (typeUrl.endsWith('/google.rpc.RetryInfo')) {
        const [delay = new Uint8Array()] = fields.bytes(value, 1);
        const { seconds, nanos } = fromBinary(DurationSchema, delay);
        const ms = Number(seconds) * 1_000 + Math.ceil(nanos / 1e6);
        found.retryAfterMs = Math.min(Math.max(0, ms), DAY_MS);
      }
    }
  } catch {
    // Not what it says it is: what was read until then is good enough.
  }
  return found;
}

/** `user.emails[0]` as the pointer /user/emails/0. */
function pointerOf(field: string): string {
  if (field === '') return '';
  return `/${field
    .replaceAll('~', '~0')
    .replaceAll('/', '~1')
    .replaceAll(/\[(\d+)\]/g, '.$1')
    .split('.')
    .join('/')}`;
}
