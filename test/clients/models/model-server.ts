// A model's provider on loopback: looks at what a client sends as the provider would, and answers at once or as a stream.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { LoopbackServers } from '../../helpers/loopback-servers.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { chatCompletions, mistralChat } from './chat-completions.ts';
import { converse } from './converse.ts';
import { generateContent } from './generate-content.ts';
import { responses } from './responses.ts';
import { Refused, type Turn } from './script.ts';

type Body = Readonly<Record<string, unknown>>;

export interface ModelEvent {
  readonly event?: string;
  readonly data: unknown;
}

export interface ModelProtocol {
  /** The tools of a request, as its provider takes them. */
  tools(body: Body): unknown;
  /** Throws Refused for what the provider would refuse. */
  turn(body: Body): Turn;
  answer(turn: Turn): object;
  events(turn: Turn): readonly ModelEvent[];
  /** Of a stream that is not server-sent events. */
  readonly encode?: (event: ModelEvent) => Buffer;
}

interface Route {
  readonly path: RegExp;
  readonly protocol: ModelProtocol;
  /** Of the URL; elsewhere the body says it. */
  readonly streams?: boolean;
}

const ROUTES: readonly Route[] = [
  { path: /^\/openai\/v1\/chat\/completions$/, protocol: chatCompletions },
  { path: /^\/openai\/v1\/responses$/, protocol: responses },
  { path: /^\/anthropic\/v1\/messages$/, protocol: anthropicMessages },
  { path: /^\/gemini\/v1(?:beta)?\/models\/[\w.-]+:generateContent$/, protocol: generateContent },
  {
    path: /^\/gemini\/v1(?:beta)?\/models\/[\w.-]+:streamGenerateContent$/,
    protocol: generateContent,
    streams: true,
  },
  { path: /^\/mistral\/v1\/chat\/completions$/, protocol: mistralChat },
  { path: /^\/bedrock\/model\/[^/]+\/converse$/, protocol: converse },
  { path: /^\/bedrock\/model\/[^/]+\/converse-stream$/, protocol: converse, streams: true },
];

export interface ModelRequest {
  readonly path: string;
  readonly isStream: boolean;
  readonly tools: unknown;
}

export interface ModelServer {
  readonly url: string;
  /** In the order in which they came. */
  readonly requests: ModelRequest[];
}

export async function startModels(
  loopback: LoopbackServers,
  checkTools: (path: string, tools: unknown) => readonly string[],
): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, search } = new URL(request.url ?? '/', 'http://model');
    const route = ROUTES.find(({ path }) => path.test(decodeURIComponent(pathname)));
    if (route === undefined) return refuse(response, 404, `no such path: ${pathname}${search}`);
    const body = JSON.parse(await textOf(request)) as Body;
    const isStream = route.streams ?? body['stream'] === true;
    const tools = route.protocol.tools(body);
    requests.push({ path: pathname, isStream, tools });
    try {
      const refusals = checkTools(pathname, tools);
      if (refusals.length > 0) throw new Refused(`tools: ${refusals.join('; ')}`);
      await answer(response, route.protocol, route.protocol.turn(body), isStream);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refuse(response, 400, error.message);
    }
  }
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => refuse(response, 500, String(error)));
  });
  return { url: await loopback.listen(server), requests };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of request.setEncoding('utf8')) text += String(piece);
  return text;
}

/** In members that each of the SDKs looks for its message in. */
function refuse(response: ServerResponse, status: number, message: string): void {
  const error = { message, type: 'invalid_request_error', code: status, status: 'INVALID_ARGUMENT' };
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ type: 'error', message, error }));
}

async function answer(
  response: ServerResponse,
  protocol: ModelProtocol,
  turn: Turn,
  isStream: boolean,
): Promise<void> {
  if (!isStream) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(protocol.answer(turn)));
    return;
  }
  const { encode = serverSent } = protocol;
  const type = protocol.encode === undefined ? 'text/event-stream' : 'application/vnd.amazon.eventstream';
  response.writeHead(200, { 'content-type': type });
  for (const event of protocol.events(turn)) {
    response.write(encode(event));
    // Each as a piece of its own.
    await new Promise((next) => setImmediate(next));
  }
  response.end();
}

function serverSent({ event, data }: ModelEvent): Buffer {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return Buffer.from(`${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`);
}
