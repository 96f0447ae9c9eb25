// The thread of parse-large.ts: reads one large piece or a whole text, which may take its time and memory here.
import { parentPort, workerData } from 'node:worker_threads';
import { parseWhole, type ParsedConnection, type ParsedTool } from '../../lib/tools-yaml/parse-whole.ts';
import type { LargeAnswer, LargeRequest, SentValue } from './parse-large.ts';
import { parsePiece } from './parse-piece.ts';

// The YAML parser asks process.env at every token, and the real one is slow: see src/app/process/start.ts.
process.env = { ...process.env };

function answerTo({ file, text, linesBefore }: LargeRequest): LargeAnswer {
  if (linesBefore === undefined) return wholeOf(file, text);
  const parsed = parsePiece(file, { text, linesBefore });
  if (parsed === 'needs-whole') return { kind: 'needs-whole' };
  if ('problems' in parsed) return { kind: 'problems', problems: parsed.problems };
  return { kind: 'piece', json: JSON.stringify(parsed.value) ?? 'null' };
}

function wholeOf(file: string, text: string): LargeAnswer {
  const { tools, connections, problems } = parseWhole({ file, text });
  return {
    kind: 'whole',
    tools: tools.map((tool) => ({ ...sent(tool), contentHash: tool.contentHash })),
    connections: connections.map((each) => ({ ...sent(each), name: each.name })),
    problems,
  };
}

function sent({ value, start, end, locate }: ParsedTool | ParsedConnection): SentValue {
  return { json: JSON.stringify(value) ?? 'null', start, end, place: locate([]) };
}

parentPort?.postMessage(answerTo(workerData as LargeRequest));
