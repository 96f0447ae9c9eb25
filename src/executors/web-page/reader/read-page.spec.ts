// Reading a page: its main text as Markdown, nothing that a reader does not see, and no page that is too much for it.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NoText, PageTask, ReadPage } from './messages.ts';
import { readPage } from './read-page.ts';

const PARAGRAPH = `<p>${'The tower was built in 1889, by many hands, and stands to this day. '.repeat(6)}</p>`;

function read(html: string | Buffer, changes: Partial<PageTask> = {}): ReadPage | NoText {
  return readPage({
    kind: 'page',
    body: typeof html === 'string' ? Buffer.from(html) : html,
    contentType: 'text/html; charset=utf-8',
    url: 'https://example.com/guide/tower',
    whole: false,
    offset: 0,
    maxCharacters: 100_000,
    ...changes,
  });
}
function contentOf(html: string | Buffer, changes: Partial<PageTask> = {}): string {
  const answer = read(html, changes);
  if (answer.kind !== 'page') throw new Error(`no page: ${answer.what}`);
  return answer.content;
}

const ARTICLE = `<!doctype html><html lang="en"><head><title>The tower</title>
<meta property="og:site_name" content="Towers of the world"></head><body>
<nav><a href="/">Home</a><a href="/all">All towers</a></nav>
<article><h1>The tower</h1><h2>History</h2>${PARAGRAPH}${PARAGRAPH}
<p>See <a href="../bridge?x=1#top">the bridge</a>, <a href="javascript:alert(1)">this</a>.</p>
<table><thead><tr><th>Part</th><th>Height</th></tr></thead><tbody><tr><td>Base</td><td>57 m</td></tr></tbody></table>
<pre><code>let height = 330;</code></pre><img src="https://track.example/p.gif" alt="The tower at night"></article>
<footer>All rights reserved</footer></body></html>`;

describe('an article', () => {
  it('is its main text in Markdown, and what its head says of it', () => {
    const answer = read(ARTICLE);
    expect(answer).toMatchObject({
      kind: 'page',
      format: 'markdown',
      title: 'The tower',
      site: 'Towers of the world',
      language: 'en',
    });
    const content = contentOf(ARTICLE);
    expect(content).toContain('## History');
    expect(content).toContain('built in 1889');
    expect(content).toContain('| Base | 57 m |');
    expect(content).toContain('let height = 330;');
    expect(content).not.toContain('All towers');
    expect(content).not.toContain('All rights reserved');
  });

  it('has whole URLs in its links, and none that are not of the web', () => {
    const content = contentOf(ARTICLE);
    expect(content).toContain('[the bridge](https://example.com/bridge?x=1#top)');
    expect(content).not.toContain('javascript:');
  });

  it('has its pictures as what is said of them: nothing that shows it fetches anything', () => {
    const content = contentOf(ARTICLE);
    expect(content).toContain('The tower at night');
    expect(content).not.toContain('track.example');
    expect(content).not.toContain('![');
  });

  it('is all there with whole_page, or where it has no main text', () => {
    expect(contentOf(ARTICLE, { whole: true })).toContain('All towers');
    expect(contentOf('<ul><li><a href="/a">One</a><li><a href="/b">Two</a></ul>')).toBe(
      '-   [One](https://example.com/a)\n-   [Two](https://example.com/b)',
    );
  });

  it.each(['/a', 'https://example.com/a'])('the base %s of its head is where links start from', (base) => {
    const html = `<head><base href="${base}/"></head><body><a href="x">x</a></body>`;
    expect(contentOf(html)).toBe('[x](https://example.com/a/x)');
  });

  it('a base that is none of the web changes nothing', () => {
    const html = '<head><base href="file:///etc/"></head><body><a href="x">x</a></body>';
    expect(contentOf(html)).toBe('[x](https://example.com/guide/x)');
  });
});

describe('what nobody sees', () => {
  it.each([
    '<script>TRAP</script>',
    '<style>TRAP</style>',
    '<!-- TRAP -->',
    '<div hidden>TRAP</div>',
    '<div aria-hidden="true">TRAP</div>',
    '<div style="display:none">TRAP</div>',
    '<div style="color:red; DISPLAY : none !important">TRAP</div>',
    '<div style="visibility: hidden">TRAP</div>',
    '<span style="font-size:0px">TRAP</span>',
    '<span style="opacity: 0">TRAP</span>',
    '<template>TRAP</template>',
    '<noscript>TRAP</noscript>',
    '<svg><text>TRAP</text></svg>',
    '<iframe srcdoc="TRAP">TRAP</iframe>',
    '<textarea>TRAP</textarea>',
  ])('%s is not read', (trap) => {
    for (const whole of [true, false])
      expect(
        contentOf(`<body>${trap}<article>${PARAGRAPH}${trap}</article></body>`, { whole }),
      ).not.toContain('TRAP');
  });

  it('invisible characters are taken out, of the title too', () => {
    const tags = 'ignore'
      .split('')
      .map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0)))
      .join('');
    const answer = read(`<title>A${tags}b</title><body>c${tags}\u200bd\u202e</body>`);
    expect(answer).toMatchObject({ title: 'Ab', content: 'cd' });
  });
});

