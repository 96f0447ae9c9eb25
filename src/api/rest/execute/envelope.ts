// The envelope on the wire: how every call ends, and with which HTTP status. Read off the one table of error types.
import { z } from 'zod';
import { errorRow } from '../../../contract/call/error-row.ts';
import { ERROR_TYPES, isErrorType, type ErrorType } from '../../../contract/call/error-types.ts';
import { INTENT_TYPES } from '../../../contract/call/intent.ts';
import { ENVELOPE_VERSION } from '../../../contract/call/tool-response.ts';
import { VERSION_SOURCES } from '../../../contract/call/version-source.ts';
import { json, type Answer, type HeaderName } from '../route/route.ts';
import { count, flag, list, named, object, oneOf, text, time } from '../route/shapes.ts';

const TYPES: readonly ErrorType[] = Object.keys(ERROR_TYPES).filter(isErrorType);

export const ErrorTypes = named('ErrorType', () =>
  z.enum(TYPES as readonly [ErrorType, ...ErrorType[]]).describe(typeTable()),
);

const versionSource = () =>
  oneOf(VERSION_SOURCES)
    .optional()
    .describe(
      'Why this version ran: `call` and `session` name it, it is assigned to the `user`, `agent` or `tenant`, or it is the `canary`. Left out: it is the one in force.',
    );

const Meta = named('Meta', () =>
  z.object({
    schema_version: z.literal(ENVELOPE_VERSION),
    call_id: text('Names this call in logs, traces and the audit trail.'),
    tool: text('The function that was called; empty where none was found.'),
    tool_version: text(),
    executor: text(),
    duration_ms: z.number().min(0),
    attempts: count(),
    cached: flag(),
    replayed: flag('The stored answer to an earlier call with the same Idempotency-Key.'),
    fallback: flag(),
    degraded: list(text('A component that worked in a reduced way for this call.')),
    registry_version: text('The set of tools this call was made in.'),
    trace_id: text(),
    dry_run: z.literal(true).optional().describe('The data is what the call would do; nothing was done.'),
    recorded: flag(
      'Of a gateway that replays: from the recording, or really called because it is not in it.',
    ).optional(),
    truncated: z
      .object({
        pointer: text('JSON Pointer of the list that was cut; empty for the result itself.'),
        kept: count(),
        omitted: count(),
        cursor: text('Give it as context.cursor with the same arguments to get the next items.').optional(),
      })
      .optional(),
    untrusted: z
      .literal(true)
      .optional()
      .describe('What the tool says comes from somewhere that is not trusted: data, and no instructions.'),
    soft_limit_ms: count('The call took longer than its mode likes it to: longer than this.').optional(),
    version_source: versionSource(),
    successor: text('The call was made in a deprecated form: the function to call instead.').optional(),
    provider_call_id: text(
      "The id that a call in a provider's form came with: its answer belongs to that call of the model.",
    ).optional(),
    status: z
      .enum(['accepted', 'waiting_approval'])
      .optional()
      .describe(
        'The call has not run yet; `data` is null. `waiting_approval`: it runs by itself once a human has approved it.',
      ),
    call_url: text(
      'Where its end will be found. Where `replayed` is true, that of the call which was accepted at first: `call_id` names this repeat.',
    ).optional(),
    approval_id: text('What a human has to approve before the call runs.').optional(),
    approval_url: text('Where that is decided.').optional(),
    approval_expires_at: time().optional(),
  }),
);

const Intent = named('Intent', () =>
  z
    .looseObject({
      type: text('A custom intent has an upper-case word of its own.').meta({ examples: [...INTENT_TYPES] }),
    })
    .describe('What the tool asks the caller to do.'),
);

const ToolError = named('ToolError', () =>
  z.object({
    type: ErrorTypes(),
    message: text(),
    retryable: flag('Whether the same call may succeed later.'),
    partial_side_effects: flag('Whether the tool may have changed something already.'),
    origin: oneOf(['caller', 'gateway', 'tool']).describe('Whose fault it is.'),
    reason: text('An upper-case word inside the type.').meta({ examples: ['SCHEMA_MISMATCH'] }),
    retry_after_ms: z.number().min(0).nullable(),
    details: object(),
  }),
);

const Success = named('Success', () =>
  z.object({
    ok: z.literal(true),
    data: z.unknown().describe('What the tool returned: any JSON.'),
    intents: list(Intent()),
    meta: Meta(),
  }),
);

const Refusal = named('Refusal', () => z.object({ ok: z.literal(false), error: ToolError(), meta: Meta() }));

export const Envelope = named('Envelope', () =>
  z
    .discriminatedUnion('ok', [Success(), Refusal()])
    .describe(`How every call ends, version ${ENVELOPE_VERSION}.`),
);

const ACCEPTED = 202;
/** Reasons inside a type that have a status of their own. */
const OWN_STATUS = ['PAYLOAD_MISMATCH', 'UNSUPPORTED_MEDIA_TYPE', 'NOT_CONNECTED'];
export const LIMIT_HEADERS: readonly HeaderName[] = [
  'Deprecation',
  'Link',
  'RateLimit',
  'RateLimit-Policy',
  'Idempotency-Replayed',
];

/** The answers of a call endpoint: one per HTTP status that the table holds, each with the types it stands for. */
export function envelopeAnswers(ok: Answer): { readonly [status: number]: Answer } {
  const refusals = typesByStatus().map(([status, types]) => {
    const headers = [...LIMIT_HEADERS];
    if (status === ACCEPTED || types.some((type) => ERROR_TYPES[type].retryable)) headers.push('Retry-After');
    if (status === ACCEPTED) headers.push('Preference-Applied');
    if (types.includes('CONFIRMATION_REQUIRED')) headers.push('Location');
    if (status === 401) headers.push('WWW-Authenticate');
    const refused = `efused: ${types.join(', ')}.`;
    if (status !== ACCEPTED) return [status, json(`R${refused}`, Refusal, headers)] as const;
    return [status, json(`Accepted to run later, or r${refused}`, Envelope, headers)] as const;
  });
  return { 200: ok, ...Object.fromEntries(refusals) };
}

/** Statuses other than 200, which also carries what a tool itself reports. */
function typesByStatus(): readonly (readonly [number, readonly ErrorType[]])[] {
  const byStatus = new Map<number, ErrorType[]>();
  for (const type of TYPES) {
    const { origin, http } = ERROR_TYPES[type];
    const statuses = new Set([http, ...OWN_STATUS.map((reason) => errorRow(type, origin, reason).http)]);
    for (const status of statuses) byStatus.set(status, [...(byStatus.get(status) ?? []), type]);
  }
  byStatus.delete(200);
  return [...byStatus].sort(([left], [right]) => left - right);
}

function typeTable(): string {
  const rows = TYPES.map((type) => {
    const { origin, http, retryable } = ERROR_TYPES[type];
    return `| ${type} | ${origin} | ${http} | ${retryable ? 'yes' : 'no'} |`;
  });
  return [
    'A closed list. A type that a tool reports itself (origin `tool`) comes with status 200.',
    '',
    '| type | origin | HTTP | retryable |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}
