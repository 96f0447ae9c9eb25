// The thread that reads a document: it may be a bomb, and this is where it goes off.
import { parentPort, workerData } from 'node:worker_threads';
import { readDocument, type ReadRequest } from './read-document.ts';

// The YAML parser asks process.env at every token, and the real one is slow: see src/app/process/start.ts.
process.env = { ...process.env };

parentPort?.postMessage(readDocument(workerData as ReadRequest));
