// One lease of a server per connection, shared by all tools that name it, given back when the last of them is gone.
import type { Connection } from '../../contract/plugin.ts';
import { SharedLeases } from '../../lib/concurrency/shared-leases.ts';
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
  readonly #shared = new SharedLeases<SharedServer>(({ definitions, server }) => {
    definitions.close();
    return server.close();
  });

  constructor(servers: McpServers, clock: Clock) {
    this.#servers = servers;
    this.#clock = clock;
  }

  /** Throws Error with a sentence for the operator. */
  lease({ settings: written, secrets = [] }: Connection, baseDir: string): ServerLease {
    const settings = mcpSettings(written, baseDir);
    const open = () => this.#open(settings, secrets);
    const { held, release } = this.#shared.lease(JSON.stringify([settings, secrets]), open);
    return { ...held, release };
  }

  #open(settings: McpServerSettings, secrets: readonly string[]): SharedServer {
    const server = this.#servers.open(settings, secrets);
    const definitions = new Definitions(server, this.#clock);
    return { settings, server, definitions, scrubber: secretScrubber([...mcpSecrets(settings), ...secrets]) };
  }
}
