// Egress rules as operators write them: which hosts a connection may reach, and which ranges that are not public.
import { isIP } from 'node:net';
import { z } from 'zod';

/** The fields of a connection (or of options) that say where its requests may go. */
export const egressFields = {
  allow_hosts: z
    .array(z.string().superRefine(addProblem(hostPatternProblem)))
    .min(1)
    .optional()
    .describe(
      'Hosts that may be reached: "api.example.com" or "*.example.com", with ":port" for that port alone. ' +
        'The host of the URL itself when left out.',
    ),
  allow_private: z
    .array(z.string().superRefine(addProblem(cidrProblem)))
    .optional()
    .describe(
      'Ranges that are not public and may be reached all the same, such as "10.0.0.0/8"; a metadata address needs a range of its own.',
    ),
};

export interface EgressFields {
  readonly allow_hosts?: readonly string[] | undefined;
  readonly allow_private?: readonly string[] | undefined;
}

/** The hosts said, or the one of `url` with its port; the ranges said. */
export function egressOf({ allow_hosts: hosts, allow_private: ranges = [] }: EgressFields, url: URL) {
  return { allowHosts: hosts ?? [`${url.hostname}:${portOf(url)}`], allowPrivate: ranges };
}

/** True if one of the patterns names the URL's host. A pattern without a port is good for any port. */
export function isHostAllowed(patterns: readonly string[], url: URL): boolean {
  const host = url.hostname.toLowerCase().replace(/\.$/, '');
  const port = portOf(url);
  return patterns.some((pattern) => {
    const parsed = parseHostPattern(pattern);
    if (parsed === undefined || (parsed.port !== undefined && parsed.port !== port)) return false;
    // "*.example.com" is every name below example.com, not example.com itself.
    return parsed.suffix
      ? host.endsWith(parsed.host) && host.length > parsed.host.length
      : host === parsed.host;
  });
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
  readonly port: string | undefined;
}

function parseHostPattern(pattern: string): HostPattern | undefined {
  const [, star, host = '', port] =
    /^(\*(?=\.))?(\.?[A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/.exec(pattern) ?? [];
  const suffix = star !== undefined;
  if (host === '' || host.startsWith('.') !== suffix || Number(port ?? 1) > 65_535) return undefined;
  // Compared with what URL makes of a host: it writes addresses in one way only.
  const normal = URL.parse(`http://${suffix ? `x${host}` : host}`)?.hostname.replace(/\.$/, '');
  return normal === undefined ? undefined : { host: suffix ? normal.slice(1) : normal, suffix, port };
}

function portOf({ port, protocol }: URL): string {
  return port === '' ? (protocol === 'https:' ? '443' : '80') : port;
}

function addProblem(problemOf: (text: string) => string | undefined) {
  return (text: string, context: z.RefinementCtx): void => {
    const message = problemOf(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  };
}
