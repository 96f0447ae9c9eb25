// audit: one record for every call, refusals and unknown tools included. No record, no answer, unless told otherwise.
import { z } from 'zod';
import { canonicalHash } from '../../lib/canonical-json.ts';
import type { Extension, ExtensionPlugin } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/tool-call.ts';
import type { ToolResponse } from '../../contract/tool-response.ts';
import type { AuditRecord, AuditSink } from '../../ports/audit-sink.ts';
import type { Log } from '../../ports/log.ts';
import { ToolFailure } from '../../contract/tool-failure.ts';

const optionsSchema = z.strictObject({
  on_failure: z
    .enum(['deny', 'continue'])
    .default('deny')
    .describe(
      'What a call meets when its record cannot be kept: refusal before it runs, or an unrecorded run.',
    ),
});
type AuditOptions = z.infer<typeof optionsSchema>;
interface Needs {
  readonly auditSink: AuditSink;
  readonly log: Log;
}

export const audit: ExtensionPlugin<AuditOptions, Needs> = {
  name: 'audit',
  summary: 'A record of every call: who, what, with which arguments (as a hash), and how it ended.',
  optionsSchema,
  create: ({ auditSink, log }) => createAudit(auditSink, log),
};

function createAudit(sink: AuditSink, log: Log): Extension<AuditOptions> {
  return {
    stage: 'request',
    onFailure: 'deny',
    async around(call, next, options) {
      const mustKeep = options.on_failure === 'deny';
      // Asked first: a tool must not act when we already know that the act cannot be recorded.
      if (mustKeep) sink.check();
      const response = await next(call);
      try {
        const written = sink.write(recordOf(call, response));
        if (written !== undefined) await written;
      } catch (error) {
        if (mustKeep) throw unrecorded(response, error);
        log.error({ callId: call.id, err: error }, 'audit record lost');
      }
      return response;
    },
  };
}

/** The tool may have run: the caller learns that, and that nobody wrote it down. */
function unrecorded(response: ToolResponse, cause: unknown): ToolFailure {
  return new ToolFailure('UNAVAILABLE', 'The call could not be recorded in the audit log.', {
    reason: 'AUDIT_UNAVAILABLE',
    retryable: false,
    partialSideEffects: response.ok || response.error.partialSideEffects,
    cause,
  });
}

function recordOf(call: ToolCall, response: ToolResponse): AuditRecord {
  const { meta } = response;
  const { caller } = call.progress;
  return {
    at: isoOf(call.receivedAt),
    callId: call.id,
    door: call.request.door,
    principal: caller?.principal.id ?? '',
    tenant: caller?.context.tenantId ?? '',
    agent: caller?.context.agentId ?? '',
    user: caller?.context.userId ?? '',
    session: caller?.context.sessionId ?? '',
    requestedTool: call.request.tool.slice(0, 200),
    tool: meta.tool,
    toolVersion: meta.toolVersion,
    executor: meta.executor,
    outcome: response.ok ? 'ok' : response.error.type,
    reason: response.ok ? '' : response.error.reason,
    argumentsHash: hashOf(call),
    attempts: meta.attempts,
    durationMs: meta.durationMs,
    partialSideEffects: response.ok ? false : response.error.partialSideEffects,
    registryVersion: meta.registryVersion,
    traceId: meta.traceId,
    notes: notesOf(call),
  };
}

function notesOf({ context, progress, request }: ToolCall): AuditRecord['notes'] {
  const { parent } = request;
  if (progress.notes === undefined && parent === undefined && context.dryRun !== true) return undefined;
  return {
    ...progress.notes,
    ...(context.dryRun === true && { dry_run: true }),
    ...(parent !== undefined && { parent_call_id: parent.callId }),
  };
}

let lastMs = Number.NaN;
let lastIso = '';

/** Many calls share a millisecond. */
function isoOf(ms: number): string {
  if (ms !== lastMs) {
    lastMs = ms;
    lastIso = new Date(ms).toISOString();
  }
  return lastIso;
}

/** Empty where the arguments could not be read at all. */
function hashOf(call: ToolCall): string {
  return call.request.refusal === undefined ? canonicalHash(call.request.arguments) : '';
}
