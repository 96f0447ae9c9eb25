// CliIo: what the command line touches of its process, so that tests can stand in for it.

export interface CliIo {
  stdout(text: string): void;
  stderr(text: string): void;
  /** All of standard input, as text. */
  readStdin(): Promise<string>;
  readonly fetch: typeof fetch;
  readonly env: { readonly [name: string]: string | undefined };
  /** Absolute; relative paths on the command line start here. */
  readonly cwd: string;
}
