// `ute audit`: the records of a tenant: list, export as a file, whether that is whole, without any gateway; and erase a user.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { open, readFile, rm, type FileHandle } from 'node:fs/promises';
import { resolve } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import type { Verdict } from '../../../lib/audit-chain/verify-chain.ts';
import type { CliIo } from '../../cli-io.ts';
import { CliFailure, EXIT, type ExitCode } from '../../exit-code.ts';
import { linesOf } from '../../file-lines.ts';
import { isJsonObject, type JsonObject } from '../../../contract/json.ts';
import { accepted, asObject } from '../../gateway/gateway-answer.ts';
import { addAuditList } from './audit-list.ts';
import {
  GatewayClient,
  reasonOf,
  withGatewayOptions,
  type GatewayOptions,
} from '../../gateway/gateway-client.ts';

interface VerifyOptions {
  readonly publicKey: readonly string[];
  readonly checkpoints: readonly string[];
  readonly first: number;
  readonly json?: true;
}

type Finish = (code: ExitCode) => void;

const PAGE = 1000;

export function addAuditCommand(program: Command, io: CliIo, finish: Finish): void {
  const audit = program
    .command('audit')
    .summary('audit records: list them, export a chain, check it offline, erase a user');
  addAuditList(audit, io, finish);
  withGatewayOptions(audit.command('export <file>'))
    .summary('write the chain of the tenant into a new file')
    .description(
      'Writes the audit records of the tenant of the key, oldest first, into a new file of JSON lines. The key needs audit:read.',
    )
    .option('--after <seq>', 'only records behind the one of this number', wholeNumber, 0)
    .action(async (file: string, options: GatewayOptions & { readonly after: number }) => {
      const gateway = await GatewayClient.open(options, io);
      const { records, last } = await exportTo(resolve(io.cwd, file), gateway, options.after);
      io.stdout(`${records} records${records === 0 ? '' : `, up to number ${last}`}\n`);
      finish(EXIT.ok);
    });
  addErase(audit, io, finish);
  audit
    .command('verify <file>')
    .summary('check an exported chain, and name the first bad record')
    .description(
      'Reads an export once, without any gateway, and ends with 1 and the first bad record where it is not whole, or with 1 where no record was held to any of the checkpoints given. Checkpoints, kept where nobody who can change records can change them, show what was changed and hashed anew, and a missing end.',
    )
    .option('--checkpoints <file>', 'what audit.checkpoint_file holds; may be repeated', addTo, [])
    .option('--public-key <file>', 'PEM, whose signatures are good; may be repeated', addTo, [])
    .option(
      '--first <seq>',
      'number of the first record, where retention has dropped those before',
      wholeNumber,
      1,
    )
    .option('--json', 'print JSON')
    .action(async (file: string, options: VerifyOptions) => {
      const verdict = await verify(resolve(io.cwd, file), options, io);
      if (options.json === true) io.stdout(`${JSON.stringify(verdict, null, 2)}\n`);
      else io.stdout(textOf(verdict, options));
      finish(isShownWhole(verdict, options) ? EXIT.ok : EXIT.failed);
    });
}

interface EraseOptions extends GatewayOptions {
  readonly user: string;
  readonly json?: true;
}

function addErase(audit: Command, io: CliIo, finish: Finish): void {
  withGatewayOptions(audit.command('erase'))
    .summary('erase what is kept of a user')
    .description(
      'Erases the personal data of a user of the tenant of the key: in audit records, which stay in their chain, and in calls, approvals, sessions, schedules, keys and handed-on votes that are over. The key needs admin.',
    )
    .requiredOption('--user <id>', 'as calls named it')
    .option('--json', 'print JSON')
    .action(async (options: EraseOptions) => {
      const gateway = await GatewayClient.open(options, io);
      const answer = asObject(await gateway.send('POST', '/v1/audit/erasures', { user_id: options.user }));
      io.stdout(options.json === true ? `${JSON.stringify(answer, null, 2)}\n` : erasedText(answer));
      finish(EXIT.ok);
    });
}

