// Loads the program that the bundle holds, and keeps what was compiled of it: after the start, and at the end what came later.
import { CompiledProgram } from './compiled-program.ts';
import type * as Program from './run-process.ts';

/** `folder`: where the chunks lie. */
export function loadProgram(folder: string): void {
  const program = new CompiledProgram(folder);
  const { onceStarted } = program.load('run-process.cjs') as typeof Program;
  onceStarted(async () => {
    await program.keep();
    process.once('exit', () => program.keepRest());
  });
}
