// The key of an answer: everything that may make two answers differ. Equal keys, and only they, share an answer.
import { hash } from 'node:crypto';
import type { JsonObject } from '../../contract/json.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { canonicalHash } from '../../lib/json/canonical-json.ts';
import type { CacheOptions } from './options.ts';

export interface KeyAbout {
  readonly generation?: string;
  /** The tool calls others, each decided for the caller: whatever its scope, the answer is the caller's. */
  readonly isCallers?: boolean;
}

/** Undefined where there is none: no session for answers of a session, or arguments that have no canonical form. */
export function cacheKeyOf(
  call: ToolCall,
  fn: ToolFunction,
  { scope, ttl_ms: ttlMs = 0, stale_if_error_ms: staleMs }: CacheOptions,
  { generation = '', isCallers = false }: KeyAbout = {},
): string | undefined {
  const shared = whoseAnswer(call, scope);
  if (shared === undefined) return undefined;
  const whose = isCallers ? callerOf(call) : shared;
  try {
    const { name, spec } = fn;
    const content = [
      scope,
      whose,
      name,
      spec.contentHash,
      canonicalHash(call.arguments),
      configHash(call, fn),
      call.context.mode ?? '',
      // Other times mean other entries: how old one is, is told by when it ends.
      [ttlMs, staleMs],
      generation,
    ];
    return hash('sha256', JSON.stringify(content), 'base64url');
  } catch {
    return undefined;
  }
}

/** An answer of a session is its agent's and its user's as well: whoever else names the session does not get it. */
function whoseAnswer({ context }: ToolCall, scope: CacheOptions['scope']): readonly string[] | undefined {
  const { tenantId = '', sessionId = '', agentId = '', userId = '' } = context;
  if (scope === 'global') return [];
  if (scope === 'tenant') return [tenantId];
  return sessionId === '' ? undefined : [tenantId, sessionId, agentId, userId];
}

/** Whatever the steps may be decided by: who calls, with which rights, for whom, and in which session. */
function callerOf({ context, principal }: ToolCall): readonly unknown[] {
  const { tenantId = '', sessionId = '', agentId = '', userId = '' } = context;
  const { id = '', roles = [], permissions = [] } = principal ?? {};
  return ['caller', tenantId, sessionId, agentId, userId, id, [...roles].sort(), [...permissions].sort()];
}

/** What the operator set for this agent, the secret part too; the defaults are part of the tool's content already. */
function configHash(
  { config, sensitiveConfig, agentTool }: ToolCall,
  { configDefaults }: ToolFunction,
): string {
  // No two configurations have had one revision.
  if (agentTool !== undefined) return String(agentTool.revision);
  if (config === configDefaults && isEmpty(sensitiveConfig)) return '';
  return canonicalHash([config, sensitiveConfig]);
}

function isEmpty(value: JsonObject): boolean {
  return Object.keys(value).length === 0;
}
