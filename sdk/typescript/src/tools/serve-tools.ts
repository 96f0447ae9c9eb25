// A small server for tools, on Node.js. Behind it a proxy ends TLS, where the gateway is on another machine.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { AnyTool } from './define-tool.ts';
import { toolHandler, type HandlerOptions } from './tool-handler.ts';

export interface ServeOptions extends HandlerOptions {
  /** Any that is free when left out. */
  readonly port?: number;
  readonly host?: string;
}

export interface ToolServer {
  readonly url: string;
  /** Calls that are under way end first. */
  close(): Promise<void>;
}

export async function serveTools(tools: readonly AnyTool[], options: ServeOptions): Promise<ToolServer> {
  const { port = 0, host = '127.0.0.1', ...rest } = options;
  const handle = toolHandler(tools, rest);
  const server = createServer((request, response) => {
    answer(handle, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeIdleConnections();
      }),
  };
}

async function answer(
  handle: (request: Request) => Promise<Response>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const method = request.method ?? 'GET';
  const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  );
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const init = { method, headers, signal: gone.signal };
  const body = { body: Readable.toWeb(request) as ReadableStream<Uint8Array>, duplex: 'half' as const };
  const { pathname } = new URL(request.url ?? '/', 'http://tools.invalid');
  const answered = await handle(
    new Request(`http://tools.invalid${pathname}`, hasBody ? { ...init, ...body } : init),
  );
  response.writeHead(answered.status, Object.fromEntries(answered.headers));
  response.end(await answered.text());
}
