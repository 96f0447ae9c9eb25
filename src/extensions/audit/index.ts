// audit: a record of every call, refused ones too; of calls that change something, one before they run as well.
import { z } from 'zod';
import type { ExtensionPlugin, RequestExtension } from '../../contract/plugin.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { isReason } from '../../contract/call/reasons/is-reason.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import { grantOf, type ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import type { AuditSink, Unmade } from '../../ports/audit-sink.ts';
import type { Clock } from '../../ports/clock.ts';
import { whole } from '../../lib/settings/whole.ts';
import { hashesQuickly, intentOf, outcomeOf } from './audit-record.ts';
import { PerSecond } from './per-second.ts';

const optionsSchema = z.strictObject({
  mode: z
    .enum(['strict', 'durable', 'best_effort'])
    .optional()
    .describe(
      'strict: a record is committed before the tool runs, and one after. durable: a record is on disk before the answer ' +
        'is given. best_effort: on disk within some 20 ms, dropped and counted where the buffer is full. Left out: strict for ' +
        'tools that are not read_only; for the others durable with a PostgreSQL, best_effort on the embedded database.',
    ),
  refused_credentials_per_second: whole(1)
    .default(50)
    .describe(
      'Records a second, on each replica, of calls whose credential is not valid: anybody can make those. How many more there were is in a record of the kind gap.',
    ),
});
type AuditOptions = z.infer<typeof optionsSchema>;
type AuditMode = NonNullable<AuditOptions['mode']>;
interface Needs {
  readonly auditSink: AuditSink;
  readonly clock: Clock;
}

export const audit: ExtensionPlugin<AuditOptions, Needs> = {
  name: 'audit',
  summary: 'A record of every call: who, what, with which arguments (as a hash), and how it ended.',
  optionsSchema,
  create: (needs) => createAudit(needs),
};

function createAudit({ auditSink: sink, clock }: Needs): RequestExtension<AuditOptions> {
  // Made once: a closure of each call would keep that call's request and response for as long as anything keeps its progress.
  const intend = (call: ToolCall) => {
    call.progress.isIntended = true;
    return sink.intend(intentOf(call, clock));
  };
  const quota = new PerSecond();
  const intendChange = (call: ToolCall) => (changes(call) ? intend(call) : undefined);
  return {
    stage: 'request',
    onFailure: 'deny',
    prepare: ({ mode: gatewayMode, refused_credentials_per_second: most }) =>
      async function record(call, next) {
        const { progress } = call;
        const { through, tool } = call.request;
        const fn = through?.runs?.function ?? call.snapshot.find(tool)?.function;
        const mode = modeFor(call, fn, gatewayMode, sink.readOnlyMode);
        if (mode === 'strict') progress.beforeExecution = intend;
        // The version that is the session's, or is assigned, may change something where the one in force only reads.
        else if (isForReading(fn, gatewayMode)) progress.beforeExecution = intendChange;
        // Asked first: a tool must not act when we already know that the act cannot be recorded.
        const ready = mode === 'best_effort' ? undefined : sink.ready();
        if (ready !== undefined) await ready;
        const response = await next(call);
        if (isOfNobody(response, call) && !quota.takes(most, clock.now())) {
          sink.omit(progress.caller?.principal.tenantId ?? '');
          return response;
        }
        const make = () => outcomeOf(call, progress.pinned ?? fn, response, clock);
        if (mode === 'best_effort' && progress.isIntended !== true) {
          sink.offer(make);
          return response;
        }
        let unmade: Unmade | undefined;
        try {
          // What takes long is not put off: the others of a group would all wait for it, in one turn of the event loop.
          if (hashesQuickly(call.request)) unmade = await sink.writeMade(make);
          else await sink.write(make());
        } catch (error) {
          throw unrecorded(response, error);
        }
        if (unmade?.has(make) === true) throw unrecorded(response, unmade.get(make));
        return response;
      },
  };
}

/** Nobody was let in by what it showed. A call that was accepted before is of whom it was accepted for, whose key may be gone. */
function isOfNobody(response: ToolResponse, call: ToolCall): boolean {
  if (response.ok || grantOf(call) !== undefined) return false;
  return call.progress.caller === undefined || isReason(response.error, 'CREDENTIAL_EXPIRED');
}

/**
 * A tool's own option lies over the gateway's; it was checked when the tool was loaded. Whether a version that is pinned
 * changes something is not known yet.
 */
function modeFor(
  { context }: ToolCall,
  fn: ToolFunction | undefined,
  gatewayMode: AuditMode | undefined,
  readOnlyMode: AuditMode,
): AuditMode {
  if (fn === undefined) return gatewayMode ?? 'durable';
  const own = fn.spec.extensions['audit']?.['mode'] as AuditMode | undefined;
  const isReadOnly = fn.spec.metadata.readOnly && context.toolVersion === undefined;
  return own ?? gatewayMode ?? (isReadOnly ? readOnlyMode : 'strict');
}

/** Nobody has chosen the mode: it follows from what the version in force does. */
function isForReading(fn: ToolFunction | undefined, gatewayMode: AuditMode | undefined): boolean {
  return gatewayMode === undefined && fn?.spec.extensions['audit']?.['mode'] === undefined;
}

function changes({ function: fn }: ToolCall): boolean {
  return fn?.spec.metadata.readOnly === false;
}

/** The tool may have run: the caller learns that, and that nobody wrote it down. */
function unrecorded(response: ToolResponse, cause: unknown): ToolFailure {
  return toolFailure('AUDIT_UNAVAILABLE', 'The call could not be recorded in the audit log.', {
    retryable: false,
    partialSideEffects: response.ok || response.error.partialSideEffects,
    cause,
  });
}
