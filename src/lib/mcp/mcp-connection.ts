// An mcp connection as operators write it: a server that the gateway starts, or one elsewhere over HTTP.
import { z } from 'zod';
import { egressFault, egressFields, egressOf, portProblem } from '../egress/egress.ts';
import { headerNameProblem, headersBy, isHeaderValue } from '../text/header-rules.ts';
import { exactPackage, readPackage } from './mcp-package.ts';
import { packageCommand, runnerProblem } from './runner-command.ts';
import { whole } from '../settings/whole.ts';

const MIB = 1 << 20;

const noNul = z.string().regex(/^[^\0]*$/, { error: 'Expected text without a NUL character.' });
const path = noNul.min(1);
const secret = z.string().min(1).refine(isHeaderValue, { error: 'Expected printable ASCII on one line.' });

const packageName = z.string().superRefine((text, context) => {
  try {
    exactPackage(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
  }
});

/** Fields that only a server has which the gateway starts. */
const stdioFields = {
  command: path
    .optional()
    .describe(
      'Program of a server to be started: an absolute path, ./ and a path, or a name found on PATH. npx and uvx with a package are taken as that package.',
    ),
  package: z
    .union([packageName, z.array(packageName).min(1).max(20)])
    .optional()
    .describe(
      'Instead of command: npm:name@1.2.3 or pypi:name==1.2.3, installed once under data_dir. In a list, the further ones are installed beside the first, to hold what it depends on to a version.',
    ),
  program: z
    .string()
    .regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/, { error: 'Expected the name of a program, without a path.' })
    .optional()
    .describe(
      "With package: which of its programs. Its only one, or the one of the package's name, when left out.",
    ),
  install_scripts: z
    .boolean()
    .optional()
    .describe(
      'With package: true lets it and all that it depends on run code while it is installed, in the sandbox with the network. Without it no script of npm is run, and of PyPI only wheels are taken.',
    ),
  args: z
    .array(noNul)
    .optional()
    .describe('Arguments of command, or of the program of the package. No shell sees them.'),
  cwd: path
    .optional()
    .describe('With command: the folder it starts in, which it can read in the sandbox; / when left out.'),
  env: z
    .record(z.string(), noNul)
    .superRefine((env, context) => {
      for (const name of Object.keys(env)) {
        const message = `Expected the name of a variable, of letters, digits and "_"; found "${name}".`;
        if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
          context.addIssue({ code: 'custom', path: [name], message });
      }
    })
    .optional()
    .describe(
      'With command: its environment. Besides, it gets PATH, LANG, HOME and TMPDIR, and nothing of the gateway’s.',
    ),
  sandbox: z
    .enum(['required', 'off'])
    .optional()
    .describe(
      'With command: required when left out. off runs it as the gateway’s own user, with all that this user may do.',
    ),
  readable: z
    .array(path)
    .optional()
    .describe('With command: files and folders that it may read in the sandbox.'),
  writable: z.array(path).optional().describe('With command: folders that it may write in the sandbox.'),
  network: z
    .enum(['none', 'host'])
    .optional()
    .describe('With command: none when left out. host lets it reach whatever this machine reaches.'),
  memory_bytes: whole(16 * MIB)
    .optional()
    .describe(
      'With command: memory in the sandbox, of all its processes together where cgroups can be had, of each otherwise; 1 GiB when left out, as Node reserves much.',
    ),
  max_processes: whole(1, 4096)
    .optional()
    .describe('With command: its processes and threads in the sandbox; 64 when left out.'),
  tmp_bytes: whole(1 << 20, 2 ** 40)
    .optional()
    .describe(
      'With command: size of its /tmp; executors.shell.tmp_bytes when left out. Under bubblewrap it is memory.',
    ),
  protocol: z
    .enum(['legacy', 'auto'])
    .optional()
    .describe(
      'With command: legacy, when left out, is 2025-11-25 and older; auto asks for 2026-07-28 first.',
    ),
};

const bearer = z.strictObject({
  type: z.literal('bearer'),
  token: secret.describe('Sent as "Authorization: Bearer …". Never the token of a caller.'),
});

const apiKey = z
  .strictObject({
    type: z.literal('api_key'),
    name: z.string().min(1).describe('Name of the header.'),
    value: secret,
  })
  .superRefine(({ name }, context) => {
    const message = headerNameProblem(name, 'connection') ?? protocolHeaderProblem(name);
    if (message !== undefined) context.addIssue({ code: 'custom', path: ['name'], message });
  });

