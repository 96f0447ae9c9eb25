// PackageKind: what differs between the registries: how a package is installed, and where its programs are.
import type { NamedPackage } from '../../lib/mcp/mcp-package.ts';
import type { McpPackage } from '../../ports/egress/mcp-servers.ts';

export interface Step {
  readonly argv: readonly string[];
  readonly env: { readonly [name: string]: string };
}

/** How an installed program is started, with what it has to see beside the folder of the installation. */
export interface InstalledProgram {
  /** The interpreter, where there is one, and the program. */
  readonly argv: readonly string[];
  readonly env: { readonly [name: string]: string };
  /** Folders for its PATH. */
  readonly folders: readonly string[];
  readonly readable: readonly string[];
}

export interface NewestVersion {
  readonly steps: readonly Step[];
  /** From what the last step printed, and the folder. Undefined: it does not say. */
  readonly read: (output: string) => string | undefined;
}

export interface PackageKind {
  /** What an installation is good for: another interpreter needs another one. Throws Error where there is none. */
  readonly platform: string;
  /** Files and folders that the steps read. Throws Error where there is no package manager, as they do. */
  readonly readable: readonly string[];
  /** Run one after another, in `folder`, which is theirs. */
  steps(asked: McpPackage, folder: string): readonly Step[];
  /** How the registry is asked for the newest version that runs here. */
  newest(asked: NamedPackage, folder: string): NewestVersion;
  /** Names and versions of all that lies in the folder. */
  contents(folder: string): readonly string[];
  /** Throws Error with a sentence for the operator where the folder has no such program, or several. */
  program(asked: McpPackage, folder: string): InstalledProgram;
}

/** The one asked for, or the one with the package's name, or the only one. */
export function chooseProgram(name: string, asked: string | undefined, programs: readonly string[]): string {
  if (asked !== undefined) {
    if (programs.includes(asked)) return asked;
    throw new Error(`it has no program ${JSON.stringify(asked)}${known(programs)}`);
  }
  const [only] = programs;
  if (only !== undefined && programs.length === 1) return only;
  const own = programs.find((each) => each === name);
  if (own !== undefined) return own;
  throw new Error(
    programs.length === 0
      ? 'it has no program to be run'
      : `it has several programs: say which under \`program\`${known(programs)}`,
  );
}

function known(programs: readonly string[]): string {
  return programs.length === 0 ? '' : `; there are ${programs.slice(0, 20).join(', ')}`;
}
