// Packages of npm: installed by npm itself into a folder of their own, run by Node.
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isJsonObject, type JsonValue } from '../../contract/json.ts';
import { firstBytes } from '../../lib/files/program-needs.ts';
import type { NamedPackage } from '../../lib/mcp/mcp-package.ts';
import type { McpPackage } from '../../ports/egress/mcp-servers.ts';
import type { Owner } from '../sandbox/workspace/workspace-files.ts';
import { fileWithin, textWithin } from './files-within.ts';
import { findInterpreter, type Interpreter } from './interpreters.ts';
import {
  chooseProgram,
  type InstalledProgram,
  type NewestVersion,
  type PackageKind,
  type Step,
} from './package-kind.ts';

/** A registry that is away is to be told of, and not waited for. */
const SOON = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000'];
const QUIETLY = ['--no-audit', '--no-fund', '--no-update-notifier', ...SOON];

export class NpmPackages implements PackageKind {
  readonly platform = `${process.platform}-${process.arch}`;
  readonly #node: Interpreter;
  readonly #find: () => Interpreter;
  #found: Interpreter | undefined;

  /** Throws Error where there is no Node. */
  constructor(user: Owner | undefined, find: typeof findInterpreter = findInterpreter) {
    this.#node = find('node', user, [process.execPath]);
    this.#find = () => find('npm', user);
  }

  /** Looked for by an installation alone: what is installed runs without it. Throws Error where there is none. */
  get #npm(): Interpreter {
    this.#found ??= this.#find();
    return this.#found;
  }

  get readable(): readonly string[] {
    return [...this.#node.places, ...this.#npm.places];
  }

  steps({ packages, scripts }: McpPackage, folder: string): readonly Step[] {
    const own = scripts ? '--ignore-scripts=false' : '--ignore-scripts';
    const names = packages.map(({ name, version }) => `${name}@${version}`);
    const words = ['install', '--prefix', folder, own, '--omit=dev', '--save-exact', ...names];
    return [this.#step(words, folder)];
  }

  newest({ name }: NamedPackage, folder: string): NewestVersion {
    return {
      steps: [this.#step(['view', name, 'version'], folder)],
      read: (output) => /^\d+\.\d+\.\d+\S*$/m.exec(output)?.[0],
    };
  }

  #step(words: readonly string[], folder: string): Step {
    const npm = realpathSync(this.#npm.path);
    return {
      argv: [this.#node.path, npm, ...words, '--cache', join(folder, '.cache'), ...QUIETLY],
      env: { PATH: [dirname(this.#node.path), '/usr/local/bin', '/usr/bin', '/bin'].join(':') },
    };
  }

  contents(folder: string): readonly string[] {
    const lock = jsonIn(folder, 'package-lock.json');
    const packages = isJsonObject(lock) ? lock['packages'] : undefined;
    if (!isJsonObject(packages)) return [];
    return Object.entries(packages).flatMap(([path, value]) => {
      const name = path.split('node_modules/').at(-1) ?? '';
      const version = isJsonObject(value) ? value['version'] : undefined;
      return name !== '' && typeof version === 'string' ? [`${name}@${version}`] : [];
    });
  }

  program({ packages, program: asked }: McpPackage, folder: string): InstalledProgram {
    const name = packages[0]?.name ?? '';
    const modules = join(folder, 'node_modules');
    const bin = join(modules, '.bin');
    const chosen = chooseProgram(
      name.split('/').at(-1) ?? '',
      asked,
      asked === undefined ? ownPrograms(folder, name) : namesIn(bin),
    );
    const path = fileWithin(folder, join(bin, chosen));
    const isScript = /\.[cm]?js$/.test(path) || /^#!.*\bnode\b/.test(firstBytes(path));
    return {
      argv: isScript ? [this.#node.path, path] : [path],
      env: {},
      folders: [bin, dirname(this.#node.path)],
      readable: [folder, ...this.#node.places],
    };
  }
}

/** As its package.json says; only those that npm has linked. */
function ownPrograms(folder: string, name: string): readonly string[] {
  const said = jsonIn(folder, 'node_modules', name, 'package.json');
  const bin = isJsonObject(said) ? said['bin'] : undefined;
  const named =
    typeof bin === 'string' ? [name.split('/').at(-1) ?? ''] : isJsonObject(bin) ? Object.keys(bin) : [];
  return named.filter((each) => existsSync(join(folder, 'node_modules', '.bin', each)));
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function jsonIn(folder: string, ...names: readonly string[]): JsonValue | undefined {
  try {
    return JSON.parse(textWithin(folder, join(folder, ...names)) ?? '') as JsonValue;
  } catch {
    return undefined;
  }
}