/** Fields that only a server has which is reached over HTTP. */
const httpFields = {
  url: z
    .string()
    .superRefine((text, context) => {
      const message = urlProblem(text);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .optional()
    .describe('Endpoint of a server elsewhere, over Streamable HTTP.'),
  headers: headersBy('connection', z.string())
    .superRefine((headers, context) => {
      for (const name of Object.keys(headers)) {
        const message = protocolHeaderProblem(name);
        if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
      }
    })
    .optional()
    .describe('With url: sent with every request. Their values are kept out of results.'),
  auth: z
    .discriminatedUnion('type', [bearer, apiKey])
    .optional()
    .describe('With url: how requests show who they come from.'),
  allow_hosts: egressFields.allow_hosts,
  allow_ports: egressFields.allow_ports,
  allow_private: egressFields.allow_private,
};

const limitFields = {
  connect_timeout_ms: whole(100, 300_000)
    .optional()
    .describe('For starting or reaching the server and agreeing on a protocol; 10000 when left out.'),
  max_message_bytes: whole(1024, 64 * MIB)
    .optional()
    .describe('Of one message of the server, and of its whole list of tools; 4 MiB when left out.'),
  max_tools: whole(1, 10_000).optional().describe('Tools that it may offer; 500 when left out.'),
  max_failures_per_minute: whole(1, 100)
    .optional()
    .describe(
      'Failed starts and lost connections, after which calls are refused for a while; 5 when left out.',
    ),
};

export const mcpConnectionSchema = z
  .strictObject({ type: z.literal('mcp'), ...stdioFields, ...httpFields, ...limitFields })
  .superRefine((connection, context) => {
    const issue = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    const { command, package: packages, args = [], url, headers = {}, auth, allow_hosts: hosts } = connection;
    const ways = [command, packages, url].filter((way) => way !== undefined);
    if (ways.length !== 1) {
      issue(
        [],
        'Expected one of command (a server to be started), package (one to be installed) and url (a server elsewhere).',
      );
      return;
    }
    const [foreign, own] = url !== undefined ? [stdioFields, 'url'] : [httpFields, 'command'];
    for (const field of Object.keys(foreign)) {
      if (Object.hasOwn(connection, field)) issue([field], `"${field}" does not go with ${own}.`);
    }
    const said = packages === undefined ? [] : [packages].flat();
    if (new Set(said.map((each) => each.split(':', 1)[0])).size > 1)
      issue(['package'], 'Expected packages of one registry.');
    for (const field of ['program', 'install_scripts'] as const) {
      if (connection[field] !== undefined && packagesIn(connection) === undefined)
        issue([field], `"${field}" goes with a package alone.`);
    }
    const unpinned = command === undefined ? undefined : runnerProblem(command, args);
    if (unpinned !== undefined) issue(['args'], unpinned);
    const set = auth?.type === 'api_key' ? auth.name.toLowerCase() : auth && 'authorization';
    if (set !== undefined && Object.keys(headers).some((name) => name.toLowerCase() === set)) {
      issue(['headers'], `auth sets the header "${set}" already.`);
    }
    const parsed = url === undefined ? null : URL.parse(url);
    if (parsed === null) return;
    if (hosts !== undefined && egressFault({ allowHosts: hosts }, parsed) === 'host') {
      issue(['allow_hosts'], `Expected the server's own host "${parsed.host}" among the allowed ones.`);
    }
    const port = portProblem(egressOf(connection, parsed), parsed, 'The url');
    if (port !== undefined) issue(['url'], port);
  });

export type McpConnection = z.output<typeof mcpConnectionSchema>;

interface PackagesAsked {
  /** As `exactPackage` reads them. */
  readonly packages: readonly string[];
  readonly program: string | undefined;
  readonly args: readonly string[];
}

/** Undefined: the connection names none, or a program that is here already. */
export function packagesIn({
  command,
  package: named,
  program,
  args = [],
}: Pick<McpConnection, 'command' | 'package' | 'program' | 'args'>): PackagesAsked | undefined {
  if (named !== undefined) return { packages: [named].flat(), program, args };
  const found = command === undefined ? undefined : packageCommand(command, args);
  if (found?.packages.every((each) => readPackage(found.registry, each)?.version !== undefined) !== true)
    return undefined;
  const packages = found.packages.map((each) => `${found.registry}:${each}`);
  return { packages, program: program ?? found.program, args: found.args };
}

/** What the protocol itself says in headers. */
function protocolHeaderProblem(name: string): string | undefined {
  return /^(?:mcp-.*|accept|content-type|last-event-id)$/i.test(name)
    ? `The header "${name}" is set by the protocol and cannot be given.`
    : undefined;
}

function urlProblem(text: string): string | undefined {
  const expected = 'Expected an http or https URL without user, password and fragment';
  const url = URL.parse(text);
  if (url === null) return `${expected}; this is not a URL.`;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return `${expected}; found "${url.protocol}//".`;
  if (url.username !== '' || url.password !== '') return `${expected}; found a user or password.`;
  return url.hash === '' ? undefined : `${expected}; found "#".`;
}
