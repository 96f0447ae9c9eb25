// The thread of parse-elsewhere.ts: parses the texts it was given, answers once, ends.
import { parentPort, workerData } from 'node:worker_threads';
import type { Answers, Texts } from './parse-elsewhere.ts';
import { parsePiece } from './parse-piece.ts';

// The parser asks process.env at every token, and the real one is slow: see src/app/process/start.ts.
process.env = { ...process.env };

const answers: Answers = (workerData as Texts).map((text) => {
  const parsed = parsePiece('', { text, linesBefore: 0 });
  return parsed !== 'needs-whole' && 'value' in parsed ? parsed : undefined;
});
parentPort?.postMessage(answers);
