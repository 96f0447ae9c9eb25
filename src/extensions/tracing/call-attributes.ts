// What a span says of its call. Arguments and results are in it only where an operator has asked for them.
import type { Attributes } from '@opentelemetry/api';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { JsonValue } from '../../contract/json.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import { secretScrubber } from '../../lib/secrets/scrub-secrets.ts';
import { SENSITIVE_MARK, sealSensitive } from '../../lib/secrets/sensitive-values.ts';
import {
  CONVERSATION,
  OPERATION,
  TOOL_ARGUMENTS,
  TOOL_CALL_ID,
  TOOL_NAME,
  TOOL_RESULT,
  TOOL_TYPE,
} from '../../ports/telemetry/span-attributes.ts';

const MAX_CONTENT_CHARACTERS = 4_096;

export function atStart({ id, request, context, phase }: ToolCall): Attributes {
  const { sessionId } = context;
  return {
    [OPERATION]: 'execute_tool',
    [TOOL_NAME]: request.tool.slice(0, 200),
    [TOOL_CALL_ID]: id,
    'ute.door': request.door,
    'ute.phase': phase.kind,
    ...(sessionId !== undefined && { [CONVERSATION]: sessionId }),
  };
}

/** Tenant and principal are those of an accepted credential. */
export function atEnd({ progress }: ToolCall, { meta, ...response }: ToolResponse): Attributes {
  const caller = progress.caller?.principal;
  return {
    [TOOL_TYPE]: meta.executor === 'sql' ? 'datastore' : 'extension',
    'ute.executor': meta.executor,
    'ute.tool.version': meta.toolVersion,
    'ute.attempts': meta.attempts,
    'ute.cache.hit': meta.cached,
    ...(caller !== undefined && { 'ute.tenant.id': caller.tenantId, 'ute.principal.id': caller.id }),
    ...(response.ok && { 'ute.result.size': response.dataJson.length }),
  };
}

/**
 * The arguments that the tool was given, and no others: what was refused before may hold a sensitive value where no schema
 * marks it, or what a rule masks. What was hidden of them is hidden wherever else it stands, too.
 */
export function contentOf(
  { snapshot, progress, arguments: asked }: ToolCall,
  response: ToolResponse,
): Attributes {
  // Out here the call itself does not know its tool yet.
  const fn = progress.pinned ?? snapshot.find(response.meta.tool)?.function;
  if (fn === undefined) return {};
  const { enteredWith } = progress;
  const given = sealSensitive(fn.inputSchema, enteredWith ?? asked, () => SENSITIVE_MARK);
  const scrubber = secretScrubber(given.secrets);
  const shown = (value: JsonValue) => cut(scrubber.text(JSON.stringify(value)));
  const args: Attributes = enteredWith === undefined ? {} : { [TOOL_ARGUMENTS]: shown(given.value) };
  if (!response.ok) return args;
  const got = sealSensitive(fn.outputSchema ?? {}, response.data, () => SENSITIVE_MARK);
  return { ...args, [TOOL_RESULT]: shown(got.value) };
}

const cut = (text: string) => text.slice(0, MAX_CONTENT_CHARACTERS);
