// CliIo: what the command line touches of its process, so that tests can stand in for it.
import type { Readable } from 'node:stream';

export interface CliIo {
  stdout(text: string): void;
  stderr(text: string): void;
  /** All of standard input, as text. */
  readStdin(): Promise<string>;
  /** The same as it arrives, for commands that answer meanwhile. */
  readonly stdin?: Readable;
  readonly fetch: typeof fetch;
  readonly env: { readonly [name: string]: string | undefined };
  /** Absolute; relative paths on the command line start here. */
  readonly cwd: string;
}