function erasedText({ erased, in_use: inUse }: JsonObject): string {
  const parts = isJsonObject(erased) ? erased : {};
  const counts = Object.entries(parts).map(([what, count]) => `${Number(count)} ${what}`);
  const left = `left, because they are in use: ${Number(inUse)}; erase again when they have ended\n`;
  return `erased: ${counts.join(', ')}\n${inUse === 0 ? '' : left}`;
}

async function exportTo(path: string, gateway: GatewayClient, after: number) {
  const file = await newFile(path);
  let [records, last] = [0, after];
  try {
    for (;;) {
      const query = { after_seq: String(last), page_size: String(PAGE) };
      const text = accepted(await gateway.get('/v1/audit/export', query));
      await file.appendFile(text);
      const lines = text.split('\n').slice(0, -1);
      if (lines.length === 0) break;
      const seq = (JSON.parse(lines.at(-1) ?? '{}') as { readonly seq?: unknown }).seq;
      // One that does not go on would never end.
      if (typeof seq !== 'number' || seq <= last)
        throw new CliFailure(EXIT.failed, 'the gateway answered something else than the records asked for');
      records += lines.length;
      last = seq;
      if (lines.length < PAGE) break;
    }
    await file.sync();
    return { records, last };
  } catch (error) {
    // An empty one would be called a whole chain of no records.
    if (records === 0) await rm(path);
    throw error;
  } finally {
    await file.close();
  }
}

async function newFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    throw new CliFailure(EXIT.usage, `${path} cannot be made: ${reasonOf(error)}`);
  }
}

async function verify(path: string, options: VerifyOptions, io: CliIo): Promise<Verdict> {
  const { checkpoints, publicKey } = options;
  if (checkpoints.length > 0 && publicKey.length === 0)
    throw new CliFailure(
      EXIT.usage,
      '--checkpoints needs --public-key: without it, anybody could have made them',
    );
  const publicKeys = await Promise.all(publicKey.map((each) => keyOf(resolve(io.cwd, each))));
  const { verifyChain } = await import('../../../lib/audit-chain/verify-chain.ts');
  return verifyChain({
    lines: () => linesOf(path),
    checkpoints: checkpoints.map((each) => () => linesOf(resolve(io.cwd, each))),
    publicKeys,
    first: Math.max(1, options.first),
  });
}

async function keyOf(path: string): Promise<KeyObject> {
  try {
    const key = createPublicKey(await readFile(path));
    if (key.asymmetricKeyType === 'ed25519') return key;
    throw new Error(`it must be an Ed25519 key, found ${key.asymmetricKeyType}`);
  } catch (error) {
    throw new CliFailure(EXIT.usage, `--public-key ${path} cannot be read: ${reasonOf(error)}`);
  }
}

/** Checkpoints that are of no record here show nothing: whoever gave them wanted more than that the file fits itself. */
function isShownWhole(verdict: Verdict, { checkpoints }: Pick<VerifyOptions, 'checkpoints'>): boolean {
  return verdict.finding === undefined && (checkpoints.length === 0 || verdict.checkpoints > 0);
}

function textOf(verdict: Verdict, { checkpoints }: VerifyOptions): string {
  const { tenant, records, first, last, lastHash, notes, finding } = verdict;
  if (finding !== undefined)
    return `${finding.damage.replace('_', ' ')}: record ${finding.seq}: ${finding.message}\n`;
  const held =
    checkpoints.length === 0 ? 'no checkpoints were given' : `${verdict.checkpoints} checkpoints hold`;
  const what =
    records === 0 ? 'no records' : `${records} records of ${JSON.stringify(tenant)}, ${first} to ${last}`;
  const word = isShownWhole(verdict, { checkpoints }) ? 'whole' : 'not held to any checkpoint';
  return `${word}: ${what}; ${held}; last hash ${lastHash}\n${notes.map((note) => `note: ${note}\n`).join('')}`;
}

function addTo(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a whole number from 0 on.');
}
