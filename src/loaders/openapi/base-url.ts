// Where an operation's requests go: what the operator says, else the servers that the document names.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { portProblem } from '../../lib/egress/egress.ts';
import type { Operation } from './document/list-operations.ts';
import { shown, Unusable } from './unusable.ts';

export interface ServerRules {
  readonly root: JsonObject;
  /** The document's own address, which relative servers start from. */
  readonly documentUrl: string | undefined;
  readonly baseUrl: string | undefined;
  readonly connection: string | undefined;
  readonly allowPorts: readonly (number | string)[];
}

/** Undefined: the connection says it. Throws Unusable where an operation belongs to another server than the rest. */
export function baseOf({ item, value }: Operation, rules: ServerRules): string | undefined {
  const own = firstServer(value['servers']) ?? firstServer(item['servers']);
  const common = firstServer(rules.root['servers']) ?? '/';
  const isChosen = rules.connection !== undefined || rules.baseUrl !== undefined;
  if (isChosen && own !== undefined && own !== common) {
    const by = rules.connection === undefined ? 'base_url' : 'connection';
    throw new Unusable(`belongs to a server of its own, ${shown(own)}, and the ${by} is for the others`);
  }
  if (rules.connection !== undefined) return undefined;
  return plainBase(rules.baseUrl ?? own ?? common, rules);
}

function plainBase(server: string, { documentUrl, allowPorts }: ServerRules): string {
  // Of a document from a file, what follows is the host all the same.
  const whole = server.startsWith('//') && documentUrl === undefined ? `https:${server}` : server;
  const url = URL.parse(whole, documentUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Unusable(
      `has no absolute http or https server (found ${shown(server)}): say base_url or connection`,
    );
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new Unusable(`has a server with a user, a query or a fragment: ${shown(server)}`);
  }
  const port = portProblem({ allowHosts: [], allowPorts }, url, `its server ${shown(server)}`);
  if (port !== undefined) throw new Unusable(port);
  return url.origin + url.pathname.replace(/\/$/, '');
}

/** The first server, its variables at their defaults. */
function firstServer(servers: JsonValue | undefined): string | undefined {
  const [server] = Array.isArray(servers) ? servers : [];
  if (!isJsonObject(server) || typeof server['url'] !== 'string') return undefined;
  const variables = isJsonObject(server['variables']) ? server['variables'] : {};
  return server['url'].replaceAll(/\{([^{}]*)\}/g, (written, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    const value = isJsonObject(variable) ? variable['default'] : undefined;
    return typeof value === 'string' ? value : written;
  });
}
