// What both SDKs are tried on: a real gateway with tools that count how often they ran, behind a network that loses things.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { RoughNetwork } from './rough-network.ts';

const HANDLERS = `
import { setTimeout as wait } from 'node:timers/promises';
export const add = ({ a, b }) => a + b;
export const echo = (args) => args;
export async function report({ pages }, context) {
  for (let page = 1; page <= pages; page += 1) {
    context.partial({ page });
    context.progress(page / pages, 'page ' + page);
    await wait(40, undefined, { signal: context.signal });
  }
  return { pages };
}
`;

const object = (properties: object, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const NUMBERS = object({ a: { type: 'number' }, b: { type: 'number' } });
const ID = object({ id: { type: 'string', maxLength: 80 } });

const handler = (name: string, exported: string, input: object, more: object = {}) => ({
  name,
  description: `Calls ${exported}`,
  tool_type: 'javascript',
  input_schema: input,
  implementation_config: { handler: './handlers.js', export: exported, trusted: true },
  ...more,
});

function toolsOf(upstream: string): object[] {
  const http = (name: string, method: string, path: string, metadata: object) => ({
    name,
    description: `${method} ${path}`,
    tool_type: 'http',
    input_schema: ID,
    implementation_config: { method, url: `${upstream}${path}/{id}` },
    metadata,
  });
  return [
    handler('add', 'add', NUMBERS, { metadata: { category: 'utility', tags: ['math'], read_only: true } }),
    handler('limited', 'add', NUMBERS, {
      rate_limits: [{ per: 'tool', rate: 1, period: '1s', burst: 1 }],
      metadata: { read_only: true },
    }),
    handler('seldom', 'add', NUMBERS, {
      rate_limits: [{ per: 'tool', rate: 1, period: '1h', burst: 1 }],
      metadata: { read_only: true },
    }),
    handler('delete_note', 'echo', ID, { metadata: { is_dangerous: true, risk_level: 'high' } }),
    handler('delete_soon', 'echo', ID, {
      metadata: { is_dangerous: true },
      extensions: { approval: { ttl_ms: 1000 } },
    }),
    handler('report', 'report', object({ pages: { type: 'integer', minimum: 1, maximum: 50 } }), {
      metadata: { idempotent: true },
    }),
    http('write_entry', 'POST', '/entries', { category: 'action' }),
    http('write_slowly', 'POST', '/slow', { category: 'action' }),
    http('read_unstable', 'GET', '/unstable', { category: 'retrieval' }),
    http('write_unstable', 'POST', '/unstable', { category: 'action' }),
  ];
}

export interface OwnTools {
  readonly url: string;
  readonly secret: string;
}

const connectionTo = ({ url, secret }: OwnTools) => ({
  type: 'http',
  base_url: url,
  allow_private: ['127.0.0.0/8'],
  allow_ports: [Number(new URL(url).port)],
  propagate_deadline: true,
  auth: { type: 'bearer', token: secret },
});

export class SdkGateway {
  readonly loopback = new LoopbackServers();
  /** How often the upstream was asked, by path. */
  readonly asked = new Map<string, number>();
  readonly #dir = mkdtempSync(join(tmpdir(), 'ute-sdk-gateway-'));
  #running: RunningGateway | undefined;
  #network: RoughNetwork | undefined;

  get running(): RunningGateway {
    if (this.#running === undefined) throw new Error('the gateway was not started');
    return this.#running;
  }

  get network(): RoughNetwork {
    if (this.#network === undefined) throw new Error('the gateway was not started');
    return this.#network;
  }

  /** `connection`: where tools of an SDK are served, for definitions that are written by the API. */
  async start({ connection }: { readonly connection?: OwnTools } = {}): Promise<this> {
    const upstream = await this.loopback.http(async (request, response) => {
      const path = request.url ?? '';
      const times = (this.asked.get(path) ?? 0) + 1;
      this.asked.set(path, times);
      if (path.startsWith('/slow/')) await new Promise((done) => setTimeout(done, 1_500));
      const fails = path.startsWith('/unstable/') && times === 1;
      response.writeHead(fails ? 503 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ path, times }));
    });
    writeFileSync(join(this.#dir, 'handlers.js'), HANDLERS);
    const port = Number(new URL(upstream).port);
    const connections = connection === undefined ? {} : { connections: { own: connectionTo(connection) } };
    const file = join(this.#dir, 'tools.yaml');
    writeFileSync(file, stringify({ ...connections, tools: toolsOf(upstream) }));
    this.#running = await startGateway({
      tools: [file],
      settings: {
        executors: {
          http: { allow_private: ['127.0.0.0/8'], allow_ports: [port, '1024-65535'] },
          javascript: { workers: 2 },
        },
        ...(connection !== undefined && {
          loaders: [
            { type: 'yaml-file', paths: [file] },
            { type: 'postgres', connections: ['own'] },
          ],
        }),
      },
      roles: { author: ['tools:read', 'tools:call', 'specs:write'] },
      more: { author: { tenant: 'acme', roles: ['author'] } },
    });
    this.#network = await new RoughNetwork(this.running.url).listen(this.loopback);
    return this;
  }

  async stop(): Promise<void> {
    await this.loopback.close();
    await this.#running?.stop();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
