// An http loader over a server of a test's own on loopback, which serves one document after the other.
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { JsonObject } from '../../src/contract/json.ts';
import type { LoadedTools } from '../../src/contract/tool/loaded-tools.ts';
import { UndiciHttpClient } from '../../src/infra/http/undici-http-client.ts';
import { httpLoader } from '../../src/loaders/http/index.ts';
import { optionsSchema } from '../../src/loaders/http/options.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { HttpClient } from '../../src/ports/egress/http-client.ts';
import { recordingLog, recordingMetrics } from './call-kit.ts';
import { SourceLoader, type LoadedSource } from './loaded-source.ts';
import { LoopbackServers } from './loopback-servers.ts';
import { realClock } from './python-ports.ts';
import { removeDir, tempDir } from './temp-tools.ts';

/** What the server says, and what it was asked. */
export interface Served {
  body: string | Buffer;
  status: number;
  headers: Record<string, string | string[]>;
  /** Instead of an answer. */
  answer?: (request: IncomingMessage, response: ServerResponse) => void;
  readonly asked: { readonly url: string; readonly headers: IncomingMessage['headers'] }[];
}

export class HttpLoaderBench {
  readonly dir = tempDir();
  readonly log = recordingLog();
  readonly metrics = recordingMetrics();
  readonly http = new UndiciHttpClient();
  readonly servers = new LoopbackServers();
  readonly served: Served = {
    body: 'tools: []\n',
    status: 200,
    headers: { 'content-type': 'application/yaml' },
    asked: [],
  };
  url = '';

  /** A server with ETags, as any static file server has them. */
  async start(): Promise<this> {
    const origin = await this.servers.http((request, response) => this.#serve(request, response));
    this.url = `${origin}/tools.yaml`;
    return this;
  }

  async close(): Promise<void> {
    await this.servers.close();
    await this.http.close();
    removeDir(this.dir);
  }

  loader(
    options: JsonObject = {},
    { clock = realClock, http = this.http }: { readonly clock?: Clock; readonly http?: HttpClient } = {},
  ): SourceLoader {
    const { log, metrics, dir } = this;
    const needs = { http, clock, log, metrics, configDir: dir, dataDir: join(dir, 'data') };
    const said = { url: this.url, allow_private: ['127.0.0.0/8'], allow_ports: ['1-65535'], ...options };
    return new SourceLoader('http', httpLoader.create(needs)(optionsSchema.parse(said)), needs);
  }

  async load(body: string | Buffer, options: JsonObject = {}): Promise<LoadedSource> {
    this.served.body = body;
    return load(this.loader(options));
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const { body, status, headers, answer, asked } = this.served;
    asked.push({ url: request.url ?? '', headers: request.headers });
    if (answer !== undefined) return answer(request, response);
    const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`;
    if (status === 200 && request.headers['if-none-match'] === etag) {
      response.writeHead(304, { etag }).end();
      return;
    }
    response.writeHead(status, { etag, ...headers }).end(body);
  }
}

export function load(loader: SourceLoader): Promise<LoadedSource> {
  return loader.load();
}

export function namesOf({ tools }: LoadedTools): readonly string[] {
  return tools.map(({ value }) => (value as { name: string }).name);
}

export function messagesOf({ problems }: LoadedTools): readonly string[] {
  return problems.map(({ message }) => message);
}

/** One http tool as YAML, to stand below `tools:`. */
export function httpTool(name: string, more = ''): string {
  return [
    `  - name: ${name}`,
    `    description: Test tool ${name}`,
    `    tool_type: http`,
    `    implementation_config: { url: "https://api.example.com/${name}" }`,
    ...(more === '' ? [] : [`    ${more}`]),
    '',
  ].join('\n');
}

export function document(...tools: string[]): string {
  return `tools:\n${tools.join('')}`;
}
