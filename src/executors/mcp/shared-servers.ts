// One lease of a server per connection, shared by all tools that name it, given back when the last of them is gone.
import type { Connection } from '../../contract/plugin.ts';
import { mcpSecrets, mcpSettings } from '../../lib/mcp/mcp-settings.ts';
import { secretScrubber, type SecretScrubber } from '../../lib/secrets/scrub-secrets.ts';
import type { Clock } from '../../ports/clock.ts';
import type { McpServer, McpServers, McpServerSettings } from '../../ports/egress/mcp-servers.ts';
import { Definitions } from './definitions.ts';

interface SharedServer {
  readonly settings: McpServerSettings;
  readonly server: McpServer;
  readonly definitions: Definitions;
  readonly scrubber: SecretScrubber;
}

export interface ServerLease extends SharedServer {
  release: () => Promise<void>;
}

export class SharedServers {
  readonly #servers: McpServers;
  readonly #clock: Clock;
  readonly #shared = new Map<string, { readonly held: SharedServer; leases: number }>();

  constructor(servers: McpServers, clock: Clock) {
    this.#servers = servers;
    this.#clock = clock;
  }

  /** Throws Error with a sentence for the operator. */
  lease({ settings: written, secrets = [] }: Connection, baseDir: string): ServerLease {
    const settings = mcpSettings(written, baseDir);
    const key = JSON.stringify([settings, secrets]);
    const shared = this.#shared.get(key) ?? { held: this.#open(settings, secrets), leases: 0 };
    this.#shared.set(key, shared);
    shared.leases += 1;
    let held = true;
    const release = async () => {
      if (!held) return;
      held = false;
      shared.leases -= 1;
      if (shared.leases > 0) return;
      this.#shared.delete(key);
      shared.held.definitions.close();
      await shared.held.server.close();
    };
    return { ...shared.held, release };
  }

  #open(settings: McpServerSettings, secrets: readonly string[]): SharedServer {
    const server = this.#servers.open(settings);
    const definitions = new Definitions(server, this.#clock);
    return { settings, server, definitions, scrubber: secretScrubber([...mcpSecrets(settings), ...secrets]) };
  }
}
