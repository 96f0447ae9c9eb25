// Exit codes, the same for every command, and the error that ends a command with one.

export const EXIT = {
  ok: 0,
  /** Problems were found, or the gateway could not be reached. */
  failed: 1,
  usage: 2,
  /** The gateway answered, and the answer is no. */
  refused: 3,
  approvalNeeded: 4,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends the command: its message is the one line that the user reads. */
export class CliFailure extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.name = 'CliFailure';
    this.exitCode = exitCode;
  }
}
