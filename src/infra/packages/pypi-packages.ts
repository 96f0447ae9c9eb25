// Packages of PyPI: installed by pip into a folder of their own, run by the Python that installed them.
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
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

/** Of the installation: what is imported, and `bin` in it. */
const MODULES = 'lib';
/** pip, for as long as the installation takes: the system's own Python often has none. */
const TOOLS = '.pip';

const QUIETLY = ['--no-input', '--disable-pip-version-check', '--no-cache-dir', '--retries=2'];
/** Anything else has code to be run. */
const WHEELS = ['--only-binary', ':all:'];

/** What pip says that it would install. */
interface Report {
  readonly install: readonly { readonly metadata: { readonly version: string } }[];
}

export class PypiPackages implements PackageKind {
  readonly platform: string;
  readonly #python: Interpreter;

  /** Throws Error where there is no Python. */
  constructor(user: Owner | undefined) {
    this.#python = findInterpreter('python3', user);
    const version = basename(realpathSync(this.#python.path));
    this.platform = `${process.platform}-${process.arch}-${version}`;
  }

  get readable(): readonly string[] {
    return this.#python.places;
  }

  steps({ packages, scripts }: McpPackage, folder: string): readonly Step[] {
    const named = packages.map(({ name, extras, version }) => {
      const some = extras.length === 0 ? '' : `[${extras.join(',')}]`;
      return `${name}${some}==${version}`;
    });
    const wheels = scripts ? [] : WHEELS;
    return this.#pip(folder, [
      '--target',
      join(folder, MODULES),
      '--no-warn-script-location',
      ...wheels,
      ...named,
    ]);
  }

  newest({ name }: NamedPackage, folder: string): NewestVersion {
    const report = join(folder, 'report.json');
    const words = ['--dry-run', '--ignore-installed', '--no-deps', '--report', report, ...WHEELS, name];
    return {
      steps: this.#pip(folder, words),
      read: () => {
        const { install } = JSON.parse(textWithin(folder, report) ?? '') as Report;
        return install[0]?.metadata.version;
      },
    };
  }

  #pip(folder: string, words: readonly string[]): readonly Step[] {
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin' };
    const python = join(folder, TOOLS, 'bin', 'python3');
    return [
      { argv: [this.#python.path, '-m', 'venv', join(folder, TOOLS)], env },
      { argv: [python, '-m', 'pip', 'install', ...QUIETLY, ...words], env },
    ];
  }

  contents(folder: string): readonly string[] {
    return installed(folder).map(({ name, version }) => `${name}==${version}`);
  }

  program({ packages, program: asked }: McpPackage, folder: string): InstalledProgram {
    const own = packages[0]?.name ?? '';
    const modules = join(folder, MODULES);
    const bin = join(modules, 'bin');
    const programs = asked === undefined ? ownPrograms(folder, own) : existsSync(bin) ? readdirSync(bin) : [];
    const [same = own] = programs.filter((each) => plain(each) === plain(own));
    const chosen = chooseProgram(same, asked, programs);
    return {
      argv: [this.#python.path, fileWithin(folder, join(bin, chosen))],
      env: { PYTHONPATH: modules, PYTHONDONTWRITEBYTECODE: '1' },
      folders: [bin],
      readable: [folder, ...this.#python.places],
    };
  }
}

interface Distribution {
  readonly folder: string;
  readonly name: string;
  readonly version: string;
}

function installed(folder: string): readonly Distribution[] {
  const modules = join(folder, MODULES);
  if (!existsSync(modules)) return [];
  return readdirSync(modules).flatMap((entry) => {
    const [, name, version] = /^(.+)-([^-]+)\.dist-info$/.exec(entry) ?? [];
    return name === undefined || version === undefined
      ? []
      : [{ folder: join(modules, entry), name, version }];
  });
}

/** Its console scripts, as its metadata names them. */
function ownPrograms(folder: string, name: string): readonly string[] {
  const found = installed(folder).find((each) => plain(each.name) === plain(name));
  if (found === undefined) return [];
  const text = textWithin(folder, join(found.folder, 'entry_points.txt')) ?? '';
  const section = /^\[console_scripts\]\n([^[]*)/m.exec(text.replaceAll('\r', ''))?.[1] ?? '';
  return section.split('\n').flatMap((line) => /^\s*([\w.-]+)\s*=/.exec(line)?.[1] ?? []);
}

/** Names of PyPI are the same with any of these marks. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, '-');
}
