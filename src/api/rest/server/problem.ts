// RFC 9457 problems: how the management side answers errors, and the filter that catches what no route handled.
import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toolFailure } from '../../../contract/call/failure.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { Log } from '../../../ports/telemetry/log.ts';
import type { KnownRoutes } from './known-routes.ts';
import { problemOf } from './problem-of.ts';

export function sendProblem(reply: FastifyReply, failure: ToolFailure, instance: string): void {
  const { status, json } = problemOf(failure, instance);
  if (failure.type === 'AUTH') reply.header('www-authenticate', 'Bearer');
  if (failure.retryAfterMs !== undefined)
    reply.header('retry-after', String(Math.ceil(failure.retryAfterMs / 1000)));
  reply.code(status).header('content-type', 'application/problem+json').send(json);
}

/** No error: the same is to be said again with a token once somebody has approved it. Where the approval stands is told. */
function sendApprovalRequired(reply: FastifyReply, { reason, message, details }: ToolFailure): void {
  const { approval_url: url } = details;
  if (typeof url === 'string') reply.header('location', url);
  reply
    .code(202)
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify({ status: 'approval_required', reason, message, ...details }));
}

export function sendFailure(reply: FastifyReply, failure: ToolFailure, path: string): void {
  if (failure.type === 'CONFIRMATION_REQUIRED') sendApprovalRequired(reply, failure);
  else sendProblem(reply, failure, path);
}

/** Everything thrown in REST ends here, so that no path answers with a stack trace or a bare 500. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    private readonly log: Log,
    private readonly routes: KnownRoutes,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    const request = http.getRequest<FastifyRequest>();
    const path = request.url.split('?')[0] ?? '';
    // A request without a route is refused for that, whatever else is wrong with it.
    const allowed = request.is404 || isNotFound(thrown) ? this.routes.methodsOf(path) : [];
    if (allowed.length > 0) reply.header('allow', allowed.join(', '));
    const failure = allowed.length > 0 ? wrongMethod(request.method, allowed) : asFailure(thrown);
    if (failure.type === 'INTERNAL') this.log.error({ err: thrown, path: request.url }, 'request failed');
    if (reply.sent) return;
    sendFailure(reply, failure, path);
  }
}

function isNotFound(thrown: unknown): boolean {
  return thrown instanceof HttpException && thrown.getStatus() === 404;
}

function wrongMethod(method: string, allowed: readonly string[]): ToolFailure {
  const message = `This route does not take ${method}; it takes ${allowed.join(', ')}.`;
  return toolFailure('METHOD_NOT_ALLOWED', message);
}

export function asFailure(thrown: unknown): ToolFailure {
  if (thrown instanceof ToolFailure) return thrown;
  const status = thrown instanceof HttpException ? thrown.getStatus() : statusOf(thrown);
  if (status === 404) return toolFailure('ROUTE_NOT_FOUND', 'There is no such route.');
  if (status === 414) return toolFailure('URI_TOO_LONG', 'The URL, or a part of it, is too long.');
  if (status === 413) return new ToolFailure('PAYLOAD_TOO_LARGE', 'The body is larger than the limit.');
  if (status === 503) return toolFailure('DRAINING', 'The gateway is shutting down.');
  if (status >= 400 && status < 500) {
    const message = thrown instanceof Error ? thrown.message : 'The request is not valid.';
    return toolFailure('BAD_REQUEST', message);
  }
  return new ToolFailure('INTERNAL', 'The gateway failed to answer this request.', { cause: thrown });
}

function statusOf(thrown: unknown): number {
  const status = (thrown as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : 500;
}
