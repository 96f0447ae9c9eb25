// HTML as text: tags go, what they mean for a reader stays. One pass, whatever is inside.

/** Elements of HTML: `<owner>` in a description is a placeholder, and stays. */
const ELEMENTS: ReadonlySet<string> = new Set(
  (
    'a abbr address article aside b big blockquote body br button caption center cite code col colgroup dd del details ' +
    'dfn div dl dt em embed fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe ' +
    'img input ins kbd label legend li link main mark meta nav noscript ol optgroup option p picture pre q s samp ' +
    'script section select small source span strike strong style sub summary sup svg table tbody td template textarea ' +
    'tfoot th thead time title tr tt u ul var video wbr'
  ).split(' '),
);
const LINES: ReadonlySet<string> = new Set(
  'address article blockquote br caption dd div dl dt figure footer form h1 h2 h3 h4 h5 h6 header hr li ol p pre section table tr ul'.split(
    ' ',
  ),
);
/** Their content is for no reader. */
const DROPPED: ReadonlySet<string> = new Set(['script', 'style', 'head', 'template', 'svg', 'iframe']);
const ENTITIES: { readonly [name: string]: string } = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  copy: '©',
  reg: '®',
  trade: '™',
  bull: '•',
};
const TAG = /<\/?([A-Za-z][A-Za-z0-9]*)(?=[\s/>])[^<>]*>/y;
const MAY_BE_HTML = /<[/!A-Za-z]|&[#A-Za-z]/;

/** The same text where there is no HTML in it. Markdown stays as it is. */
export function htmlText(html: string): string {
  if (!MAY_BE_HTML.test(html)) return html;
  const text = decoded(withoutTags(html));
  return (
    text
      // From the first space of a run alone: from each of them it would take the square of its length.
      .replaceAll(/(?<![ \t])[ \t]+\n/g, '\n')
      .replaceAll(/\n{3,}/g, '\n\n')
      .trim()
  );
}

function withoutTags(html: string): string {
  let text = '';
  // Asking a text that grows for its end would copy all of it each time.
  let last = '';
  const add = (piece: string): void => {
    text += piece;
    last = piece.at(-1) ?? last;
  };
  let at = 0;
  for (;;) {
    const open = html.indexOf('<', at);
    if (open < 0) return text + html.slice(at);
    add(html.slice(at, open));
    if (html.startsWith('<!--', open)) {
      const close = html.indexOf('-->', open + 4);
      if (close < 0) return text;
      at = close + 3;
      continue;
    }
    TAG.lastIndex = open;
    const [tag, name = ''] = TAG.exec(html) ?? /^<!doctype[^<>]*>/i.exec(html.slice(open, open + 300)) ?? [];
    const element = name.toLowerCase();
    if (tag === undefined || (name !== '' && !ELEMENTS.has(element))) {
      add('<');
      at = open + 1;
      continue;
    }
    at = open + tag.length;
    if (LINES.has(element)) add(lineFor(element, tag, last));
    if (!DROPPED.has(element) || tag.startsWith('</') || tag.endsWith('/>')) continue;
    const close = endOf(html, element, at);
    if (close === undefined) return text;
    at = close;
  }
}

/** `before`: the last character so far; none at the beginning. */
function lineFor(element: string, tag: string, before: string): string {
  if (before === '' && element !== 'li') return '';
  const isStart = before === '' || before === '\n';
  if (tag.startsWith('</')) return element === 'p' ? '\n\n' : isStart ? '' : '\n';
  const item = element === 'li' ? '- ' : '';
  return element === 'br' || !isStart ? `\n${item}` : item;
}

/** Behind the closing tag. */
function endOf(html: string, element: string, from: number): number | undefined {
  const close = new RegExp(`</${element}[^<>]*>`, 'gi');
  close.lastIndex = from;
  return close.exec(html) === null ? undefined : close.lastIndex;
}

function decoded(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z]{2,8}));/g, (written, ...found) => {
    const [decimal, hex, name] = found as (string | undefined)[];
    if (name !== undefined) return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] ?? written) : written;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    const isCharacter = code > 0x1f && code <= 0x10_ff_ff && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : written;
  });
}
