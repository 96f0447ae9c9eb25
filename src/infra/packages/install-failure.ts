// Why a package could not be installed, in one sentence for the operator.
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import { SAYS_DISK_FULL } from '../../lib/files/disk-full.ts';

const AWAY =
  /\b(?:EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH)\b|Temporary failure in name resolution|Failed to establish a new connection|Network is unreachable|NewConnectionError|Could not fetch URL/i;
const NO_SUCH = /\bE404\b|\bETARGET\b|No matching version|No matching distribution|Could not find a version/i;
const NEEDS_SCRIPTS = /only-binary|no binary|No compatible wheel/i;
const NO_VENV = /ensurepip is not available|No module named venv|No module named ensurepip/i;
const DISK_FULL = 'the disk is full that executors.mcp.packages_dir lies on.';
const LAST_LINES = 5;
const MOST_LINE_CHARS = 300;

/** `output` is what the package manager printed. */
export function installFailure(names: string, output: string, cause?: unknown): ToolFailure {
  return notInstalled(names, sentence(output), cause ?? new Error(lastLines(output, 20)));
}

export function notInstalled(names: string, why: string, cause?: unknown): ToolFailure {
  return toolFailure('PACKAGE_NOT_INSTALLED', `The package ${names} is not installed: ${why}`, {
    partialSideEffects: false,
    cause,
  });
}

/** What the gateway itself could not do. */
export function ownFailure(names: string, error: unknown): ToolFailure {
  const said = error instanceof Error ? error.message : String(error);
  return notInstalled(names, SAYS_DISK_FULL.test(said) ? DISK_FULL : `${said}.`, error);
}

function sentence(output: string): string {
  // First: whoever cannot write what comes from the registry may say that nothing came.
  if (SAYS_DISK_FULL.test(output)) return DISK_FULL;
  if (AWAY.test(output))
    return 'the registry cannot be reached. Run "ute packages install" where it can, and bring the folder of packages here.';
  if (NO_VENV.test(output)) return 'this Python cannot make a virtual environment: install python3-venv.';
  if (NO_SUCH.test(output)) {
    const wheel = NEEDS_SCRIPTS.test(output) ? ', or none without code to be run (install_scripts)' : '';
    return `the registry has no such version for this machine${wheel}. ${lastLines(output, 1)}`;
  }
  return `its package manager failed. ${lastLines(output, LAST_LINES)}`;
}

function lastLines(output: string, most: number): string {
  return output
    .split('\n')
    .map((line) => line.trim().slice(0, MOST_LINE_CHARS))
    .filter((line) => line !== '' && !/^npm (?:error|ERR!) (?:A complete log|Log files)/.test(line))
    .slice(-most)
    .join('\n');
}
