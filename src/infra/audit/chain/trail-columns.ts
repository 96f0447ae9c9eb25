// The columns of the audit trail, and how a row becomes the record that the chain covers.
import { sql } from 'kysely';
import { AUDIT_KINDS, type AuditKind, type AuditRecord } from '../../../ports/audit-sink.ts';

/** What a field says, and so how it stands in a line and in its column. */
export type FieldKind =
  | 'double'
  | 'flag'
  | 'hash'
  | 'integer'
  | 'json'
  | 'name'
  | 'salt'
  | 'text'
  | 'time'
  | 'word';

export interface LineField {
  readonly name: string;
  readonly kind: FieldKind;
  readonly column: string;
  /** Every record has it. */
  readonly isRequired: boolean;
}

/** Hexadecimal digits of a field, by its kind. */
export const HEX_DIGITS: { readonly [Kind in FieldKind]?: number } = { hash: 64, salt: 32 };
/** What a field of the kind `word` may say, by its name. */
export const WORDS: { readonly [name: string]: readonly string[] } = {
  call_kind: ['sync', 'async'],
  kind: AUDIT_KINDS,
};
const REQUIRED: ReadonlySet<string> = new Set(['at', 'event_id', 'kind', 'tenant_id']);

/** In the order in which a line has them: what the chain covers by name, then the tenant, then what lies beside the chain by name. */
export const LINE_FIELDS: readonly LineField[] = `
  agent_id text, arguments_hash hash, at time, attempts integer, call_id text, call_kind word, door text, duration_ms double,
  event_id text, executor text, idempotent flag, intended flag, kind word, outcome text, partial_side_effects flag,
  personal hash, principal_id text, read_only flag, reason text, registry_version text, remaining_ms double,
  requested_tool name, tool text, tool_version text, trace_id text,
  tenant_id name,
  notes json, personal_salt salt, session_id text, user_id text`
  .split(',')
  .map((field) => {
    const [name = '', kind] = field.trim().split(' ');
    const column = name === 'personal' ? 'personal_hash' : name;
    return { name, kind: kind as FieldKind, column, isRequired: REQUIRED.has(name) };
  });

const SQL_TYPES: Readonly<Record<FieldKind, string>> = {
  double: 'double precision',
  flag: 'boolean',
  // In a line they are digits.
  hash: 'text',
  integer: 'integer',
  json: 'jsonb',
  // A text that is there where it is empty, too.
  name: 'text',
  salt: 'text',
  text: 'text',
  time: 'timestamptz',
  word: 'text',
};

/** Of json_to_recordset: the fields of a line. */
export const LINE_RECORD = sql.raw(
  LINE_FIELDS.map(({ name, kind }) => `${name} ${SQL_TYPES[kind]}`).join(', '),
);

/** In the order in which trail-rows.ts writes them. */
export const COPIED_COLUMNS: readonly string[] = [
  ...LINE_FIELDS.map(({ column }) => column),
  'seq',
  'recorded_at',
  'hash',
];

/** A row as the record it was. Null where a field says nothing. */
export interface TrailRow {
  readonly seq: number;
  readonly recorded_at: Date;
  readonly hash: string;
  readonly tenant_id: string;
  readonly kind: AuditKind;
  readonly at: Date;
  readonly event_id: string;
  readonly call_id: string | null;
  readonly call_kind: 'sync' | 'async' | null;
  readonly door: string | null;
  readonly principal_id: string | null;
  readonly agent_id: string | null;
  readonly user_id: string | null;
  readonly session_id: string | null;
  readonly requested_tool: string | null;
  readonly tool: string | null;
  readonly tool_version: string | null;
  readonly executor: string | null;
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly arguments_hash: string | null;
  readonly read_only: boolean | null;
  readonly idempotent: boolean | null;
  readonly intended: boolean | null;
  readonly partial_side_effects: boolean | null;
  readonly attempts: number | null;
  readonly duration_ms: number | null;
  readonly remaining_ms: number | null;
  readonly registry_version: string | null;
  readonly trace_id: string | null;
  readonly notes: AuditRecord['notes'] | null;
  readonly personal_hash: string | null;
  readonly personal_salt: string | null;
}

export const TRAIL_ROW = sql.raw(
  [
    ...LINE_FIELDS.map(({ column, kind }) =>
      kind in HEX_DIGITS ? `encode(${column}, 'hex') AS ${column}` : column,
    ),
    'seq',
    'recorded_at',
    `encode(hash, 'hex') AS hash`,
  ].join(', '),
);

/** Of a row, of a line of an older version, or of a record that SQL has made. */
export function recordOf(row: Omit<TrailRow, 'seq' | 'recorded_at' | 'hash'>): AuditRecord {
  const { notes, tool } = row;
  return {
    eventId: row.event_id,
    kind: row.kind,
    at: new Date(row.at).toISOString(),
    callId: row.call_id ?? '',
    callKind: row.call_kind ?? '',
    door: row.door ?? '',
    principal: row.principal_id ?? '',
    tenant: row.tenant_id,
    agent: row.agent_id ?? '',
    user: row.user_id ?? '',
    session: row.session_id ?? '',
    requestedTool: row.requested_tool ?? tool ?? '',
    tool: tool ?? '',
    toolVersion: row.tool_version ?? '',
    executor: row.executor ?? '',
    outcome: row.outcome ?? '',
    reason: row.reason ?? '',
    argumentsHash: row.arguments_hash ?? '',
    readOnly: row.read_only ?? false,
    idempotent: row.idempotent ?? false,
    intended: row.intended ?? false,
    attempts: row.attempts ?? 0,
    durationMs: row.duration_ms ?? 0,
    remainingMs: row.remaining_ms ?? 0,
    partialSideEffects: row.partial_side_effects ?? false,
    registryVersion: row.registry_version ?? '',
    traceId: row.trace_id ?? '',
    ...(notes !== null && notes !== undefined && { notes }),
  };
}