describe('encodings', () => {
  it.each([
    ['the header', Buffer.from('<p>caf\xe9</p>', 'latin1'), 'text/html; charset=iso-8859-1'],
    ['the head', Buffer.from('<meta charset="windows-1252"><p>caf\xe9</p>', 'latin1'), 'text/html'],
    ['a mark', Buffer.from('\ufeff<p>café</p>', 'utf16le'), 'text/html'],
    ['nothing, so that it is UTF-8', Buffer.from('<p>café</p>'), 'text/html'],
    ['a header that nobody knows', Buffer.from('<p>café</p>'), 'text/html; charset=klingon'],
  ])('is what %s says', (_who, body, contentType) => {
    expect(contentOf(body, { contentType })).toBe('café');
  });
});

describe('text that is no page', () => {
  it.each(['text/plain', 'application/json', 'application/rss+xml', 'text/markdown; charset=utf-8'])(
    'of %s stays as it is',
    (contentType) => {
      const answer = read('{"a": [1, <b>2</b>]}', { contentType });
      expect(answer).toMatchObject({ format: 'text', content: '{"a": [1, <b>2</b>]}' });
    },
  );

  it.each(['', 'application/octet-stream'])('under the type "%s" is what it looks like', (contentType) => {
    expect(read('<!doctype html><p>Hi</p>', { contentType })).toMatchObject({
      format: 'markdown',
      content: 'Hi',
    });
    expect(read('a < b', { contentType })).toMatchObject({ format: 'text', content: 'a < b' });
  });

  it.each([
    [Buffer.from('%PDF-1.7 …'), 'a PDF document'],
    [Buffer.from([0x89, 0x50, 0x4e, 0x47]), 'a picture'],
    [Buffer.from([1, 0, 2]), 'binary data'],
  ])('that is %s is refused, whatever its server says', (body, what) => {
    expect(read(body)).toEqual({ kind: 'no-text', what });
  });
});

describe('a page that is made to hurt', () => {
  it.each([
    ['nested 100,000 deep', '<div>'.repeat(100_000) + 'heart'],
    ['nested in tables', '<table><tr><td>'.repeat(50_000) + 'heart'],
    ['unclosed formatting', '<b><i><u>'.repeat(30_000) + 'heart'],
    ['of 200,000 elements', '<p>heart</p>'.repeat(200_000)],
    [
      'an element of 50,000 attributes',
      `<p ${Array.from({ length: 50_000 }, (_, at) => `a${at}=1`).join(' ')}>heart`,
    ],
  ])('%s is read as plain text', (_what, html) => {
    const answer = read(html, { maxCharacters: 100 });
    expect(answer).toMatchObject({ kind: 'page', format: 'text' });
    expect(contentOf(html)).toContain('heart');
  });

  it('any page, whatever is in it, gives a page', () => {
    const tag = fc.constantFrom(
      'div',
      'p',
      'b',
      'a',
      'table',
      'td',
      'svg',
      'math',
      'script',
      'template',
      'html',
      'body',
      'head',
      'frameset',
    );
    const part = fc.oneof(
      tag.map((name) => `<${name}>`),
      tag.map((name) => `</${name}>`),
      fc.constantFrom(
        '<!--',
        '-->',
        '<![CDATA[',
        ']]>',
        '<!doctype html>',
        '&#0;',
        '&amp;',
        '<a href="',
        '">',
        '\u0000x',
      ),
      fc.string({ maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), fc.boolean(), (parts, whole) => {
        const answer = read(parts.join('').replaceAll('\u0000', ''), { whole });
        expect(answer.kind).toBe('page');
      }),
      { numRuns: 300 },
    );
  });
});

describe('a piece of the text', () => {
  it('pieces, one after the other, are the whole text, and no character is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', '😀', 'é', '\n'), { maxLength: 60 }),
        fc.integer({ min: 2, max: 9 }),
        (letters, maxCharacters) => {
          const text = letters.join('');
          let all = '';
          for (let offset = 0; offset < text.length; offset = all.length) {
            const content = contentOf(text, { contentType: 'text/plain', offset, maxCharacters });
            expect(content.isWellFormed()).toBe(true);
            expect(content.length).toBeGreaterThan(0);
            all += content;
          }
          expect(all).toBe(text);
        },
      ),
    );
  });

  it('beyond the end there is none', () => {
    expect(read('abc', { contentType: 'text/plain', offset: 10 })).toMatchObject({
      content: '',
      totalCharacters: 3,
    });
  });
});
