// Asks a human about a call: what is kept of it until somebody has decided, and the token that redeems the decision.
import { hash, randomBytes } from 'node:crypto';
import { approvedPayload } from '../../contract/call/approval/approved-payload.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { PreparedFunction } from '../../contract/plugin.ts';
import type { RiskLevel, ToolMetadata } from '../../contract/tool/tool-spec.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { uuidv7 } from '../../lib/ids.ts';
import { SENSITIVE_MARK, sealSensitive } from '../../lib/secrets/sensitive-values.ts';
import type { NewApproval } from '../../ports/approvals/approval-store.ts';
import type { Clock } from '../../ports/clock.ts';

function maskedArguments(call: ToolCall, fn: ToolFunction): JsonObject {
  return sealSensitive(fn.inputSchema, call.arguments, () => SENSITIVE_MARK).value;
}

const MOST_WOULD_CHARS = 64 * 1024;

/** Undefined where the executor cannot say it, or says more than anybody reads. What it shows of a call is masked already. */
async function rendered(
  call: ToolCall,
  executor: Pick<PreparedFunction, 'render'> | undefined,
): Promise<JsonObject | undefined> {
  try {
    const would = await executor?.render?.(call);
    return would !== undefined && JSON.stringify(would).length <= MOST_WOULD_CHARS ? would : undefined;
  } catch {
    // It is said when the call runs.
    return undefined;
  }
}

/** What is dangerous is of high risk at least, whatever it says. */
export function riskOf({ isDangerous, riskLevel }: ToolMetadata): RiskLevel {
  return isDangerous && riskLevel !== 'critical' ? 'high' : riskLevel;
}

/** What an approval is good for. */
export type BoundTo = Pick<
  NewApproval,
  'tenantId' | 'tool' | 'toolHash' | 'argumentsHash' | 'requestedBy' | 'agentId' | 'userId'
>;

export interface Asking {
  readonly clock: Clock;
  readonly ttlMs: number;
  readonly quorum: number;
  readonly groups: readonly string[];
  readonly executor: Pick<PreparedFunction, 'render' | 'check'> | undefined;
}

/** What is to be kept of it, and the token, which is in nobody's hands yet. */
export async function askHuman(
  { clock, ttlMs, quorum, groups, executor }: Asking,
  call: ToolCall,
  fn: ToolFunction,
  bound: BoundTo,
): Promise<{ readonly asked: NewApproval; readonly token: string }> {
  const token = `ute_confirm_${randomBytes(32).toString('base64url')}`;
  const now = clock.wall();
  const { metadata } = fn.spec;
  const masked = maskedArguments(call, fn);
  const would = await rendered({ ...call, arguments: masked }, executor);
  const asked: NewApproval = {
    ...bound,
    id: uuidv7(now),
    requestedByUser: call.principal?.userId ?? '',
    tokenHash: hash('sha256', token),
    toolVersion: metadata.version,
    // For the approver's eyes alone: what runs is what the caller sends again.
    arguments: approvedPayload({ arguments: masked, phase: call.phase }),
    ...(would !== undefined && { would }),
    quorum,
    approverGroups: groups,
    riskLevel: riskOf(metadata),
    sessionId: call.context.sessionId ?? '',
    createdAt: now,
    expiresAt: now + ttlMs,
  };
  return { asked, token };
}
