// Why a server on stdio did not start: what it last printed, and the wall of the sandbox that it ran into where that is known.
import { existsSync } from 'node:fs';
import { SAYS_DISK_FULL } from '../../../lib/files/disk-full.ts';
import type { McpStdioSettings } from '../../../ports/egress/mcp-servers.ts';

const NO_NETWORK =
  /\b(?:EAI_AGAIN|ENOTFOUND|ENETUNREACH)\b|Temporary failure in name resolution|Network is unreachable/i;
const TOO_LARGE = /File too large|\bEFBIG\b/i;
const NOT_WRITABLE = /\bEROFS\b|Read-only file system/i;
/** Absolute paths in quotes, or at the end of a line, as loaders and interpreters name them. */
const PATHS = /(?<=['"`(])\/[^'"`()\n]+(?=['"`)])|(?<=[:\s])\/[^\s:'"`()]+(?=:|$)/gm;
const NOT_SEEN =
  /\b(?:ENOENT|EACCES|MODULE_NOT_FOUND|ERR_MODULE_NOT_FOUND)\b|No such file or directory|Permission denied|cannot open|can't open|Cannot find (?:module|package)|failed to execute/i;

type Walls = Pick<McpStdioSettings, 'sandbox' | 'network' | 'readable' | 'writable'>;

/** The error with the server's last words, for the log and for whoever loads the tools. Its code and data stay. */
export function startFailure(error: unknown, lines: readonly string[], settings: Walls): unknown {
  if (lines.length === 0) return error;
  const { message, code, data } = error as { message?: string; code?: unknown; data?: unknown };
  const told = [
    [message?.replace(/\.?$/, '.'), causeOf(lines, settings)].filter((part) => part !== undefined).join(' '),
    'The server last printed:',
    ...lines.map((line) => `  ${line}`),
  ].join('\n');
  return Object.assign(new Error(told, { cause: error }), {
    ...(code !== undefined && { code }),
    ...(data !== undefined && { data }),
  });
}

/** A sentence with the remedy; undefined where the lines do not say. */
function causeOf(
  lines: readonly string[],
  { sandbox, network, readable, writable }: Walls,
): string | undefined {
  if (sandbox !== 'required') return undefined;
  const text = lines.join('\n').replaceAll('file://', '');
  if (SAYS_DISK_FULL.test(text) || TOO_LARGE.test(text)) return 'Its /tmp is full: `tmp_bytes` is the size.';
  if (network === 'none' && NO_NETWORK.test(text))
    return 'It has no network in the sandbox: where it needs one, say `network: host`.';
  if (NOT_WRITABLE.test(text))
    return 'It writes where the sandbox lets it only read: name the folder under `writable`.';
  if (!NOT_SEEN.test(text)) return undefined;
  const shown = [...readable, ...writable, '/usr', '/lib', '/lib64', '/bin', '/sbin', '/proc', '/dev'];
  const isShown = (path: string) => shown.some((each) => path === each || path.startsWith(`${each}/`));
  const unseen = (text.match(PATHS) ?? []).find((path) => !isShown(path) && existsSync(path));
  if (unseen === undefined) return undefined;
  return `It cannot see ${unseen} in the sandbox: name it, or the folder it is in, under \`readable\`.`;
}
