// Tools: which ones there are, as the gateway describes them or as a provider takes them.
import type { Routes, Tool, ToolDocs } from '../generated/gateway.ts';
import type { CallContext } from './call-options.ts';
import type { Requests, Terms } from './requests.ts';

type Query = Routes['GET /v1/tools']['query'];
export type ToolFormat = NonNullable<Query['format']>;
export type ToolFilter = Omit<Query, 'format' | 'strict' | 'page_size' | 'page_token'>;

export class Tools {
  readonly #requests: Requests;
  readonly #context: CallContext;

  constructor(requests: Requests, context: CallContext) {
    this.#requests = requests;
    this.#context = context;
  }

  /** All of them, page by page. */
  async list(filter: ToolFilter = {}, terms: Terms = {}): Promise<Tool[]> {
    const found: Tool[] = [];
    let token: string | undefined;
    do {
      const query = { ...this.#filter(filter), page_size: 1000, page_token: token };
      const page = await this.#requests.request('GET /v1/tools', { query, ...terms });
      if (typeof page !== 'object' || !('next_page_token' in page)) break;
      const { tools, next_page_token: next } = page as { tools: Tool[]; next_page_token: string };
      found.push(...tools);
      token = next || undefined;
    } while (token !== undefined);
    return found;
  }

  get(name: string, terms: Terms = {}): Promise<Tool> {
    return this.#requests.request('GET /v1/tools/{name}', { path: { name }, ...terms });
  }

  docs(name: string, terms: Terms = {}): Promise<ToolDocs> {
    return this.#requests.request('GET /v1/tools/{name}/docs', { path: { name }, ...terms });
  }

  /** As the SDK of a provider takes them. `Provider` is what the caller takes the answer for. */
  async as<Provider = unknown[]>(
    format: Exclude<ToolFormat, 'prompt'>,
    filter: ToolFilter & { readonly strict?: boolean } = {},
    terms: Terms = {},
  ): Promise<Provider> {
    const query = { ...this.#filter(filter), format };
    return (await this.#requests.request('GET /v1/tools', { query, ...terms })) as Provider;
  }

  /** A text for the system prompt of a model without tools. */
  async prompt(filter: ToolFilter = {}, terms: Terms = {}): Promise<string> {
    const query = { ...this.#filter(filter), format: 'prompt' as const };
    return (await this.#requests.request('GET /v1/tools', { query, ...terms })) as string;
  }

  /** What an agent may not call, it need not see. */
  #filter(filter: ToolFilter): ToolFilter {
    const { agent_id: agentId, mode } = this.#context;
    return {
      ...(agentId !== undefined && { agent_id: agentId }),
      ...(mode !== undefined && { mode }),
      ...filter,
    };
  }
}
