// The thread of convert-elsewhere.ts: converts the document it was given, answers once, ends.
import { parentPort, workerData } from 'node:worker_threads';
import { convertDocument } from './convert-document.ts';
import type { ElsewhereRequest } from './convert-elsewhere.ts';

// The YAML parser asks process.env at every token, and the real one is slow: see src/app/process/start.ts.
process.env = { ...process.env };

const { bytes, ...request } = workerData as ElsewhereRequest;
parentPort?.postMessage(convertDocument({ ...request, text: new TextDecoder().decode(bytes) }));
