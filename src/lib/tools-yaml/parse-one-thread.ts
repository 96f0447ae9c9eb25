// The thread that reads one YAML value: a hostile text takes its time and memory, and no call waits for it.
import { parentPort, workerData } from 'node:worker_threads';
import { parseOne } from './parse-one.ts';

// The YAML parser asks process.env at every token, and the real one is slow: see src/app/process/start.ts.
process.env = { ...process.env };

parentPort?.postMessage(parseOne(workerData as string));
