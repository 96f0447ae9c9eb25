// A service that embeds texts as OpenAI's API does: words of one concept lie in one direction, every other text in one of its own.
import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { LoopbackServers } from './loopback-servers.ts';

const CONCEPTS = [
  /dog|puppy|hound|canine/i,
  /car|vehicle|drive/i,
  /tea|beverage|drink/i,
  /doctor|physician/i,
];
const OTHERS = 12;

export interface Asked {
  readonly model?: string;
  readonly input?: string;
  readonly dimensions?: number;
  readonly authorization: string | undefined;
}

export class EmbeddingService {
  readonly #servers = new LoopbackServers();
  readonly asked: Asked[] = [];
  /** What it answers instead: a body with status 200, a status, or nothing at all. */
  instead: { readonly body: string } | { readonly status: number } | 'nothing' | undefined;
  /** Texts that it never takes. */
  refuses: RegExp | undefined;
  url = '';

  async start(): Promise<this> {
    const origin = await this.#servers.http((request, response) => this.#answer(request, response));
    this.url = `${origin}/v1/embeddings`;
    return this;
  }

  close(): Promise<void> {
    return this.#servers.close();
  }

  /** As gateway.yaml has it. */
  settings(more: object = {}): object {
    const port = Number(new URL(this.url).port);
    return { url: this.url, model: 'toy', allow_private: ['127.0.0.0/8'], allow_ports: [port], ...more };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const said = (await json(request)) as { model?: string; input?: string; dimensions?: number };
    this.asked.push({ ...said, authorization: request.headers.authorization });
    const isRefused = this.refuses?.test(said.input ?? '') === true;
    const instead = isRefused ? { status: 400 } : this.instead;
    if (instead === 'nothing') return;
    if (instead !== undefined && 'status' in instead) {
      response.writeHead(instead.status, { 'content-type': 'application/json' });
      response.end('{"error": {"message": "told by the service"}}');
      return;
    }
    const embedding = vectorOf(said.input ?? '');
    const answer = {
      object: 'list',
      model: said.model,
      data: [{ object: 'embedding', index: 0, embedding }],
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(instead?.body ?? JSON.stringify(answer));
  }
}

function vectorOf(text: string): readonly number[] {
  const concepts = CONCEPTS.map((concept) => (concept.test(text) ? 1 : 0));
  const own = hash('sha256', text, 'buffer').subarray(0, OTHERS);
  const isNone = concepts.every((value) => value === 0);
  return [...concepts, ...[...own].map((byte) => (byte / 255 - 0.5) * (isNone ? 1 : 0.05))];
}
