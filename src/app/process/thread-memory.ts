// Memory of threads: V8 takes what the start command says of the memory for short-lived objects for every thread of the process,
// over the limit that a thread is started with.
import { setFlagsFromString } from 'node:v8';

/**
 * From now on a thread has the limit that it is started with, or else V8's own. The main thread keeps what the start command says:
 * its heap was made by it. To be called before the first thread is started.
 */
export function leaveThreadsTheirLimits(): void {
  setFlagsFromString('--max-semi-space-size=0');
}
