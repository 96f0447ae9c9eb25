// PrintedText: what one call prints, passed on line by line up to a limit; the rest is thrown away where it arises.
import type { PrintedLevel } from '../threads/messages.ts';

const MAX_LENGTH = 65_536;
const MAX_LINES = 1_000;
/** More than twice what the gateway shows of it, once the call's secrets have been taken out. */
const MAX_LINE = 8_001;

export class PrintedText {
  readonly #pass: (level: PrintedLevel, line: string) => void;
  readonly #partial: Record<PrintedLevel, string> = { info: '', warn: '' };
  #length = 0;
  #lines = 0;
  #cut = false;

  constructor(pass: (level: PrintedLevel, line: string) => void) {
    this.#pass = pass;
  }

  push(level: PrintedLevel, text: string): void {
    if (this.#cut) return;
    this.#length += text.length;
    if (this.#length > MAX_LENGTH || this.#lines > MAX_LINES) return this.#truncate();
    const lines = (this.#partial[level] + text).split('\n');
    this.#partial[level] = lines.pop() ?? '';
    for (const line of lines) this.#line(level, line);
  }

  /** Passes on what was printed without a line end. */
  flush(): void {
    for (const level of ['info', 'warn'] as const) {
      const rest = this.#partial[level];
      this.#partial[level] = '';
      this.#line(level, rest);
    }
  }

  #line(level: PrintedLevel, line: string): void {
    const text = line.trimEnd();
    if (text === '') return;
    this.#lines += 1;
    this.#pass(level, text.slice(0, MAX_LINE));
  }

  #truncate(): void {
    this.#cut = true;
    this.flush();
    this.#pass('warn', `(output truncated after ${MAX_LENGTH} characters or ${MAX_LINES} lines)`);
  }
}
