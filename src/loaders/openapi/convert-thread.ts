// The thread of convert-elsewhere.ts: converts the document it was given, answers once, ends.
import { parentPort, workerData } from 'node:worker_threads';
import { convertDocument, type ConvertRequest } from './convert-document.ts';

// The YAML parser asks process.env at every token, and the real one is slow: see src/app/process/start.ts.
process.env = { ...process.env };

parentPort?.postMessage(convertDocument(workerData as ConvertRequest));
