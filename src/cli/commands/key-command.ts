// `ute key`: makes an API key. Its text is printed once; gateway.yaml holds the hash of its secret alone.
import { InvalidArgumentError, type Command } from 'commander';
import { stringify } from 'yaml';
import { createApiKey } from '../../lib/secrets/api-key.ts';
import { isTime } from '../arguments.ts';
import type { CliIo } from '../cli-io.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';

interface KeyOptions {
  readonly role: readonly string[];
  readonly tenant?: string;
  readonly agent?: readonly string[];
  readonly user?: string;
  readonly expires?: string;
}

export function addKeyCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  program
    .command('key')
    .summary('make an API key')
    .description(
      'Makes an API key: prints its text, which is shown only now, and the entry for auth.keys in gateway.yaml.',
    )
    .requiredOption('--role <name...>', 'agent, admin, platform_admin or a role of auth.roles')
    .option('--tenant <name>', 'left out: the key administers the platform, and calls no tools')
    .option('--agent <name...>', 'agents that it may speak for (default: any of the tenant)')
    .option('--user <name>', 'the only user that it may speak for')
    .option('--expires <time>', 'ISO 8601, with a time zone', timeOf)
    .action((options: KeyOptions) => {
      io.stdout(keyText(options));
      finish(EXIT.ok);
    });
}

function keyText({ role, tenant, agent, user, expires }: KeyOptions): string {
  const { id, secretHash, text } = createApiKey();
  const entry = {
    id,
    secret_sha256: secretHash.toString('hex'),
    ...(tenant !== undefined && { tenant }),
    ...(agent !== undefined && { agents: agent }),
    ...(user !== undefined && { user }),
    roles: role,
    ...(expires !== undefined && { expires_at: expires }),
  };
  const yaml = stringify({ auth: { keys: [entry] } });
  return `export UTE_API_KEY=${text}\n\n# gateway.yaml; further keys are further entries of this list\n${yaml}`;
}

function timeOf(text: string): string {
  if (isTime(text)) return text;
  throw new InvalidArgumentError('It must be a time such as 2027-01-31T00:00:00Z.');
}
