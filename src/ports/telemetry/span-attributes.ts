// Attributes of spans that several parts must agree on. The gen_ai ones are OpenTelemetry's, kept here: it marks them as moving.

/** Set at the start of a span that is made because its call has failed: such a span is always kept. */
export const FAILED_CALL = 'ute.failed_call';
export const OPERATION = 'gen_ai.operation.name';
export const TOOL_NAME = 'gen_ai.tool.name';
export const TOOL_TYPE = 'gen_ai.tool.type';
export const TOOL_CALL_ID = 'gen_ai.tool.call.id';
export const TOOL_ARGUMENTS = 'gen_ai.tool.call.arguments';
export const TOOL_RESULT = 'gen_ai.tool.call.result';
export const CONVERSATION = 'gen_ai.conversation.id';
