// approval: an unsafe call waits for a human. The token a caller gets back runs the same call once, after the decision.
import { hash } from 'node:crypto';
import { z } from 'zod';
import { approvedPayload } from '../../contract/call/approval/approved-payload.ts';
import type { ExtensionPlugin, Layer, ToolExtension } from '../../contract/plugin.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { whatCallRuns, type ToolFunction } from '../../contract/tool/tool-function.ts';
import { isUnsafe, RISK_LEVELS, type ToolMetadata } from '../../contract/tool/tool-spec.ts';
import { canonicalHash } from '../../lib/json/canonical-json.ts';
import type { Approval, ApprovalStore, RedemptionResult } from '../../ports/approvals/approval-store.ts';
import type { ApproverGroups } from '../../ports/approvals/approver-groups.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Counter, Metrics } from '../../ports/telemetry/metrics.ts';
import { askHuman, riskOf, type Asking, type BoundTo } from './ask-human.ts';
import { whole } from '../../lib/settings/whole.ts';
import { ACCESS_SERIES } from '../../ports/telemetry/series/access.ts';

const optionsSchema = z.strictObject({
  mode: z
    .enum(['never', 'unsafe_only', 'by_risk', 'always'])
    .default('unsafe_only')
    .describe(
      'Which tools need a human: none; those that are dangerous, need approval or are of high risk; those of `from_risk` and above; or all.',
    ),
  from_risk: z
    .enum(RISK_LEVELS)
    .default('high')
    .describe(
      'With mode by_risk: the least risk_level that needs a human. A dangerous tool has high at least; one that says requires_approval needs one always.',
    ),
  ttl_ms: whole(1_000, 7 * 86_400_000)
    .default(900_000)
    .describe('How long a request for approval, and the approval, can be used.'),
  quorum: whole(1, 20)
    .default(1)
    .describe('How many people have to approve a call. One rejection is enough.'),
  groups: z
    .array(z.string().min(1).max(64))
    .max(20)
    .default([])
    .describe('Groups of approvals.groups whose members may approve; none: whoever holds approvals:decide.'),
});
type ApprovalOptions = z.infer<typeof optionsSchema>;
interface Needs {
  readonly approvals: ApprovalStore;
  readonly approverGroups: ApproverGroups;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

export const approval: ExtensionPlugin<ApprovalOptions, Needs> = {
  name: 'approval',
  summary: 'Holds unsafe calls until somebody with approvals:decide has approved exactly these arguments.',
  optionsSchema,
  create: (needs) => createApproval(needs),
};

function createApproval({
  approvals,
  approverGroups,
  clock,
  metrics,
}: Needs): ToolExtension<ApprovalOptions> {
  const counted = metrics.counter(ACCESS_SERIES.ute_approvals_total);
  const series = {
    requested: counted.with('requested'),
    redeemed: counted.with('redeemed'),
    refused: counted.with('refused'),
  };
  return {
    stage: 'tool',
    onFailure: 'deny',
    phases: ['admit'],
    explains: true,
    prepare(fn, options, executor) {
      const { ttl_ms: ttlMs, quorum, groups } = options;
      refuseUnknown(groups, approverGroups);
      const needsHuman = isForHumans(fn.spec.metadata, options);
      if (!needsHuman && fn.spec.mayNeedApproval !== true) return undefined;
      const approve = approvedOnly(fn, { clock, ttlMs, quorum, groups, executor }, approvals, series);
      if (needsHuman) return approve;
      return function approveWhereAsked(call, next) {
        return call.progress.needsApproval === true ? approve(call, next) : next(call);
      };
    },
  };
}

function isForHumans(metadata: ToolMetadata, { mode, from_risk: from }: ApprovalOptions): boolean {
  if (mode === 'never' || mode === 'always') return mode === 'always';
  if (mode === 'unsafe_only') return isUnsafe(metadata);
  return metadata.requiresApproval || RISK_LEVELS.indexOf(riskOf(metadata)) >= RISK_LEVELS.indexOf(from);
}

type Series = Readonly<Record<'requested' | 'redeemed' | 'refused', Counter>>;

/** Passes on what a human has approved; and what is kept until one has. */
function approvedOnly(fn: ToolFunction, asking: Asking, approvals: ApprovalStore, series: Series): Layer {
  return async function approve(call, next) {
    if (call.phase.kind === 'explain') {
      call.phase.tell('approval', { required: true });
      return next(call);
    }
    // Nothing is done that anybody would have to approve.
    if (call.context.dryRun === true) return next(call);
    const token = call.context.confirmationToken;
    const runs = await whatCallRuns(call, fn);
    if (token === undefined) {
      if (runs === undefined) throw changing();
      await asking.executor?.check?.(call);
      const { asked, token: made } = await askHuman(asking, call, fn, boundTo(call, fn, runs));
      series.requested.add();
      if (call.phase.kind !== 'admit' || call.phase.awaitsApproval !== true)
        throw required(await approvals.create(asked), made);
      // Nobody gets the token: the call is kept, and the decision itself has it run.
      call.progress.awaited = asked;
      call.progress.approvedFor = asked.toolHash;
      return next(call);
    }
    // What is changing now is not what was approved: no hash is empty.
    const bound = boundTo(call, fn, runs ?? '');
    const result = await approvals.redeem({ tokenHash: hash('sha256', token), ...bound });
    if (!result.redeemed) {
      series.refused.add();
      throw notRedeemed(result);
    }
    series.redeemed.add();
    call.progress.approvedFor = bound.toolHash;
    return next(call);
  };
}

/** What an approval is good for: this tool and all that it runs as it is now, these arguments, this caller. */
function boundTo(call: ToolCall, fn: ToolFunction, runs: string): BoundTo {
  const { tenantId = '', agentId = '', userId = '' } = call.context;
  return {
    tenantId,
    tool: fn.name,
    toolHash: runs,
    argumentsHash: canonicalHash(approvedPayload(call)),
    requestedBy: call.principal?.id ?? '',
    agentId,
    userId,
  };
}

/** Nobody could approve such a call. Keeps the tool from being loaded. */
function refuseUnknown(groups: readonly string[], { names }: ApproverGroups): void {
  const unknown = groups.find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const known = names.length === 0 ? 'it names none' : `it names ${names.join(', ')}`;
  throw new Error(
    `extensions.approval.groups: approvals.groups of gateway.yaml has no group "${unknown}"; ${known}`,
  );
}

function required(approval: Approval, token?: string): ToolFailure {
  const message =
    token === undefined
      ? 'Nobody has decided about this call yet. Repeat it with the same confirmation_token after the approval.'
      : 'This call needs approval. After it is approved, repeat it with context.confirmation_token.';
  return new ToolFailure('CONFIRMATION_REQUIRED', message, {
    reason: token === undefined ? 'APPROVAL_PENDING' : 'APPROVAL_REQUIRED',
    details: {
      approval_id: approval.id,
      approval_url: `/v1/approvals/${approval.id}`,
      expires_at: new Date(approval.expiresAt).toISOString(),
      ...(token !== undefined && { confirmation_token: token }),
    },
  });
}

const WHY_NOT = {
  unknown: ['APPROVAL_UNKNOWN', 'The confirmation token is not known.'],
  expired: ['APPROVAL_EXPIRED', 'The approval has expired: call again without a token to ask anew.'],
  used: ['APPROVAL_USED', 'The approval was used already: it is good for one call.'],
  cancelled: ['APPROVAL_UNKNOWN', 'The confirmation token is not known.'],
  other_call: [
    'APPROVAL_MISMATCH',
    'The approval is for another call: tool, arguments and caller must be the same.',
  ],
  tool_changed: [
    'APPROVAL_STALE',
    'The tool, or the code, connection or configuration that it runs with, was changed since the approval: call again without a token to ask anew.',
  ],
} as const;

function changing(): ToolFailure {
  const message =
    'The code of this tool has just been changed and is not in force yet: nobody can approve it now.';
  return toolFailure('TOOL_CHANGING', message, { retryAfterMs: 3_000 });
}

function notRedeemed(result: RedemptionResult & { redeemed: false }): ToolFailure {
  const { why, approval } = result;
  if (why === 'pending' && approval !== undefined) return required(approval);
  if (why === 'rejected') {
    const said = approval?.comment;
    return toolFailure('APPROVAL_REJECTED', 'The call was rejected by an approver.', {
      details: said === undefined ? {} : { comment: said },
    });
  }
  const [reason, message] = WHY_NOT[why === 'pending' ? 'unknown' : why];
  return toolFailure(reason, message);
}
