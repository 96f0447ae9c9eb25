// An audit record as one line of JSON: first what the chain of its tenant covers, as canonical JSON, then what lies beside it.
import { randomFillSync } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonValue } from '../../contract/json.ts';
import type { AuditRecord } from '../../ports/audit-sink.ts';
import { personalHash } from '../../lib/audit-chain/chained-record.ts';
import { storable } from '../postgres/storable.ts';

/**
 * What is about a person, or may be: beside the chain, which holds a salted hash of it. It can be erased, and the chain
 * stays whole. Without any of it there is neither hash nor salt.
 */
export type PersonalData = Pick<AuditRecord, 'user' | 'session' | 'notes'>;

/**
 * A line break inside a value is escaped by JSON: a record cannot pretend to be two. Written field by field: one
 * JSON.stringify of an object made for it takes three times as long, on the path of every call.
 */
export function auditLine(record: AuditRecord): string {
  const { tenant, user, session, notes } = record;
  if (user === '' && session === '' && notes === undefined)
    return `${chainedOpen(record, '')},"tenant_id":${quoted(tenant)}}\n`;
  const salt = newSalt();
  const data = personalJson(record);
  const rest = `${notes === undefined ? '' : `,"notes":${notesJson(notes)}`},"personal_salt":"${salt}"${text('session_id', session)}${text('user_id', user)}`;
  return `${chainedOpen(record, personalHash(salt, data))},"tenant_id":${quoted(tenant)}${rest}}\n`;
}

/** What the chain covers, as canonical JSON (RFC 8785). Fields that say nothing are left out. */
export function chainedJson(record: ChainedFields, personal: string): string {
  return `${chainedOpen(record, personal)}}`;
}

export type ChainedFields = Omit<AuditRecord, 'tenant' | keyof PersonalData>;

/** Canonical JSON. */
export function personalJson({ user, session, notes }: PersonalData): string {
  const said = notes === undefined ? '' : `,"notes":${canonicalize(JSON.parse(notesJson(notes))) ?? 'null'}`;
  return `{${`${said}${text('session_id', session)}${text('user_id', user)}`.slice(1)}}`;
}

/** Sorted by their names, as canonical JSON has them. `at` is always there: what may come before it brings its own comma. */
function chainedOpen(record: ChainedFields, personal: string): string {
  const { agent, argumentsHash, requestedTool, tool } = record;
  const alike = alikeOf(record);
  return (
    `{${agent === '' ? '' : `"agent_id":${quoted(agent)},`}` +
    `${argumentsHash === '' ? '' : `"arguments_hash":"${argumentsHash}",`}"at":"${record.at}"` +
    count('attempts', record.attempts) +
    text('call_id', record.callId) +
    alike.how +
    count('duration_ms', record.durationMs) +
    text('event_id', record.eventId) +
    alike.what +
    plain('personal', personal) +
    text('principal_id', record.principal) +
    alike.why +
    count('remaining_ms', record.remainingMs) +
    (requestedTool === tool ? '' : `,"requested_tool":${quoted(requestedTool)}`) +
    alike.which +
    text('trace_id', record.traceId)
  );
}

type AlikeFields = Pick<
  ChainedFields,
  | 'callKind'
  | 'door'
  | 'executor'
  | 'idempotent'
  | 'intended'
  | 'kind'
  | 'outcome'
  | 'partialSideEffects'
  | 'readOnly'
  | 'reason'
  | 'registryVersion'
  | 'tool'
  | 'toolVersion'
>;

/** Parts of a line that the records of most calls of a tool have alike, and what they are made of. */
interface Alike extends AlikeFields {
  readonly how: string;
  readonly what: string;
  readonly why: string;
  readonly which: string;
}

/** Of each tool: the parts of its last record. To write them again for every call is half of what its line costs. */
const lastOf = new Map<string, Alike>();
const MOST_TOOLS = 1_000;

function alikeOf(record: AlikeFields): Alike {
  const last = lastOf.get(record.tool);
  if (last !== undefined && areAlike(last, record)) return last;
  const alike = partsAlike(record);
  if (lastOf.size >= MOST_TOOLS) lastOf.clear();
  lastOf.set(record.tool, alike);
  return alike;
}

function areAlike(one: AlikeFields, other: AlikeFields): boolean {
  return (
    one.outcome === other.outcome &&
    one.kind === other.kind &&
    one.callKind === other.callKind &&
    one.door === other.door &&
    one.reason === other.reason &&
    one.readOnly === other.readOnly &&
    one.idempotent === other.idempotent &&
    one.intended === other.intended &&
    one.partialSideEffects === other.partialSideEffects &&
    one.executor === other.executor &&
    one.toolVersion === other.toolVersion &&
    one.registryVersion === other.registryVersion
  );
}

function partsAlike(record: AlikeFields): Alike {
  const { callKind, door, executor, idempotent, intended, kind, outcome, partialSideEffects } = record;
  const { readOnly, reason, registryVersion, tool, toolVersion } = record;
  const said = { callKind, door, executor, idempotent, intended, kind, outcome, partialSideEffects };
  return {
    ...said,
    readOnly,
    reason,
    registryVersion,
    tool,
    toolVersion,
    how: joined(plain('call_kind', callKind), text('door', door)),
    what: joined(
      text('executor', executor),
      flag('idempotent', idempotent),
      flag('intended', intended),
      plain('kind', kind),
      text('outcome', outcome),
      flag('partial_side_effects', partialSideEffects),
    ),
    why: joined(
      flag('read_only', readOnly),
      text('reason', reason),
      text('registry_version', registryVersion),
    ),
    which: joined(text('tool', tool), text('tool_version', toolVersion)),
  };
}

/** One piece of memory: what is put together by `+` is gone through part by part each time it is read. */
function joined(...parts: readonly string[]): string {
  return parts.join('');
}

function text(name: string, value: string): string {
  return value === '' ? '' : `,"${name}":${quoted(value)}`;
}

/** Of the gateway's own making: there is nothing to escape. */
function plain(name: string, value: string): string {
  return value === '' ? '' : `,"${name}":"${value}"`;
}

function count(name: string, value: number): string {
  return value === 0 ? '' : `,"${name}":${value}`;
}

function flag(name: string, value: boolean): string {
  return value ? `,"${name}":true` : '';
}

const PLAIN = /^[\w .:/-]*$/;

/** Most values need no escaping, and looking is cheaper than asking. */
function quoted(value: string): string {
  return PLAIN.test(value) ? `"${value}"` : JSON.stringify(storable(value));
}

const SUSPICIOUS = /\\u(?:0000|d[89a-f])/i;

function notesJson(notes: NonNullable<AuditRecord['notes']>): string {
  const written = JSON.stringify(notes);
  return SUSPICIOUS.test(written) ? JSON.stringify(storableValue(notes)) : written;
}

function storableValue(value: JsonValue): JsonValue {
  if (typeof value === 'string') return storable(value);
  if (Array.isArray(value)) return value.map(storableValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [storable(name), storableValue(member)]),
  );
}

const SALT_BYTES = 16;
/** Random bytes for many salts at once: one system call instead of hundreds. */
const pool = Buffer.alloc(256 * SALT_BYTES);
let used = pool.length;

function newSalt(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += SALT_BYTES;
  return pool.toString('hex', used - SALT_BYTES, used);
}
