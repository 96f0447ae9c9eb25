// What is wrong with a YAML text, in words that tell its author what to do.
import { expect, it } from 'vitest';
import { parseOne } from './parse-one.ts';

it.each([
  ['a: 1\na: 2\n', 'line 2, column 1: not valid YAML: this key stands there already; each may stand once'],
  ['a: 1\n---\nb: 1\n', 'a second document begins here, with "---"; a file holds one'],
  ['{{ tools }}\n', 'a key must be text; a text that begins with "{" or "[" must stand in quotes'],
  ['a: [1\n', 'what was begun before has no end: expected "]"'],
  ['a: {b: 1\n', 'what was begun before has no end: expected "}"'],
  ['a: "b\n', 'a text in quotes has no end: expected "'],
  ["a: 'b\n", "a text in quotes has no end: expected '"],
  ['a: @b\n', 'a text that begins with @ must stand in quotes'],
  ['a: `b\n', 'a text that begins with ` must stand in quotes'],
  ['a: - b\n', 'a list begins on a line of its own'],
  ['a: !b c\n', 'the tag !b has no meaning here'],
  ['%YAML 9.9\n---\na: 1\n', 'YAML of version 9.9 is not known; leave the directive out'],
  ['a: &b &c 1\n', 'a value has one anchor ("&name") at most'],
  ['a: *b\n', 'there is no anchor "&b" before the alias "*b"'],
  ['a: &b [*b]\n', 'an alias stands within what its own anchor names'],
  ['a: "\\xzz"\n', 'Invalid escape sequence \\xzz'],
])('%j', (text, words) => {
  const parsed = parseOne(text);
  expect('message' in parsed ? parsed.message : '').toContain(words);
});
