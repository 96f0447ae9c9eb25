// logging: one line per call with named fields. Arguments and results are never in it.
import type { ErrorType } from '../../contract/call/error-types.ts';
import { z } from 'zod';
import { callLogFields } from '../../contract/call/call-log-fields.ts';
import type { ExtensionPlugin, RequestExtension } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import type { Log } from '../../ports/telemetry/log.ts';

const optionsSchema = z.strictObject({
  level: z.enum(['debug', 'info']).default('info').describe('Level of the line for calls that succeed.'),
});
type LoggingOptions = z.infer<typeof optionsSchema>;
interface Needs {
  readonly log: Log;
}

export const logging: ExtensionPlugin<LoggingOptions, Needs> = {
  name: 'logging',
  summary: 'A structured log line for every call: tool, outcome, latency, result size, failure reason.',
  optionsSchema,
  create: ({ log }) => createLogging(log),
};

/** Outcomes that are the gateway's own trouble, not the caller's or the tool's. */
const SERIOUS: ReadonlySet<ErrorType> = new Set(['INTERNAL', 'OUTCOME_UNKNOWN']);

function createLogging(log: Log): RequestExtension<LoggingOptions> {
  return {
    stage: 'request',
    onFailure: 'continue',
    prepare({ level }) {
      const tell = (call: ToolCall, response: ToolResponse) => {
        if (response.meta.acceptedAt !== undefined) log[level](fieldsOf(call, response), 'call accepted');
        else if (response.ok) log[level](fieldsOf(call, response), 'call succeeded');
        else if (SERIOUS.has(response.error.type)) log.error(fieldsOf(call, response), 'call failed');
        else log.warn(fieldsOf(call, response), 'call refused or failed');
      };
      return (call, next) => ({ answer: next(call), tell: (response) => tell(call, response) });
    },
  };
}

function fieldsOf(call: ToolCall, response: ToolResponse) {
  const { meta } = response;
  const { through, tool } = call.request;
  const requested = through?.tool ?? tool;
  const fields = {
    ...callLogFields(call),
    door: call.request.door,
    tool: meta.tool || undefined,
    requestedTool: meta.tool === requested ? undefined : requested.slice(0, 200),
    toolset: through?.toolsetName.slice(0, 200),
    durationMs: meta.durationMs,
    attempts: meta.attempts,
  };
  if (meta.acceptedAt !== undefined) return { ...fields, outcome: 'accepted' };
  if (response.ok) return { ...fields, outcome: 'ok', resultBytes: response.dataJson.length };
  const { type, reason } = response.error;
  return { ...fields, outcome: type, reason, err: response.cause };
}
