// A package that an MCP server comes in, as operators write it: `npm:name@1.2.3`, `pypi:name==1.2.3`, or the command of a README.
import { basename } from 'node:path';

export interface NamedPackage {
  readonly registry: 'npm' | 'pypi';
  readonly name: string;
  /** Of PyPI, as in `name[cli]`. */
  readonly extras: readonly string[];
  /** Undefined: none, or not one alone. */
  readonly version: string | undefined;
}

export interface ExactPackage extends NamedPackage {
  readonly version: string;
}

/** None begins with a dash: it would be an option to whoever installs it. */
const NPM = /^((?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*)(?:@(.+))?$/i;
const PYPI = /^([a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)(?:\[([a-z0-9._,\s-]+)\])?(?:(?:==|@)(.+))?$/i;
const EXACT_NPM = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;
const EXACT_PYPI = /^(?:\d+!)?\d+(?:\.\d+)*[0-9A-Za-z.+]*$/;

/** `text` without its registry. Undefined: not the name of a package. */
export function readPackage(registry: NamedPackage['registry'], text: string): NamedPackage | undefined {
  const found = (registry === 'npm' ? NPM : PYPI).exec(text.trim());
  if (found === null) return undefined;
  const [, name = ''] = found;
  const [extras, said] = registry === 'npm' ? [undefined, found[2]] : [found[2], found[3]];
  const exact = registry === 'npm' ? EXACT_NPM : EXACT_PYPI;
  return {
    registry,
    name,
    extras: (extras ?? '').split(',').flatMap((each) => (each.trim() === '' ? [] : [each.trim()])),
    version: said !== undefined && exact.test(said) ? said : undefined,
  };
}

/** Throws Error with a sentence for the operator. */
export function exactPackage(text: string): ExactPackage {
  const [, registry, rest = ''] = /^(npm|pypi):(.*)$/s.exec(text) ?? [];
  const found = registry === 'npm' || registry === 'pypi' ? readPackage(registry, rest) : undefined;
  if (found === undefined)
    throw new Error('Expected a package such as npm:@scope/name@1.2.3 or pypi:name==1.2.3.');
  const { version } = found;
  if (version !== undefined) return { ...found, version };
  throw new Error(
    `Expected the exact version, such as ${nameOf({ ...found, version: '1.2.3' })}: another one may be another program.`,
  );
}

/** As `package:` has it. */
export function nameOf({ registry, name, extras, version }: NamedPackage): string {
  const some = extras.length === 0 ? '' : `[${extras.join(',')}]`;
  const at = version === undefined ? '' : (registry === 'npm' ? '@' : '==') + version;
  return `${registry}:${name}${some}${at}`;
}

export interface PackageCommand {
  readonly registry: NamedPackage['registry'];
  /** Without the registry; the first is the one whose program is run. */
  readonly packages: readonly string[];
  /** Undefined: the one that has the package's name, or its only one. */
  readonly program: string | undefined;
  readonly args: readonly string[];
}

interface Runner {
  readonly registry: NamedPackage['registry'];
  readonly switches: readonly string[];
  /** Options whose value is the package that the program is of, and those with packages beside it. */
  readonly from: readonly string[];
  readonly beside: readonly string[];
}

const NPX: Runner = {
  registry: 'npm',
  switches: ['-y', '--yes', '-q', '--quiet', '--bun', '--silent'],
  from: ['-p', '--package'],
  beside: [],
};
const RUNNERS: { readonly [program: string]: Runner } = {
  npx: NPX,
  bunx: NPX,
  pnpx: NPX,
  uvx: {
    registry: 'pypi',
    switches: ['-q', '--quiet', '--no-progress'],
    from: ['--from'],
    beside: ['--with'],
  },
};
/** A package manager that runs packages by two words, with the program that does it by one. */
const IN_TWO_WORDS: { readonly [words: string]: string } = {
  'npm exec': 'npx',
  'npm x': 'npx',
  'pnpm dlx': 'pnpx',
  'bun x': 'bunx',
  'uv tool run': 'uvx',
  'pipx run': 'uvx',
};

/**
 * What `npx -y name@1.2.3 …`, `uvx name==1.2.3 …` and the like run. Undefined: another program, or one of these with options
 * that say more than a package; then it is a command like any other.
 */
export function packageCommand(command: string, args: readonly string[]): PackageCommand | undefined {
  for (const [words, runner] of Object.entries(IN_TWO_WORDS)) {
    const [first, ...rest] = words.split(' ');
    if (basename(command) === first && rest.every((word, at) => args[at] === word))
      return runBy(RUNNERS[runner], args.slice(rest.length));
  }
  return runBy(RUNNERS[basename(command)], args);
}

function runBy(runner: Runner | undefined, args: readonly string[]): PackageCommand | undefined {
  if (runner === undefined) return undefined;
  const { registry, switches, from, beside } = runner;
  const packages: string[] = [];
  const others: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    const [option, given] = splitOnce(arg);
    if (from.includes(option)) packages.push(given ?? args[(at += 1)] ?? '');
    else if (beside.includes(option)) others.push(given ?? args[(at += 1)] ?? '');
    else if (arg === '--' || !arg.startsWith('-')) {
      const words = args.slice(arg === '--' ? at + 1 : at);
      const [first, ...rest] = words;
      if (first === undefined) return undefined;
      const own = packages.length > 0 ? packages : [first];
      const all = [...own, ...others];
      if (all.some((each) => readPackage(registry, each) === undefined)) return undefined;
      return { registry, packages: all, program: packages.length > 0 ? first : undefined, args: rest };
    } else if (!switches.includes(arg)) return undefined;
  }
  return undefined;
}

function splitOnce(arg: string): readonly [string, string | undefined] {
  const at = arg.startsWith('--') ? arg.indexOf('=') : -1;
  return at < 0 ? [arg, undefined] : [arg.slice(0, at), arg.slice(at + 1)];
}
