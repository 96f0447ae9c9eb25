// The pieces of JSON as models write it: spaces, comments, names, numbers, words and texts in any quotes.

export const SPACE = /[ \t\n\r\u00a0\ufeff]+/y;
export const FOREIGN_SPACE = /[\u00a0\ufeff]/;
export const LINE_COMMENT = /(?:\/\/|#)[^\n]*/y;
export const NAME = /[A-Za-z_$][\w$-]*/y;
export const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y;
export const WORD = /(?:true|false|null|True|False|None)(?![\w$])/y;
export const PYTHON: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' };

/** Neither space nor the beginning of a comment: what most tokens begin with. */
export function isInk(code: number): boolean {
  return code > 0x2f && code !== 0xa0 && code !== 0xfeff;
}

export function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

export const LINE_BREAKS = /[\n\r\t]/;

/** Behind the closing quote. Undefined: there is none. */
export function endOfString(text: string, from: number, quote: string): number | undefined {
  for (let at = from + 1; at < text.length; at += 1) {
    const found = text[at];
    if (found === quote) return at + 1;
    if (found === '\\') at += 1;
  }
  return undefined;
}

/** What stood in a text, as JSON writes it. A backslash and what follows it stay together: what they mean is JSON's business. */
export function asJsonText(inside: string): string {
  return inside.replaceAll(/\\[^]|["\n\r\t]/g, (found) => ESCAPED[found] ?? found);
}

const ESCAPED: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  "\\'": "'",
};
