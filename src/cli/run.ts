// The `ute` command: reads the command line, runs one command, answers with its exit code.
import { CommanderError } from 'commander';
import type { CliIo } from './cli-io.ts';
import { CliFailure, EXIT, type ExitCode } from './exit-code.ts';
import { createProgram } from './program.ts';

/** `argv` without the program's own name. Never throws: whatever goes wrong is one line on stderr and a code. */
export async function run(argv: readonly string[], io: CliIo): Promise<number> {
  let exitCode: ExitCode = EXIT.ok;
  const program = createProgram(io, (code) => (exitCode = code));
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Help and version end like this too, with code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    io.stderr(`ute: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof CliFailure ? error.exitCode : EXIT.failed;
  }
}
