// LineEmitter: what a command prints, as log events, line by line while it runs.
import type { Emit } from '../../contract/call/tool-call.ts';

const MAX_LINE = 8192;

export class LineEmitter {
  readonly #emit: Emit;
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  readonly #rests = { stdout: '', stderr: '' };

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  readonly take = (stream: 'stdout' | 'stderr', chunk: Buffer): void => {
    const lines = (this.#rests[stream] + this.#decoders[stream].decode(chunk, { stream: true })).split('\n');
    const rest = lines.pop() ?? '';
    for (const line of lines) this.#emitLine(stream, line);
    // A line without an end is shown in pieces, not kept.
    if (rest.length > MAX_LINE) this.#emitLine(stream, rest);
    this.#rests[stream] = rest.length > MAX_LINE ? '' : rest;
  };

  end(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      if (this.#rests[stream] !== '') this.#emitLine(stream, this.#rests[stream]);
      this.#rests[stream] = '';
    }
  }

  #emitLine(stream: 'stdout' | 'stderr', line: string): void {
    const message = line.endsWith('\r') ? line.slice(0, -1) : line;
    this.#emit({
      kind: 'log',
      level: stream === 'stdout' ? 'info' : 'warn',
      message: message.slice(0, MAX_LINE),
    });
  }
}
