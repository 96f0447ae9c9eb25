// Reads the context that a body carries: snake_case strings, checked once here for every door.
import { isJsonObject } from '../contract/json.ts';
import { INTERACTION_MODES } from '../contract/tool/tool-spec.ts';
import type { ToolContext } from '../contract/call/tool-context.ts';
import { isLanguageTag } from '../lib/text/language-tag.ts';
import { didYouMean } from '../lib/text/did-you-mean.ts';
import { toolFailure } from '../contract/call/failure.ts';
import type { ToolFailure } from '../contract/call/tool-failure.ts';
import { faultOfText } from '../lib/json/strict-json-error.ts';

const FIELDS: Readonly<Record<string, keyof ToolContext>> = {
  session_id: 'sessionId',
  agent_id: 'agentId',
  user_id: 'userId',
  tenant_id: 'tenantId',
  business_id: 'tenantId',
  mode: 'mode',
  turn_id: 'turnId',
  idempotency_key: 'idempotencyKey',
  confirmation_token: 'confirmationToken',
  dry_run: 'dryRun',
  cursor: 'cursor',
  tool_version: 'toolVersion',
  toolset: 'toolset',
  language: 'language',
  traceparent: 'traceparent',
  tracestate: 'tracestate',
};
const NO_CONTEXT: ToolContext = Object.freeze({});
const MAX_LENGTH = 512;
const MODES: readonly string[] = INTERACTION_MODES;

/** Throws ToolFailure VALIDATION that names the field. */
export function readContext(value: unknown): ToolContext {
  if (value === undefined || value === null) return NO_CONTEXT;
  if (!isJsonObject(value)) throw wrong('', 'must be an object');
  const context: Partial<Record<keyof ToolContext, string>> = {};
  let dryRun = false;
  for (const [name, said] of Object.entries(value)) {
    const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
    if (field === undefined)
      throw wrong(name, `is no context field; known: ${Object.keys(FIELDS).join(', ')}`);
    if (field === 'dryRun') {
      if (typeof said !== 'boolean') throw wrong(name, 'must be true or false');
      if (said) dryRun = true;
      continue;
    }
    if (typeof said !== 'string') throw wrong(name, 'must be a string');
    if (said.length === 0 || said.length > MAX_LENGTH)
      throw wrong(name, `must have 1 to ${MAX_LENGTH} characters`);
    checkText(said, `/context/${name}`);
    if (field === 'mode' && !MODES.includes(said))
      throw wrong(name, `must be one of ${MODES.join(', ')}${hintOf(said)}`);
    if (field === 'language' && !isLanguageTag(said))
      throw wrong(name, 'must be a language tag such as de or pt-BR');
    if (context[field] !== undefined && context[field] !== said) throw wrong(name, 'contradicts tenant_id');
    context[field] = said;
  }
  return (dryRun ? { ...context, dryRun } : context) as ToolContext;
}

/**
 * What no text that a caller gives may hold, whatever door it came by: a store would keep another text than the one that was
 * said. Throws ToolFailure VALIDATION (NUL, LONE_SURROGATE) that names the place.
 */
export function checkText(text: string, pointer: string): void {
  const fault = faultOfText(text);
  if (fault === undefined) return;
  const { reason, message } = fault;
  throw toolFailure(reason, `${pointer} ${message}.`, { details: { violations: [{ pointer, message }] } });
}

function hintOf(said: string): string {
  const near = didYouMean(said, MODES);
  return near === undefined ? '' : `; did you mean "${near}"?`;
}

function wrong(field: string, message: string): ToolFailure {
  const pointer = field === '' ? '/context' : `/context/${field}`;
  return toolFailure('MALFORMED_CALL', `${pointer} ${message}.`, {
    details: { violations: [{ pointer, message }] },
  });
}
