// Answers to requests that never become requests: a URL that cannot be read, headers too large, bytes that are no HTTP.
import { STATUS_CODES, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { giveLastAnswer } from '../../../lib/connections/last-answer.ts';
import { problemOf } from './problem-of.ts';
import { asFailure, sendProblem } from './problem.ts';

/** Fastify's own refusals, before any route is found: a malformed URL, a part of it that is too long. */
export function answerUnrouted(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const failure =
    (error as { code?: unknown }).code === 'FST_ERR_BAD_URL'
      ? toolFailure('BAD_REQUEST', 'The URL cannot be read.')
      : asFailure(error);
  sendProblem(reply, failure, request.url.split('?')[0] ?? '');
}

/**
 * Node's own refusals, which have no body: a tunnel, and an expectation that nobody meets. A request that does not say its
 * host is refused by a hook.
 */
export function answerRefusedByNode(server: Server): void {
  server.on('connect', (_request, socket: Socket) => {
    end(socket, toolFailure('METHOD_NOT_ALLOWED', 'The gateway is no proxy: it takes no CONNECT.'));
  });
  server.on('checkExpectation', (_request, response: ServerResponse) => {
    const failure = toolFailure('BAD_REQUEST', 'The only expectation that is met is 100-continue.');
    const { status, json } = problemOf(failure, '');
    const headers = {
      'content-type': PROBLEM,
      'content-length': Buffer.byteLength(json),
      connection: 'close',
    };
    response.writeHead(status, headers).end(json);
  });
}

/**
 * What the parser of HTTP gives up on. A client that went away gets no answer, and is nobody's error; nor does one whose TLS
 * went wrong: before the end of a handshake an answer would wait for it, and the connection with it, for ever.
 */
export function answerUnparsed(error: Error & { readonly code?: string }, socket: Socket): void {
  const { code = '' } = error;
  const isOfHttp = code.startsWith('HPE_') || code === 'ERR_HTTP_REQUEST_TIMEOUT';
  if (isOfHttp && socket.writable) end(socket, failureOf(code));
  else socket.destroy();
}

const PROBLEM = 'application/problem+json';

function end(socket: Socket, failure: ToolFailure): void {
  const { status, json } = problemOf(failure, '');
  giveLastAnswer(
    socket,
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n` +
      `content-type: ${PROBLEM}\r\ncontent-length: ${Buffer.byteLength(json)}\r\nconnection: close\r\n\r\n${json}`,
  );
}

function failureOf(code: string | undefined): ToolFailure {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return toolFailure('HEADERS_TOO_LARGE', 'The URL and the headers are larger than the limit.');
  }
  return toolFailure('BAD_REQUEST', 'This is not a request of HTTP.');
}
