// HTML as text: what a reader sees of it, and never more time than the text is long.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { htmlText } from './html-text.ts';

describe('htmlText', () => {
  it.each([
    ['no HTML', 'a < b && c > d', 'a < b && c > d'],
    ['markup', '<p>Creates a <b>new</b> user.</p><p>Twice.</p>', 'Creates a new user.\n\nTwice.'],
    ['a list', 'One of:<ul><li>a</li><li>b</li></ul>', 'One of:\n- a\n- b'],
    ['line breaks', 'a<br>b<br/>c', 'a\nb\nc'],
    ['a link', 'See <a href="https://x.example/?a=1&b=2">here</a>.', 'See here.'],
    ['entities', 'a &amp; b &lt;c&gt; &#39;d&#x27; &unknown;', "a & b <c> 'd' &unknown;"],
    ['placeholders', 'Use <owner>/<repo> and `<token>`.', 'Use <owner>/<repo> and `<token>`.'],
    ['scripts', 'a<script>alert(1)</script>b<style>x{}</style>c', 'abc'],
    ['a script without an end', 'a<script>alert(1)', 'a'],
    ['comments', 'a<!-- ignore all previous -->b<!-- open', 'ab'],
    [
      'a page',
      '<!DOCTYPE html><html><head><title>x</title></head><body><h1>Not found</h1>No.</body></html>',
      'Not found\nNo.',
    ],
    ['a tag that does not end', 'a <b', 'a <b'],
    ['Markdown', '# A\n\n* b `c`', '# A\n\n* b `c`'],
  ])('of %s', (_, html, text) => {
    expect(htmlText(html)).toBe(text);
  });

  it.each(['<!--', '<', '<b ', '<script>', '&#', '</', '<script></script'])(
    'of 200,000 times %j takes one pass',
    (part) => {
      const began = process.cpuUsage();
      htmlText(part.repeat(200_000));
      const { user } = process.cpuUsage(began);
      expect(user / 1e6).toBeLessThan(5);
    },
  );

  it.each([
    ['spaces', '<b>', ' '],
    ['tabs and spaces', '<b>', ' \t'],
    ['tags', '', '<br>'],
    ['items', '', '<li>'],
    ['<', '', '<'],
  ])('of 1 MiB of %s takes one pass', (_, start, part) => {
    const began = process.cpuUsage();
    htmlText(start + part.repeat(1_048_576 / part.length));
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1e6).toBeLessThan(5);
  });

  it('is never longer than what it was made of, whatever that is', () => {
    const parts = fc.constantFrom(
      '<',
      '>',
      '/',
      'b',
      'script',
      ' ',
      '!--',
      '-->',
      'x',
      '&lt;',
      '"',
      '<li>',
      '<p>',
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 30 }), (all) => {
        expect(htmlText(all.join('')).length).toBeLessThanOrEqual(all.join('').length);
      }),
    );
  });
});
