// PolicyAgents: one pool of connections for each egress policy. A pooled socket is past its check already, so that
// no policy may ever be handed a socket that another policy opened.
import { Agent } from 'undici';
import type { EgressPolicy } from '../../ports/egress/http-client.ts';
import { guardedConnector, type Outside } from './guarded-connector.ts';

export interface PolicyAgentsOptions {
  readonly connectionsPerOrigin: number;
  readonly connectTimeoutMs: number;
  readonly maxPolicies: number;
  readonly outside: Outside;
  readonly ca: Buffer | undefined;
}

/** A server that keeps idle connections for less than 5 s would close one just as we write to it. */
const KEEP_ALIVE_MS = 4_000;
const MAX_HEADER_BYTES = 16_384;

export class PolicyAgents {
  readonly #options: PolicyAgentsOptions;
  /** In the order of their last use. */
  readonly #agents = new Map<string, Agent>();
  /** Canonical text of the policies seen: most callers pass the same object again and again. */
  readonly #keys = new WeakMap<EgressPolicy, string>();
  #closed = false;

  constructor(options: PolicyAgentsOptions) {
    this.#options = options;
  }

  get closed(): boolean {
    return this.#closed;
  }

  for(policy: EgressPolicy): Agent {
    if (this.#closed) throw new Error('The HTTP client is closed.');
    const key = this.#keyOf(policy);
    const agent = this.#agents.get(key) ?? this.#create(policy);
    this.#agents.delete(key);
    this.#agents.set(key, agent);
    this.#evict();
    return agent;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const agents = [...this.#agents.values()];
    this.#agents.clear();
    await Promise.all(agents.map((agent) => agent.close()));
  }

  /** Requests that run come to their end: `close` waits for them and lets no new ones in. */
  #evict(): void {
    for (const [key, agent] of this.#agents) {
      if (this.#agents.size <= this.#options.maxPolicies) return;
      this.#agents.delete(key);
      void agent.close();
    }
  }

  #keyOf(policy: EgressPolicy): string {
    const known = this.#keys.get(policy);
    if (known !== undefined) return known;
    const key = canonicalPolicy(policy);
    this.#keys.set(policy, key);
    return key;
  }

  #create(policy: EgressPolicy): Agent {
    const { connectionsPerOrigin, connectTimeoutMs, outside, ca } = this.#options;
    // A plain Agent reads no proxy variables. Undici's own header and body timeouts are off: they start
    // again with every byte, so only the request's signal bounds a server that drips.
    return new Agent({
      connections: connectionsPerOrigin,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: 60_000,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: guardedConnector({
        policy,
        outside,
        timeoutMs: connectTimeoutMs,
        ...(ca === undefined ? {} : { ca }),
      }),
    });
  }
}

/** The same text for the same rules, in whatever order and case they are written. */
function canonicalPolicy({ allowHosts, allowPorts = [], usualPorts, allowPrivate }: EgressPolicy): string {
  const sorted = (rules: readonly string[]) => [...new Set(rules.map((rule) => rule.toLowerCase()))].sort();
  return JSON.stringify([
    sorted(allowHosts),
    sorted(allowPorts.map(String)),
    sorted(allowPrivate),
    usualPorts,
  ]);
}
