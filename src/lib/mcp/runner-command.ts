// The command of a README that runs a package: which one, and whether that is one version of it for good.
import { basename } from 'node:path';
import { PACKAGE_RUNNERS, type PackageRunner, type RunnerForm } from './package-runners.ts';
import { readPackage, type NamedPackage } from './mcp-package.ts';

export interface PackageCommand {
  readonly registry: NamedPackage['registry'];
  /** Without the registry; the first is the one whose program is run. */
  readonly packages: readonly string[];
  /** Undefined: the one that has the package's name, or its only one. */
  readonly program: string | undefined;
  readonly args: readonly string[];
}

interface RunnerCommand extends PackageCommand {
  /** Nothing is said but which packages: an installation of them runs the same. */
  readonly isPackageAlone: boolean;
}

/**
 * What `npx -y name@1.2.3 …`, `uvx name==1.2.3 …` and the like run. Undefined: another program, or one of these with options
 * that say more than a package; then it is a command like any other.
 */
export function packageCommand(command: string, args: readonly string[]): PackageCommand | undefined {
  const read = readRunner(command, args);
  if (read === undefined || 'problem' in read || !read.isPackageAlone) return undefined;
  const { isPackageAlone: _, ...asked } = read;
  return asked.packages.some((each) => readPackage(asked.registry, each) === undefined) ? undefined : asked;
}

/** What is wrong with a command that may run another package tomorrow, in a sentence. Undefined: nothing. */
export function runnerProblem(command: string, args: readonly string[]): string | undefined {
  const read = readRunner(command, args);
  if (read === undefined) return undefined;
  if ('problem' in read) return read.problem;
  const { registry, packages } = read;
  const open = packages.find((each) => !isFixed(registry, each));
  if (open === undefined) return undefined;
  const example = `${nameIn(registry, open)}${registry === 'npm' ? '@' : '=='}1.2.3`;
  return `${basename(command)} would run whatever ${shown(open)} is today: give its exact version, such as ${example}.`;
}

/** How many of the words belong to the runner itself; the rest are the program's own. */
export function runnerWords(command: string, args: readonly string[]): number {
  const read = readRunner(command, args);
  return read === undefined || 'problem' in read ? 0 : args.length - read.args.length;
}

/** Undefined: no program that fetches packages, or not in a form that does. */
function readRunner(
  command: string,
  args: readonly string[],
): RunnerCommand | { readonly problem: string } | undefined {
  const program = basename(command);
  if (!Object.hasOwn(PACKAGE_RUNNERS, program)) return undefined;
  const runner = PACKAGE_RUNNERS[program];
  if (runner === undefined) return undefined;
  const reading = new Reading(runner);
  const fault = reading.read(args);
  if (reading.form === undefined && !reading.couldStill(args)) return undefined;
  const { form = { words: [] } } = reading;
  const told = [program, ...form.words].join(' ');
  const problem = (what: string) => ({ problem: `${told} ${what}. Expected ${runner.expected}.` });
  if (form.runs === 'none') return problem('runs a package that it finds by rules of its own');
  return fault === undefined ? reading.found() : problem(fault);
}

/** One command, read word by word. */
class Reading {
  form: RunnerForm | undefined;
  readonly #runner: PackageRunner;
  readonly #words: string[] = [];
  readonly #from: string[] = [];
  readonly #beside: string[] = [];
  #isPackageAlone = true;
  /** What is run: a package, or a program of the one that an option names, and all that follows. */
  #rest: readonly string[] = [];
  #at = 0;

  constructor(runner: PackageRunner) {
    this.#runner = runner;
    this.form = runner.forms.find(({ words }) => words.length === 0);
  }

