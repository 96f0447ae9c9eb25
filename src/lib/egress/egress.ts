// Egress rules as operators write them: which hosts and ports a connection may reach, and which ranges that are not public.
import { isIP } from 'node:net';
import { z } from 'zod';
import { allowPorts, isPortAllowed, portOf, WEB_PORTS, type PortRule } from './egress-ports.ts';

/** The fields of a connection (or of options) that say where its requests may go. */
export const egressFields = {
  allow_hosts: z
    .array(z.string().superRefine(addProblem(hostPatternProblem)))
    .min(1)
    .optional()
    .describe(
      'Hosts that may be reached: "api.example.com" or "*.example.com", with ":port" for that port alone, which need not be 80 or 443 then. ' +
        'The host of the URL itself when left out.',
    ),
  allow_ports: allowPorts,
  allow_private: z
    .array(z.string().superRefine(addProblem(cidrProblem)))
    .optional()
    .describe(
      'Ranges that are not public and may be reached all the same, such as "10.0.0.0/8"; a metadata address needs a range of its own.',
    ),
};

/** Where files that an argument names may be fetched: there is no host of its own, so that none said would be any. */
export const fileHostFields = {
  ...egressFields,
  allow_hosts: egressFields.allow_hosts
    .unwrap()
    .describe('Hosts that files may be fetched from, as in allow_hosts of a connection.'),
};

export interface EgressFields {
  readonly allow_hosts?: readonly string[] | undefined;
  readonly allow_ports?: readonly PortRule[] | undefined;
  readonly allow_private?: readonly string[] | undefined;
}

export interface EgressRules {
  readonly allowHosts: readonly string[];
  /** Besides the usual ones. */
  readonly allowPorts?: readonly PortRule[];
  /** 80 and 443 when left out. */
  readonly usualPorts?: readonly number[];
}

/** The hosts said, or the one of `url`, with its port where that may be reached; the ports and ranges said. */
export function egressOf(
  { allow_hosts: hosts, allow_ports: ports = [], allow_private: ranges = [] }: EgressFields,
  url: URL,
) {
  const port = portOf(url);
  const own = isPortAllowed(ports, port) ? `${url.hostname}:${port}` : url.hostname;
  return { allowHosts: hosts ?? [own], allowPorts: ports, allowPrivate: ranges };
}

/** What of the URL is not allowed; undefined: it may be reached. No hosts at all: any. */
export function egressFault(
  { allowHosts, allowPorts: ports = [], usualPorts }: EgressRules,
  url: URL,
): 'host' | 'port' | undefined {
  const port = portOf(url);
  const named = allowHosts
    .map(parseHostPattern)
    .filter((pattern) => pattern !== undefined && isOf(pattern, url));
  if (allowHosts.length > 0 && named.length === 0) return 'host';
  if (named.some((pattern) => pattern?.port === port)) return undefined;
  const anyPort = allowHosts.length === 0 || named.some((pattern) => pattern?.port === undefined);
  return anyPort && isPortAllowed(ports, port, usualPorts) ? undefined : 'port';
}

/** For an operator whose declaration names such a port itself; undefined: it may be reached. `what`: which setting. */
export function portProblem(rules: EgressRules, url: URL, what: string): string | undefined {
  if (egressFault(rules, url) !== 'port') return undefined;
  const port = portOf(url);
  return port === 0
    ? `Expected a port from 1 to 65535 in ${what}; found 0.`
    : `${what} leads to port ${port}. Only ${(rules.usualPorts ?? WEB_PORTS).join(' and ')} are reached unless others are listed: add allow_ports: [${port}].`;
}

/** True if a host pattern names a port by which it opens more than a name alone would. */
export function opensPort(pattern: string): boolean {
  const port = parseHostPattern(pattern)?.port;
  return port !== undefined && !isPortAllowed([], port);
}

/** A pattern without a port says nothing of ports: "*.example.com" is every name below example.com, not example.com itself. */
function isOf({ host: wanted, suffix }: HostPattern, url: URL): boolean {
  const host = url.hostname.toLowerCase().replace(/\.$/, '');
  return suffix ? host.endsWith(wanted) && host.length > wanted.length : host === wanted;
}

/** What is wrong with a host pattern, or undefined. */
export function hostPatternProblem(pattern: string): string | undefined {
  return parseHostPattern(pattern) === undefined
    ? `Expected a host such as "api.example.com", "*.example.com" or "[::1]", with ":port" or without; found "${pattern}".`
    : undefined;
}

/** What is wrong with a CIDR range, or undefined. */
export function cidrProblem(range: string): string | undefined {
  const [, address = '', bits = ''] = /^([0-9A-Fa-f.:]+)\/(\d{1,3})$/.exec(range) ?? [];
  const family = isIP(address);
  return family === 0 || Number(bits) > (family === 4 ? 32 : 128)
    ? `Expected an address range such as "10.0.0.0/8" or "fd00::/8"; found "${range}".`
    : undefined;
}

interface HostPattern {
  /** A whole host, or what hosts end in, with its leading dot. */
  readonly host: string;
  readonly suffix: boolean;
  readonly port: number | undefined;
}

function parseHostPattern(pattern: string): HostPattern | undefined {
  const [, star, host = '', port] =
    /^(\*(?=\.))?(\.?[A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/.exec(pattern) ?? [];
  const suffix = star !== undefined;
  const number = port === undefined ? undefined : Number(port);
  if (host === '' || host.startsWith('.') !== suffix) return undefined;
  if (number !== undefined && (number < 1 || number > 65_535)) return undefined;
  // Compared with what URL makes of a host: it writes addresses in one way only.
  const normal = URL.parse(`http://${suffix ? `x${host}` : host}`)?.hostname.replace(/\.$/, '');
  return normal === undefined ? undefined : { host: suffix ? normal.slice(1) : normal, suffix, port: number };
}

function addProblem(problemOf: (text: string) => string | undefined) {
  return (text: string, context: z.RefinementCtx): void => {
    const message = problemOf(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  };
}
