// A tool_call of a stream as a ToolRequest: of the stream's session and its turn. What is wrong with it becomes a refusal.
import type { Credential } from '../../../contract/call/principal.ts';
import type { LargeIntegers, ToolRequest } from '../../../contract/call/tool-call.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { readCall } from '../../rest/execute/read-call.ts';
import { invalid } from '../../rest/route/violations.ts';
import type { ClientMessageOf } from '../messages/client-messages.ts';

export interface CallOfStream {
  readonly credential: Credential;
  readonly tenantId: string;
  readonly sessionId: string;
  readonly turnId: string;
  readonly language: string | undefined;
  /** What refuses it, whatever it says. */
  readonly refusal: ToolFailure | undefined;
}

const NOT_ASYNC = { respondAsync: false };

export function readStreamCall(
  {
    tool_name: tool = '',
    arguments: args = {},
    context = {},
    timeout_ms: timeoutMs,
  }: Partial<ClientMessageOf<'tool_call'>>,
  { credential, tenantId, sessionId, turnId, language, refusal }: CallOfStream,
  largeIntegers: LargeIntegers,
): Omit<ToolRequest, 'door' | 'whenGone' | 'emit'> {
  const said = context['session_id'];
  const foreign =
    said === undefined || said === sessionId
      ? undefined
      : invalid('/context/session_id', 'must be the session of the stream, or left out');
  const usual = { turn_id: turnId, ...(language !== undefined && { language }) };
  const body = { arguments: args, context: { ...usual, ...context, session_id: sessionId } };
  const env = { credential, timeoutMs, traced: { tenantId }, prefer: NOT_ASYNC, whenGone: () => undefined };
  return readCall(tool, refusal ?? foreign ?? body, env, largeIntegers);
}
