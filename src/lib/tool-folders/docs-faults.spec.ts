// Documentation of tool folders: what is missing is told, all of it at once, each at its line.
import { expect, it } from 'vitest';
import { docOf } from '../../../test/helpers/tool-folder-kit.ts';
import { docFaults, REQUIRED_SECTIONS, summaryFaults } from './docs-faults.ts';

it('a whole text has no faults, also with sections of its own and headings inside code', () => {
  expect(docFaults(docOf('find'), 'find')).toEqual([]);
  expect(docFaults(`${docOf('find')}\n## Examples\n\n\`\`\`md\n## Returns\n\`\`\`\n`, 'find')).toEqual([]);
});

it.each(REQUIRED_SECTIONS)('without ## %s it is told', (title) => {
  const text = docOf('find').replace(`## ${title}`, `### ${title}`);
  expect(docFaults(text, 'find')).toMatchObject([
    { file: 'doc.md', message: `the section "## ${title}" is missing` },
  ]);
  const empty = docOf('find').replace(`## ${title}\n\nAs it is.\n`, `## ${title}\n\n`);
  expect(docFaults(empty, 'find')).toMatchObject([
    { line: empty.split('\n').indexOf(`## ${title}`) + 1, message: `the section "## ${title}" is empty` },
  ]);
});

it('everything at once: another title, two sections missing, one twice', () => {
  const text = '# other\n\n## Summary\n\nx\n\n## summary\n\ny\n\n```\n## Returns\n```\n\n## Errors\n\nnone\n';
  expect(docFaults(text, 'find').map(({ line, message }) => [line, message])).toEqual([
    [1, 'expected the title "# find" first'],
    [7, 'the section "## Summary" is there twice'],
    [18, 'the section "## Parameters" is missing'],
    [18, 'the section "## Returns" is missing'],
  ]);
});

it.each([
  ['one line\n', /2 to 4 lines, found 1/],
  ['\n\n', /found 0/],
  ['a\nb\nc\nd\ne\n', /found 5/],
  [`${'x'.repeat(500)}\n${'y'.repeat(500)}\n`, /at most 800 characters/],
])('the summary %j is refused', (text, message) => {
  expect(summaryFaults(text)).toMatchObject([
    { file: 'doc_summary.md', message: expect.stringMatching(message) },
  ]);
});

it('two to four lines are a summary, with blank ones between', () => {
  for (const text of ['a\nb', 'a\n\nb\n', 'a\r\nb\r\nc\r\nd\r\n']) expect(summaryFaults(text)).toEqual([]);
});
