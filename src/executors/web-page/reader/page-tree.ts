// PageTree: the part of a DOM that reading a page takes, as linkedom builds it. Nothing in it runs or is fetched.
import { parseHTML } from 'linkedom';

export interface PageElement {
  readonly nodeName: string;
  readonly textContent: string | null;
  readonly innerHTML: string;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  remove(): void;
  querySelectorAll(selector: string): Iterable<PageElement>;
  querySelector(selector: string): PageElement | null;
}

export interface PageDocument extends PageElement {
  readonly documentElement: PageElement | null;
  readonly body: PageElement | null;
}

/** What no reader sees: what runs, what is drawn, what asks for input, and what its author hides. */
const NOT_READ =
  'script,style,noscript,template,iframe,object,embed,svg,canvas,link,dialog,select,textarea,input,button,[hidden],[aria-hidden="true"]';
const HIDDEN_STYLE =
  /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0(?:\.0*)?\s*(?:;|!|$)|font-size\s*:\s*0(?:\.0*)?(?:px|em|rem|%|pt)?\s*(?:;|!|$))/i;

export function treeOf(html: string): PageDocument {
  const { document } = parseHTML(whole(html)) as unknown as { document: PageDocument };
  return document;
}

const ROOT = /<html(?:\s[^<>]*)?>/i;
const HEAD_END = /<\/head\s*>/i;

/** The builder adds no element that is left out, and many pages leave out some: a part of a page is the body of one. */
function whole(html: string): string {
  const rooted = ROOT.test(html) ? html : `<html>${html}</html>`;
  const [begins, ends] = [behind(ROOT, rooted), behind(HEAD_END, rooted)];
  const body = /<body[\s>]/i.exec(rooted)?.index;
  if (body === undefined) return insert(rooted, ends ?? begins ?? 0, '<body>');
  if (/<head[\s>]/i.test(rooted) || begins === undefined || begins > body) return rooted;
  return insert(insert(rooted, body, '</head>'), begins, '<head>');
}

function behind(pattern: RegExp, text: string): number | undefined {
  const found = pattern.exec(text);
  return found === null ? undefined : found.index + found[0].length;
}

function insert(text: string, at: number, what: string): string {
  return text.slice(0, at) + what + text.slice(at);
}

export function dropWhatIsNotRead(document: PageDocument): void {
  for (const element of document.querySelectorAll(NOT_READ)) element.remove();
  for (const element of document.querySelectorAll('[style]'))
    if (HIDDEN_STYLE.test(element.getAttribute('style') ?? '')) element.remove();
}

/** Links become whole URLs of the web; of any other kind (`javascript:`, `data:`) only their text stays. */
export function resolveLinks(document: PageDocument, url: string): void {
  const said = document.querySelector('base[href]')?.getAttribute('href') ?? '';
  const base = webUrl(said, url) ?? url;
  for (const link of document.querySelectorAll('a[href]')) {
    const target = webUrl(link.getAttribute('href') ?? '', base);
    if (target === undefined) link.removeAttribute('href');
    else link.setAttribute('href', target);
  }
}

const MOST_URL = 2_048;

function webUrl(text: string, base: string): string | undefined {
  const url = text.length > MOST_URL ? null : URL.parse(text, base);
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url.href : undefined;
}
