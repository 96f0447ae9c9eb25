// The entry point. Turns on Node's compile cache before anything else is loaded: a second start is faster by a third.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Beside the code and not in a shared temporary folder: what lies in it is run.
enableCompileCache(fileURLToPath(new URL('.compile-cache', import.meta.url)));
// As a plain object: the real one asks the system at every look, and the YAML parser looks at every token.
process.env = { ...process.env };
await import('./run-process.ts');
