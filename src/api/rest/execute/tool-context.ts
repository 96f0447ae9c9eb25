// The context of a call on the wire: for whom and where in a conversation it is made.
import { z } from 'zod';
import { INTERACTION_MODES } from '../../../contract/tool/tool-spec.ts';
import { flag, named, oneOf } from '../route/shapes.ts';

const field = (description: string) => z.string().min(1).max(512).optional().describe(description);

export const ToolContext = named('ToolContext', () =>
  z.strictObject({
    session_id: field('The conversation the call belongs to.'),
    agent_id: field('The agent the call is made for; the credential must be allowed to speak for it.'),
    user_id: field('The user the call is made for.'),
    tenant_id: field('Must be the tenant of the credential.'),
    business_id: field('Another name for tenant_id.'),
    mode: oneOf(INTERACTION_MODES).optional(),
    turn_id: field('The turn of the conversation.'),
    idempotency_key: field('As the header Idempotency-Key.'),
    confirmation_token: field('Redeems an approval of exactly this call.'),
    dry_run: flag('Asks what the call would do, without doing it.').optional(),
    cursor: field('From meta.truncated of an earlier answer: go on after its last item.'),
    tool_version: field(
      'The version of the tool to run: its content_hash, or its version. The one in force when left out.',
    ),
    toolset: field('The toolset that the tool is called through, by the name that it has there.'),
    language: field(
      'The language that the user is spoken to in, such as de or pt-BR: safe answers are given in it.',
    ),
    traceparent: field('W3C trace context; the header of this name comes first.'),
    tracestate: field('W3C trace state.'),
  }),
);
