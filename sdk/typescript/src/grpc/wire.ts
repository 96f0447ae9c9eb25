// Parts of answers over gRPC, as REST writes them: proto3 cannot tell a field that is empty from one that is not said.
import type { Intent, Meta, Session, SessionBudget, ToolContext, ToolError } from '../generated/gateway.ts';
import { objectOf, type Fields } from './schema.ts';

/** Always there, whatever they hold. */
const ALWAYS = new Set('schema_version call_id tool tool_version executor duration_ms attempts cached replayed fallback degraded registry_version trace_id'.split(' ')); // oxfmt-ignore
const NULLED = ['agent_id', 'user_id', 'ended_at', 'ended_by'] as const;
const MODE = 'INTERACTION_MODE_';

export function metaOf(message: unknown): Meta {
  const said = Object.entries(withoutOneofs(message as Fields)).filter(
    ([name, value]) => ALWAYS.has(name) || !isEmpty(value),
  );
  const { truncated, accepted_at: _, ...meta } = Object.fromEntries(said) as Fields;
  const cut = truncated as Fields | undefined;
  const { cursor, ...rest } = cut ?? {};
  return {
    ...meta,
    ...(cut !== undefined && { truncated: { ...rest, ...(!isEmpty(cursor) && { cursor }) } }),
  } as unknown as Meta;
}

export function errorFieldsOf(message: unknown): ToolError {
  const { details, retry_after_ms: retryAfterMs, ...error } = withoutOneofs(message as Fields);
  return {
    ...error,
    retry_after_ms: retryAfterMs ?? null,
    details: objectOf(details),
  } as unknown as ToolError;
}

export function intentOf({ type, fields }: Fields): Intent {
  return { type, ...objectOf(fields) } as unknown as Intent;
}

export function sessionOf(message: unknown): Session {
  const { budgets = [], mode, ...fields } = message as Fields & { budgets?: Fields[] };
  const nulled = Object.fromEntries(NULLED.map((name) => [name, fields[name] || null]));
  const turns = Number(fields['turn_id']);
  return {
    ...fields,
    ...nulled,
    turns,
    mode: modeOf(mode),
    budgets: budgets.map(budgetOf),
  } as unknown as Session;
}

export function budgetOf(message: Fields): SessionBudget {
  const { used, free_at: freeAt, ...budget } = withoutOneofs(message);
  return { ...budget, used: used ?? null, free_at: freeAt || null } as unknown as SessionBudget;
}

/** As a message. `business_id` is another name of the tenant. */
export function contextMessage({ mode, business_id: businessId, ...context }: ToolContext): object {
  return {
    ...context,
    ...(businessId !== undefined && { tenant_id: context.tenant_id ?? businessId }),
    ...(mode !== undefined && { mode: modeMessage(mode) }),
  };
}

export function modeMessage(mode: string): string {
  return `${MODE}${mode.toUpperCase()}`;
}

function modeOf(mode: unknown): string | null {
  const name = String(mode).replace(MODE, '').toLowerCase();
  return name === 'unspecified' ? null : name;
}

/** Optional fields of proto3 are each in a oneof of their own. */
function withoutOneofs(message: Fields): Fields {
  return Object.fromEntries(Object.entries(message).filter(([name]) => !name.startsWith('_')));
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === 0 || value === false;
}
