// What the package exports. Tools of one's own, adapters and the loop have entries of their own.
export { GatewayClient, type CallResult, type ClientOptions } from './client/client.ts';
export { AcceptedCall, type CallEvent } from './client/accepted-call.ts';
export { Approvals, type ApprovalEvent } from './client/approvals.ts';
export type { CallContext, CallOptions, Retries } from './client/call-options.ts';
export type { RequestOptions, Route, Terms } from './client/requests.ts';
export type { RetryPolicy } from './client/retry.ts';
export type { CallRoute } from './client/call-route.ts';
export type { StreamMessage, StreamStart } from './stream/messages.ts';
export { StreamedCall } from './stream/streamed-call.ts';
export { ToolStream, type StreamCallOptions } from './stream/tool-stream.ts';
export { OpenSession, Sessions } from './client/sessions.ts';
export { Tools, type ToolFilter, type ToolFormat } from './client/tools.ts';
export type { TokenSource } from './client/transport.ts';
export * from './errors/gateway-error.ts';
export type * from './generated/gateway.ts';