  /** Gives what cannot be read, as the end of a sentence. */
  read(args: readonly string[]): string | undefined {
    for (this.#at = 0; this.#at < args.length; this.#at += 1) {
      const arg = args[this.#at] ?? '';
      if (arg === '--') {
        if (this.form !== undefined) return this.#begin(args.slice(this.#at + 1), true);
      } else if (arg.startsWith('-') && arg !== '-') {
        const fault = this.#option(arg, args);
        if (fault !== undefined) return fault;
      } else if (this.form === undefined) {
        this.#words.push(arg);
        this.form = this.#runner.forms.find(({ words }) => words.join(' ') === this.#words.join(' '));
        if (this.form === undefined && !this.#isPrefix()) return undefined;
      } else return this.#begin(args.slice(this.#at), false);
    }
    return this.form?.runs === undefined ? 'names no package' : undefined;
  }

  /** Whether words that were not read may make it run a package. */
  couldStill(args: readonly string[]): boolean {
    if (!this.#isPrefix() || this.#at >= args.length) return false;
    return this.#runner.forms.some(({ words }) =>
      words.slice(this.#words.length).every((word) => args.includes(word)),
    );
  }

  found(): RunnerCommand {
    const { registry } = this.#runner;
    const runsOwn = this.form?.runs === 'own';
    const [first = '', ...args] = this.#rest;
    const isNamed = this.#from.length > 0 || runsOwn;
    const own = isNamed ? this.#from : [first];
    const isHere = !isNamed && /^[./]/.test(first);
    return {
      registry,
      packages: [...(isHere ? [] : own), ...this.#beside],
      program: isNamed ? first : undefined,
      args,
      isPackageAlone: this.#isPackageAlone && !runsOwn && !isHere,
    };
  }

  #isPrefix(): boolean {
    return this.#runner.forms.some(({ words }) => this.#words.every((word, at) => words[at] === word));
  }

  #option(arg: string, args: readonly string[]): string | undefined {
    const { switches, others = [], valued = [], from, beside = [] } = this.#runner;
    const [option, given] = splitOnce(arg);
    if (given === undefined && switches.includes(option)) return undefined;
    if (given === undefined && others.includes(option)) {
      this.#isPackageAlone = false;
      return undefined;
    }
    if (![...valued, ...from, ...beside].includes(option))
      return `has the option ${JSON.stringify(option.slice(0, 40))}, with which the package that it runs cannot be told`;
    const value = given ?? args[(this.#at += 1)];
    if (value === undefined || value === '') return `has no value for ${option}`;
    if (valued.includes(option)) this.#isPackageAlone = false;
    else (from.includes(option) ? this.#from : this.#beside).push(value);
    return undefined;
  }

  /** `isMarked`: `--` stood before. */
  #begin(rest: readonly string[], isMarked: boolean): string | undefined {
    const [first] = rest;
    const runsOwn = this.form?.runs === 'own';
    if (first === undefined) return runsOwn ? undefined : 'names no package';
    if (runsOwn && first.includes('://')) return `would run whatever ${shown(first)} is today`;
    this.#rest = rest;
    if (this.form?.greedy !== true || isMarked) return undefined;
    const mark = rest.indexOf('--');
    const before = mark < 0 ? rest : rest.slice(0, mark);
    this.#rest = mark < 0 ? rest : [...before, ...rest.slice(mark + 1)];
    const taken = before.find((word) => word.startsWith('-'));
    if (taken === undefined) return undefined;
    return `takes ${JSON.stringify(splitOnce(taken)[0].slice(0, 40))} for an option of its own: write -- before the package`;
  }
}

/** A version in full, a commit, or something on this machine. */
function isFixed(registry: NamedPackage['registry'], name: string): boolean {
  if (/^[./]/.test(name)) return true;
  if (/^(?:git\+[a-z]+:\/\/|github:|gitlab:)[^#]*[@#][0-9a-f]{40}$/.test(name)) return true;
  return readPackage(registry, name)?.version !== undefined;
}

/** For the example of a message: whose version could be written behind it. */
function nameIn(registry: NamedPackage['registry'], said: string): string {
  const bare = said.replace(/(?<=.)(?:@|[=<>~!]).*$/, '');
  return readPackage(registry, bare) === undefined ? 'name' : bare;
}

/** Without what may be a secret in the address of a package. */
function shown(name: string): string {
  return JSON.stringify(
    name
      .replace(/:\/\/[^/@\s]*@/, '://')
      .replace(/[?#].*$/s, '')
      .slice(0, 100),
  );
}

function splitOnce(arg: string): readonly [string, string | undefined] {
  const at = arg.startsWith('--') ? arg.indexOf('=') : -1;
  return at < 0 ? [arg, undefined] : [arg.slice(0, at), arg.slice(at + 1)];
}
