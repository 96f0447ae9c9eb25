// What the YAML library says of a text, in words that tell its author what to do. What stands nowhere here is said as the library has it.
import type { ErrorCode } from 'yaml';

const WORDS: Partial<Record<ErrorCode, string>> = {
  BLOCK_AS_IMPLICIT_KEY: 'a list begins on a line of its own',
  DUPLICATE_KEY: 'this key stands there already; each may stand once',
  MULTIPLE_ANCHORS: 'a value has one anchor ("&name") at most',
  MULTIPLE_DOCS: 'a second document begins here, with "---"; a file holds one',
  NON_STRING_KEY: 'a key must be text; a text that begins with "{" or "[" must stand in quotes',
};

interface Rewording {
  readonly said: RegExp;
  readonly words: (found: string) => string;
}

/** By what the library says: one of its codes stands for several mistakes. */
const REWORDINGS: readonly Rewording[] = [
  {
    said: /^Flow (?:map|sequence).* end with a (.)$/,
    words: (end) => `what was begun before has no end: expected "${end}"`,
  },
  { said: /^Missing closing (["'])/, words: (quote) => `a text in quotes has no end: expected ${quote}` },
  {
    said: /^Plain value cannot start with .* character (.)$/,
    words: (first) => `a text that begins with ${first} must stand in quotes`,
  },
  { said: /^Unexpected block-seq-ind/, words: () => 'a list begins on a line of its own' },
  { said: /^Unresolved tag: (.*)$/, words: (tag) => `the tag ${tag} has no meaning here` },
  {
    said: /^Unsupported YAML version (.*)$/,
    words: (version) => `YAML of version ${version} is not known; leave the directive out`,
  },
  { said: /^Unresolved alias .*: (.*)$/, words: noAnchor },
  { said: /^Excessive alias count/, words: () => 'its aliases repeat too much' },
  { said: /circular structure/, words: () => 'an alias stands within what its own anchor names' },
];

/** Of an alias. */
export function noAnchor(name: string): string {
  return `there is no anchor "&${name}" before the alias "*${name}"`;
}

/** `code` of a parser's error; without one, of an error that was thrown. */
export function syntaxWords(message: string, code?: ErrorCode): string {
  const [line = ''] = message.split('\n', 1);
  for (const { said, words } of REWORDINGS) {
    const found = said.exec(line);
    if (found !== null) return words(found[1] ?? '');
  }
  return (code === undefined ? undefined : WORDS[code]) ?? line;
}
